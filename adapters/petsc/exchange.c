/* The exchange of elements between ranks (VecScatter).  The exchanged elements come home in one batch instead of by
 * faults, because faults bring their read-ahead as well.  PETSc does the exchange. */
#include "adapters/petsc/adapter.h"
#include "adapters/borders.h"

#include <petsc/private/sfimpl.h>

static PetscErrorCode (*create_basic)(PetscSF); /* PETSc's own, and the operations of its exchanges */
static PetscErrorCode (*their_begin)(PetscSF, MPI_Datatype, PetscMemType, const void *, PetscMemType, void *, MPI_Op);
static PetscErrorCode (*their_end)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);

/* Fetches the elements of this rank that a remote rank reads or adds to. */
static PetscErrorCode get(PetscSF sf, MPI_Datatype unit, const void *elements, enum semcache_mode mode)
{
    const PetscInt *offset, *numbers;
    const PetscMPIInt *ranks;
    PetscMPIInt bytes, self;
    PetscInt others;

    PetscFunctionBegin;
    if (sf->nroots < SC_ADAPTER_LEAST_PART)
        PetscFunctionReturn(0);
    PetscCallMPI(MPI_Type_size(unit, &bytes));
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sf), &self));
    PetscCall(PetscSFGetLeafRanks(sf, &others, &ranks, &offset, &numbers));
    for (PetscInt i = 0; i < others && bytes > 0; i++)
        if (ranks[i] != self)
            sc_adapter_get(elements, (size_t)bytes, numbers + offset[i], sizeof *numbers, offset[i + 1] - offset[i],
                           mode);
    PetscFunctionReturn(0);
}

static PetscErrorCode begin(PetscSF sf, MPI_Datatype unit, PetscMemType from_type, const void *from,
                            PetscMemType to_type, void *to, MPI_Op op)
{
    PetscFunctionBegin;
    PetscCall(get(sf, unit, from, SEMCACHE_READ));
    PetscCall(their_begin(sf, unit, from_type, from, to_type, to, op));
    PetscFunctionReturn(0);
}

static PetscErrorCode end(PetscSF sf, MPI_Datatype unit, const void *from, void *to, MPI_Op op)
{
    PetscFunctionBegin;
    PetscCall(get(sf, unit, to, SEMCACHE_READWRITE));
    PetscCall(their_end(sf, unit, from, to, op));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_basic(PetscSF sf)
{
    PetscFunctionBegin;
    PetscCall(create_basic(sf));
    their_begin = sf->ops->BcastBegin;
    their_end = sf->ops->ReduceEnd;
    sf->ops->BcastBegin = begin;
    sf->ops->ReduceEnd = end;
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_register_exchange(void)
{
    PetscFunctionBegin;
    PetscCall(PetscSFInitializePackage());
    PetscCall(PetscFunctionListFind(PetscSFList, PETSCSFBASIC, &create_basic));
    if (create_basic)
        PetscCall(PetscSFRegister(PETSCSFBASIC, make_basic));
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
