#!/bin/sh
# tests/blas_library_all on the devices under test: every supported call is offloaded, with the invariants checked.
exec "${top_builddir:-.}/tools/semcache" run --device "${SEMCACHE_TEST_DEVICE:-emu:h200x8:2}" --offload always --check \
    "${top_builddir:-.}/tests/blas_library_all"
# SPDX-License-Identifier: BSD-2-Clause
