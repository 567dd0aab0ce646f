/* The exchange of elements between ranks (VecScatter).  The exchanged elements come home in one batch, or gathered by
 * the devices (border.c).  Faults would bring their read-ahead as well.  PETSc does the exchange. */
#include "adapters/petsc/adapter.h"
#include "adapters/borders.h"

#include <petsc/private/sfimpl.h>

static PetscErrorCode (*create_basic)(PetscSF); /* PETSc's own, and the operations of its exchanges */
static PetscErrorCode (*their_reset)(PetscSF);
static PetscErrorCode (*their_begin)(PetscSF, MPI_Datatype, PetscMemType, const void *, PetscMemType, void *, MPI_Op);
static PetscErrorCode (*their_bcast_end)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);
static PetscErrorCode (*their_reduce_end)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);

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
    const void *source = from;

    PetscFunctionBegin;
    PetscCall(sc_petsc_border_begin(sf, unit, &source, to));
    if (source == from)
        PetscCall(get(sf, unit, from, SEMCACHE_READ));
    PetscCall(their_begin(sf, unit, from_type, source, to_type, to, op));
    PetscFunctionReturn(0);
}

static PetscErrorCode bcast_end(PetscSF sf, MPI_Datatype unit, const void *from, void *to, MPI_Op op)
{
    PetscFunctionBegin;
    PetscCall(sc_petsc_border_end(sf, &from, to));
    PetscCall(their_bcast_end(sf, unit, from, to, op));
    PetscFunctionReturn(0);
}

static PetscErrorCode reset(PetscSF sf)
{
    PetscFunctionBegin;
    PetscCall(sc_petsc_border_forget(sf));
    PetscCall(their_reset(sf));
    PetscFunctionReturn(0);
}

static PetscErrorCode reduce_end(PetscSF sf, MPI_Datatype unit, const void *from, void *to, MPI_Op op)
{
    PetscFunctionBegin;
    PetscCall(get(sf, unit, to, SEMCACHE_READWRITE));
    PetscCall(their_reduce_end(sf, unit, from, to, op));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_basic(PetscSF sf)
{
    PetscFunctionBegin;
    PetscCall(create_basic(sf));
    their_begin = sf->ops->BcastBegin;
    their_bcast_end = sf->ops->BcastEnd;
    their_reduce_end = sf->ops->ReduceEnd;
    their_reset = sf->ops->Reset;
    sf->ops->BcastBegin = begin;
    sf->ops->BcastEnd = bcast_end;
    sf->ops->ReduceEnd = reduce_end;
    sf->ops->Reset = reset;
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
