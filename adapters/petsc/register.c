/* The entry of the adapter.  PETSc opens the library by its option -dll_append, which `semcache run` sets. */
#include "adapters/petsc/adapter.h"
#include "adapters/weak.h"

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_semcache_petsc(void);

/* Without libsemcache in the process the adapter does nothing. */
static bool is_present(void)
{
    return semcache_try_axpby && semcache_try_divide && semcache_try_dot && semcache_try_dots &&
           semcache_try_multiply && semcache_try_sparse;
}

/* The adapter knows the inner structures of one version of PETSc. */
static PetscErrorCode is_version(bool *same)
{
    PetscInt major, minor, subminor, release;

    PetscFunctionBegin;
    PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
    *same = major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR;
    PetscFunctionReturn(0);
}

PetscErrorCode PetscDLLibraryRegister_semcache_petsc(void)
{
    bool same = false;

    PetscFunctionBegin;
    PetscCall(is_version(&same));
    if (same && is_present()) {
        PetscCall(sc_petsc_register_vectors());
        PetscCall(sc_petsc_register_matrices());
        PetscCall(sc_petsc_register_preconditioners());
        PetscCall(sc_petsc_register_exchange());
        PetscCall(sc_petsc_register_eigen());
    }
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
