"""Patches modules of SciPy when the program imports them. Until then the adapter imports nothing."""
import sys

# The module that is patched, and the module of this package with the function patch(module).
PATCHES = {
    "scipy.sparse._sparsetools": "sparsetools",
    "scipy.sparse._compressed": "matrices",
    "scipy.sparse._bsr": "matrices",
    "scipy.sparse._dia": "matrices",
    "scipy.sparse.linalg._dsolve.linsolve": "triangular",
    **{"scipy.sparse.linalg._isolve." + name: "solvers"
       for name in ("iterative", "minres", "tfqmr", "lgmres", "_gcrotmk", "lsqr", "lsmr")},
    **{"scipy.sparse.linalg." + name: "solvers"
       for name in ("_eigen.arpack.arpack", "_eigen.lobpcg.lobpcg", "_expm_multiply")},
}


def patch(module):
    """Patches a module that has just been executed. A failure leaves the module as it is."""
    try:
        from . import library

        if library.is_present():
            getattr(__import__(__name__, fromlist=[PATCHES[module.__name__]]), PATCHES[module.__name__]).patch(module)
    except Exception as error:  # another version of SciPy, or a Python without ctypes
        if sys.flags.verbose:
            sys.stderr.write(f"semcache: {module.__name__} stays as it is: {error}\n")


class Loader:
    """The loader of a module, followed by the patch. The module keeps its own loader."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        spec.loader = self.loader
        try:
            return self.loader.create_module(spec)
        finally:
            spec.loader = self

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        patch(module)


class Finder:
    """Finds the modules of PATCHES by the other finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in PATCHES:
            return None
        for finder in sys.meta_path:
            find = None if finder is Finder else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader)
                return spec
        return None


sys.meta_path.insert(0, Finder)
# SPDX-License-Identifier: BSD-2-Clause
