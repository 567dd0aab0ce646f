#!/bin/sh
# Accesses that the library does not see (doc/limits.md, "Accesses without a fault", "Processes and signals"). Asserts
# what the page says of each, and that semcache_acquire helps where the page recommends it.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/beyond
need "$tool"
need "$program"

# title, kind, what is printed; $ends: the status of the end
says() {
    timeout 300 "$tool" run -d "$device" -o always "$program" "$2" "$scratch/path" > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$1" [ "$status $(tr '\n' ' ' < "$scratch/out")" = "${ends:-0} $3" ]
}

says 'another process reads with process_vm_readv' process 'the child finds EFAULT C is right '
says 'after semcache_acquire' process+ 'the child finds the new value C is right '
says 'another process reads from the file of memory' file 'the child finds an old value C is right '
says 'after semcache_acquire' file+ 'the child finds the new value C is right '
says 'memory behind a pointer in the argument of ioctl' ioctl 'ioctl gives EFAULT '
says 'after semcache_acquire' ioctl+ 'ioctl succeeds '
timeout 60 "$program" ring "$scratch/path" > "$scratch/out" 2>&1
if [ $? -eq 0 ]; then
    says 'a request of io_uring' ring 'io_uring gives EFAULT C is right '
    says 'after semcache_acquire' ring+ 'io_uring writes the new value C is right '
    says 'a buffer registered with io_uring' fixed 'io_uring writes an old value C is right '
    says 'after semcache_acquire' fixed+ 'io_uring writes the new value C is right '
else
    skip 'no permission for io_uring'
fi
rm -f "$scratch/path"
ends=139
says 'a thread that has blocked SIGSEGV by a direct system call is ended' mask ''
says 'a thread that such a thread has made is ended' inherit ''
says 'so is a thread whose alternate stack is too small for the frame of a signal' small ''
ends=
says 'a thread with the mask of its maker goes on after a call' inherit+ 'C is right C is right '
says 'a larger alternate stack' small+ 'C is right '
ends=139
if timeout 60 "$program" filter > "$scratch/out" 2>&1; then
    says "a filter of system calls refuses mprotect: the program's touch of a result ends it" filter ''
    ends=
    says 'a filter that permits the calls of the library' filter+ 'C is right '
    case $device in
        cuda*) skip 'a filter that refuses the copies of emulated devices' ;;
        *)
            says 'a filter refuses the copies of emulated devices: results are wrong' copies 'C is wrong '
            ok 'after error lines' [ "$(grep -c 'emulated copy: cannot write\|is lost' "$scratch/err")" = 2 ]
            ;;
    esac
else
    skip 'no permission to filter system calls'
fi
ends=
[ "$(id -u)" -ne 0 ] || says 'mlockall works' locked 'mlockall succeeds C is right '

if timeout 60 "$program" trace | grep -q new; then
    says 'a debugger (ptrace)' trace 'the child finds an old value C is right '
    says 'after semcache_acquire' trace+ 'the child finds the new value C is right '
else
    skip 'no permission to ptrace'
fi
says 'the own file of memory by a link' link 'the program finds an old value C is right '
rm -f "$scratch/path"
says 'after semcache_acquire' link+ 'the program finds the new value C is right '
rm -f "$scratch/path"
says 'contexts whose structures are on a device' context 'getcontext succeeds swapcontext succeeds C is right '
ends=139
says 'a thread of libc with all signals blocked reads a name on a device' address ''
ends=
says 'after semcache_acquire' address+ 'the address is found '
case $device in
    cuda*)
        says 'a copy by the CUDA driver' cuda 'the copy has old values C is right '
        says 'after semcache_acquire' cuda+ 'the copy has the new values C is right '
        ;;
    *) skip 'a copy by the CUDA driver needs a GPU' ;;
esac
says 'printf of a long string, while a thread makes the string again: no wrong bytes' string \
    'quiet: printed busy: printed or failed '
ends=139
says 'a coroutine on a stack of its own that has not called the BLAS is ended' coroutine ''
ends=
says 'a coroutine that has called the BLAS goes on' coroutine+ 'C is right '
if [ "$(id -u)" -eq 0 ]; then
    rm -f "$scratch/path" && mkdir "$scratch/path"
    says 'chroot before the first call, in a program with a BLAS' chroot 'C is right '
    ok 'says nothing' test ! -s "$scratch/err"
    SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=always timeout 300 "$program"_linked chroot "$scratch/path" \
        > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok 'in a program without another BLAS: plain loops' [ "$status $(cat "$scratch/out")" = '0 C is right' ]
    ok 'of which two lines tell' [ "$(grep -c 'no host BLAS\|plain loops' "$scratch/err")" = 2 ]
fi

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
