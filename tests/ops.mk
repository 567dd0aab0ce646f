# An operation that the library does not have, added by rows of its tables; the program is compiled by the script.
dist_check_SCRIPTS += tests/ops_planted.t
TESTS += tests/ops_planted.t
EXTRA_DIST += tests/ops_planted.c
# SPDX-License-Identifier: BSD-2-Clause
