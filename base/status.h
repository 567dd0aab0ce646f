/* Status codes shared by all folders.  The first function that knows the cause of an error logs it; callers pass the
 * status on in silence. */
#ifndef SC_BASE_STATUS_H
#define SC_BASE_STATUS_H

enum sc_status {
    SC_OK = 0,
    SC_ERR_MEMORY,      /* host memory */
    SC_ERR_DEVICE_MEMORY, /* evict and try again */
    SC_ERR_DEVICE,      /* a device call failed: run this part of the work elsewhere */
    SC_ERR_UNSUPPORTED, /* valid, but not implemented by this device */
    SC_ERR_INVALID,     /* error of the caller */
    SC_ERR_IO,
    SC_ERR_CONFLICT     /* operands of a call that cannot be tracked together: run the call on the host */
};

const char *sc_status_name(enum sc_status status);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
