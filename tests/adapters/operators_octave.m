% Each operator that the adapter for Octave replaces, also with operands that are not the adapter's.  Prints results.
1;
function show (what, x)
  printf ("%s: %s %s %.9e %.9e\n", what, class (x), mat2str (size (x)), sum (x(:)), x(end));
end
n = 5000;
x = (1:n)' / 8;
y = mod ((1:n)', 11) - 5;
show ("plus", x + y);
show ("minus", x - y);
show ("same", x - x);
show ("rows", x' + y');
show ("broadcast", x + [1, 2]);
show ("scale", 3 * x);
show ("zero", 0 * x);
show ("right", x * 0.5);
show ("divide", x / 4);
show ("by zero", 1 ./ (y / 0));
z = x;
z += y;
show ("add to a copy", z);
show ("and the original", x);
z += y;
show ("add to own", z);
z -= x;
show ("subtract", z);
z *= 2;
show ("multiply", z);
z /= 8;
show ("divide by", z);
z += z;
show ("twice", z);
z += 1;
show ("a number", z);
show ("single", single (x) + single (y));
show ("integers", int32 (x) + int32 (y));
show ("complex", real ((x + i * y) + (y + i * x)));
show ("norm", [norm(x), norm(x, 2), norm(x, 1), norm(x, Inf), norm(x'), norm(x, "fro")]);
show ("norm of large", norm (x * 1e180) / 1e180);
show ("norm of small", norm (x * 1e-180) * 1e180);
show ("norm of zeros", norm (0 * y));
show ("norm of a matrix", norm (reshape (x, [], 10)));
m = reshape (x, [], 5);
show ("matrices", m + reshape (y, [], 5));
s = spdiags (ones (n, 1) * [-1, 2, 3], -1:1, n, n);
show ("product", s * x);
show ("transposed", s' * x);
show ("several", s * [x, y]);
show ("not square", s(1:2000, :) * x);
show ("and transposed", s(1:2000, :)' * x(1:2000));
show ("empty", s * zeros (n, 0) * zeros (0, 1));
x(7) = 100;
show ("after a write", s * x);
s(3, 3) = 50;
show ("and of the matrix", s * x);
try
  s * x(1:10)
catch e
  disp (e.message);
end
try
  x + y(1:10)
catch e
  disp (e.message);
end
try
  norm ({})
catch e
  disp (e.message);
end
% SPDX-License-Identifier: BSD-2-Clause
