/* The exchange of elements between ranks (VecScatter).  The exchanged elements come home run by run, or gathered
 * by the devices (border.c).  Faults would bring their read-ahead as well.  PETSc does the exchange. */
#include "adapters/petsc/adapter.h"

#include <petsc/private/sfimpl.h>

static PetscErrorCode (*create_basic)(PetscSF); /* PETSc's own, and the operations of its exchanges */
static PetscErrorCode (*their_reset)(PetscSF);
static PetscErrorCode (*their_begin)(PetscSF, MPI_Datatype, PetscMemType, const void *, PetscMemType, void *, MPI_Op);
static PetscErrorCode (*their_bcast_end)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);
static PetscErrorCode (*their_reduce_end)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op);

static PetscErrorCode begin(PetscSF sf, MPI_Datatype unit, PetscMemType from_type, const void *from,
                            PetscMemType to_type, void *to, MPI_Op op)
{
    PetscFunctionBegin;
    PetscCall(sc_petsc_border_begin(sf, unit, &from, to, sc_petsc_product_ahead));
    PetscCall(their_begin(sf, unit, from_type, from, to_type, to, op));
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
    PetscCall(sc_petsc_border_fetch(sf, unit, to));
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
