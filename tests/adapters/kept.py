"""Says whether the adapter has parsed the solvers of SciPy, and whether they have their second bodies."""
import ast
import sys

parse, parsed = ast.parse, []


def noted(*arguments, **named):
    if sys._getframe(1).f_code.co_filename.endswith("_semcache/solvers.py"):
        parsed.append(arguments)
    return parse(*arguments, **named)


ast.parse = noted
import scipy.sparse.linalg  # noqa: E402

second = "__semcache__" in scipy.sparse.linalg.minres.__code__.co_names
print("parsed" if parsed else "kept", "with second bodies" if second else "without second bodies")
# SPDX-License-Identifier: BSD-2-Clause
