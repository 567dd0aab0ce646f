% Octave's linear algebra, one function of it: octave-cli -q linear.m SCALE mtimes|mldivide|chol|svd|eig|inv|expm
1;
function print (name, values, tolerance)
    values = values(:)';
    values = values(1:max (1, floor (numel (values) / 64)):end);
    printf ("result %s %g%s\n", name, tolerance, sprintf (" %.17g", values));
end
arguments = argv ();
scale = find (strcmp (arguments{end - 1}, {"full", "quick", "check"}));
what = arguments{end};
rand ("twister", 1);
orders = struct ("mtimes", [6000 3000 800], "mldivide", [6000 2500 900], "chol", [6000 2500 900], ...
    "svd", [2000 800 400], "eig", [2500 1000 500], "inv", [4000 2000 800], "expm", [2500 1000 500]);
n = orders.(what)(scale);
a = rand (n) - 0.5;
switch what
    case {"mtimes", "mldivide", "svd", "inv"}, a += n * eye (n);
    case "chol", a += a' + 2 * n * eye (n);
    case "eig", a += a' + diag (linspace (0, n, n));
    case "expm", a *= 4 / sqrt (n);
end
tic;
switch what
    case "mtimes", b = sum (a * a');
    case "mldivide", b = a \ (1:n)';
    case "chol", b = sum (chol (a));
    case "svd", [u, s, v] = svd (a); b = diag (s);
    case "eig", [u, s] = eig (a); b = sort (diag (s));
    case "inv", b = sum (inv (a));
    case "expm", b = sum (expm (a));
end
printf ("seconds %.6f\n", toc);
print (what, b, 1e-8);
% SPDX-License-Identifier: BSD-2-Clause
