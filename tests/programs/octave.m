% Octave: dense decompositions; eigs (ARPACK); sparse chol and solve (CHOLMOD, UMFPACK).  Prints nothing that depends on
% rounding.
1;
function near (what, x, y)
  if (norm (x - y, "fro") < 1e-9 * norm (y, "fro")) printf ("%s ok\n", what); else printf ("%s WRONG\n", what); end
end
rand ("twister", 1);
n = 300;
a = rand (n);
b = rand (n, 200);
near ("a' a", a' * a, a.' * a);
s = a * a' + n * eye (n);
near ("solve", s * (s \ b), b);
near ("lu", a * (a \ b), b);
r = chol (s);
near ("chol", r' * r, s);
[u, w, v] = svd (b);
near ("svd", u * w * v', b);
[v, w] = eig (s);
near ("eig", s * v, v * w);
[v, w] = eig (a);
near ("eig, not symmetric", a * v, v * w);
[q, r] = qr (a);
near ("qr", q * r, a);
z = a + i * a';
near ("complex", z * (z \ b), b);
near ("expm", expm (a / n) * expm (-a / n), eye (n));
s(:, 3) += 1;
near ("after a write", s * b, sum (permute (s, [1, 3, 2]) .* permute (b, [3, 2, 1]), 3));
k = 60;
l = spdiags (ones (k, 1) * [-1, 2, -1], -1:1, k, k);
p = kron (l, speye (k)) + kron (speye (k), l);
f = ones (k * k, 1);
near ("sparse solve", p * (p \ f), f);
[r, ~, order] = chol (p, "vector");
near ("sparse chol", r' * r, p(order, order));
near ("sparse lu", (p + triu (p)) * ((p + triu (p)) \ f), f);
d = eigs (p, 6);
w = 2 - 2 * cos ((1:k) * pi / (k + 1));
e = sort ((w + w')(:), "descend");
near ("eigs", sort (d, "descend"), e(1:6));
% SPDX-License-Identifier: BSD-2-Clause
