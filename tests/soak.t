#!/bin/sh
# Runs the soak (make soak) for three seeds; any wrong number or error fails.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/tests/soak"
said=$(sh "$top_srcdir/tests/soak.sh" 0 1 200 2>&1)
verdict $? 'three seeds go right' "$said"
end
# SPDX-License-Identifier: BSD-2-Clause
