"""Installs the adapter for SciPy (README.md), and gives way to the sitecustomize of the system or the user.

Python runs this file at start, because semcache run puts its folder into PYTHONPATH. Any Python must be able to compile
the file, also Python 2.
"""
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
if sys.version_info >= (3, 8):
    try:
        import _semcache  # noqa: F401
    except Exception:  # a Python unlike those that are known: no adapter
        sys.modules.pop("_semcache", None)
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _folder]

# The next sitecustomize in the path takes the place of this module. Without a next module the import raises
# ImportError, which Python expects and ignores.
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402,F401
# SPDX-License-Identifier: BSD-2-Clause
