#include "base/inside.h"

__thread int sc_inside_depth __attribute__((tls_model("initial-exec")));
/* SPDX-License-Identifier: BSD-2-Clause */
