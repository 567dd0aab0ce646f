#!/bin/sh
# Accesses that the library does not see (doc/limits.md, "Accesses without a fault", "Processes and signals"). Asserts
# what the page says of each, and that semcache_acquire helps where the page recommends it.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/beyond
need "$tool"
need "$program"

# title, kind, what is printed; $ends: the status of the end
says() {
    timeout 300 "$tool" run -d "$device" -o always "$program" "$2" > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$1" [ "$status $(tr '\n' ' ' < "$scratch/out")" = "${ends:-0} $3" ]
}

says 'another process reads with process_vm_readv' process 'the child finds EFAULT C is right '
says 'after semcache_acquire' process+ 'the child finds the new value C is right '
says 'another process reads from the file of memory' file 'the child finds an old value C is right '
says 'after semcache_acquire' file+ 'the child finds the new value C is right '
says 'memory behind a pointer in the argument of ioctl' ioctl 'ioctl gives EFAULT '
says 'after semcache_acquire' ioctl+ 'ioctl succeeds '
ends=139
says 'a thread that has blocked SIGSEGV by a direct system call is ended' mask ''
ends=
[ "$(id -u)" -ne 0 ] || says 'mlockall works' locked 'mlockall succeeds C is right '

# The system finds no library to preload for a program that is linked statically, or with a BLAS of its own inside.
cat > "$scratch/own.c" <<'EOT'
#include <stdio.h>
void dgemm_(void) { puts("its own"); }
int main(void) { dgemm_(); return 0; }
EOT
if ${CC:-cc} -static -o "$scratch/own" "$scratch/own.c" 2> /dev/null; then
    timeout 60 "$tool" run -d "$device" -o always "$scratch/own" > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok 'a program with a static BLAS runs as before' [ "$status $(cat "$scratch/out")" = '0 its own' ]
fi
end
# SPDX-License-Identifier: BSD-2-Clause
