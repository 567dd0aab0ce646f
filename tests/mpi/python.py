# mpi4py: Python loads MPI through a module, invisible to other libraries.
import numpy as np
from mpi4py import MPI
from scipy.linalg import blas

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
n = 50000
checks = wrong = 0


def made(first):
    """first, first + 1... computed by a device."""
    return blas.dscal(2.0, (first + np.arange(n)) / 2)


def expect(what, a, first):
    global checks, wrong
    checks += 1
    if not (a == first + np.arange(n)).all():
        wrong += 1
        print(what, 'is wrong on rank', rank, flush=True)


out, got = made(1000.0 * rank), made(7.0)
request = world.Isend(out, dest=(rank + 1) % ranks)
world.Recv(got, source=(rank - 1) % ranks)
request.Wait()
expect('Recv', got, 1000.0 * ((rank - 1) % ranks))
got = made(7.0)
world.Allreduce(out, got, op=MPI.MAX)
expect('Allreduce', got, 1000.0 * (ranks - 1))
out = made(1000.0 * rank)
world.Bcast(out, root=1)
expect('Bcast', out, 1000.0)
wrong = world.reduce(wrong, root=0)
if rank == 0:
    print(f'{checks} checks, {wrong} wrong')
# SPDX-License-Identifier: BSD-2-Clause
