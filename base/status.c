#include "base/status.h"

const char *sc_status_name(enum sc_status status)
{
    switch (status) {
    case SC_OK: return "ok";
    case SC_ERR_MEMORY: return "out of host memory";
    case SC_ERR_DEVICE_MEMORY: return "out of device memory";
    case SC_ERR_DEVICE: return "device error";
    case SC_ERR_UNSUPPORTED: return "not supported";
    case SC_ERR_INVALID: return "invalid argument";
    case SC_ERR_IO: return "input/output error";
    case SC_ERR_CONFLICT: return "operands overlap on different lattices";
    }
    return "unknown status";
}
/* SPDX-License-Identifier: BSD-2-Clause */
