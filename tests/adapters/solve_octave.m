% A solver of Octave on a Laplacian of a square grid.  Arguments: solver, side, iterations.
args = argv ();
side = str2double (args{2});
line = spdiags (ones (side, 1) * [-1, 2.2, -1], -1:1, side, side);
a = kron (line, speye (side)) + kron (speye (side), line);
b = 1 + mod ((0:side^2 - 1)', 7);
restart = repmat ({[]}, 1, strcmp (args{1}, "gmres"));
[x, flag, residual, iteration] = feval (args{1}, a, b, restart{:}, 1e-14, str2double (args{3}));
printf ("%d %d %.5e %.9e\n", flag, iteration(end), residual, norm (x));
% SPDX-License-Identifier: BSD-2-Clause
