#!/bin/sh
# Every test in tests/ is run: a program by check_PROGRAMS, a script by TESTS.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir/tests" || exit 99
for test in *.t; do
    grep -rq --include='*.mk' "tests/$test\>" ..
    verdict $? "$test is listed"
done
for source in *.c; do
    grep -rq --include='*.mk' "tests/$source\>" ..
    verdict $? "$source is listed"
done
end
# SPDX-License-Identifier: BSD-2-Clause
