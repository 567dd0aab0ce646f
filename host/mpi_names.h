/* For the preprocessor alone: prints the names of mpi_calls.h. */
#define EVENT(name, ...) NAME(MPI_, name) NAME(PMPI_, name)
#define BLOCKING EVENT
#define STARTING EVENT
#define PREPARING EVENT
#define PREPARING_I EVENT
#define SCOPED EVENT

#define NAME(prefix, name) prefix##name
#include "host/mpi_calls.h"

#undef NAME
#define NAME(prefix, name) prefix##name##_c
#define LARGE
#include "host/mpi_calls.h"
/* SPDX-License-Identifier: BSD-2-Clause */
