#!/bin/sh
# Every header compiles alone and twice; the public headers also as C99 and as C++.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99
variable() { sed -n "s/^$1 = //p" "$top_builddir/Makefile"; }
CC=$(variable CC)
cuda=$(variable CUDA_CPPFLAGS)

compile() { # compiler with options, header
    printf '#include "%s"\n#include "%s"\nextern int some_declaration;\n' "$2" "$2" > "$scratch/alone.c"
    $1 -fsyntax-only -Wall -Wextra -Werror -I. -Iinclude -I"$top_builddir" "$scratch/alone.c" > "$scratch/said" 2>&1
}

tried() { verdict "$1" "$2" "$(cat "$scratch/said")"; } # status, title

for header in $(find $(folders tools) -name '*.h' | sort); do
    case $header in
    host/mpi_calls.h | host/mpi_names.h) continue ;; # lists, not headers
    device/cuda/* | cuda-um/*)
        [ -n "$cuda" ] || continue
        compile "$CC -std=gnu11 $cuda" "$header" ;;
    *) compile "$CC -std=gnu11" "$header" ;;
    esac
    tried $? "$header"
done

for header in semcache.h tasks.h directives.h blas_sparse.h; do
    compile "$CC -std=c99 -pedantic" semcache/$header
    tried $? "$header as C99"
    if command -v c++ > /dev/null; then
        compile 'c++ -x c++ -std=c++98 -pedantic -Wno-long-long' semcache/$header
        tried $? "$header as C++"
    fi
done

end
# SPDX-License-Identifier: BSD-2-Clause
