#!/bin/sh
# The command finds the library, and the library finds its files, beside itself: built, installed, moved, copied,
# through a link, and preloaded without the command.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/replayed
need "$tool"
need "$program"
need "$library"
unset SEMCACHE_MACHINE_PATH SEMCACHE_MODULE_PATH LD_PRELOAD
# No file may be found through the current folder.
mkdir "$scratch/nowhere" && cd "$scratch/nowhere" || exit 99

# Title, command, library: tests them with the command, and preloaded without the command.
works() {
    "$2" run -d emu:k20x2:1 -o always -s - -t "$scratch/trace" "$program" > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$1: a program runs on the machine of a file" has err '"devices": \["NVIDIA Tesla K20'
    ok "$1: and says nothing else" test "$(head -c 1 "$scratch/err")" = '{'
    "$2" trace replay -d emu:k20x2:1 "$scratch/trace" > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$1: the program that replays is found" has out '^calls on devices  *[1-9]'
    "$2" info -d none > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$1: info names this library" has out "^library: $(realpath "$(dirname "$3")")/"
    ok "$1: which is there" sh -c "! grep -q 'not there' '$scratch/out'"
    env LD_PRELOAD="$3" SEMCACHE_DEVICE=emu:k20x2:1 SEMCACHE_OFFLOAD=always SEMCACHE_STATS=- "$program" \
        > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$1: preloaded without the command" has err '"devices": \["NVIDIA Tesla K20'
}

copy_build() {
    mkdir -p "$1/.libs" "$1/tools"
    cp -a "$top_builddir"/.libs/libsemcache.so* "$1/.libs/"
    cp "$top_builddir"/tools/semcache "$top_builddir"/tools/semcache-replay "$1/tools/"
    cp -R "$top_builddir/machines" "$1/"
}

works 'built' "$tool" "$library"
copy_build "$scratch/carried"
works 'a build tree that was carried away' "$scratch/carried/tools/semcache" "$scratch/carried/.libs/libsemcache.so.0"

if make -s -C "$top_builddir" install DESTDIR="$scratch/staged" > "$scratch/install" 2>&1; then
    prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
    libdir=$(sed -n 's/^libdir = //p' "$top_builddir/Makefile" | sed 's/.*}//')
    works 'installed below DESTDIR' "$scratch/staged$prefix/bin/semcache" \
        "$scratch/staged$prefix$libdir/libsemcache.so.0"
    mv "$scratch/staged$prefix" "$scratch/moved"
    works 'a prefix that was moved' "$scratch/moved/bin/semcache" "$scratch/moved$libdir/libsemcache.so.0"
    ln -s "$scratch/moved/bin/semcache" "$scratch/semcache"
    ln -s "$scratch/moved$libdir/libsemcache.so.0" "$scratch/libblas.so.3"
    works 'through links' "$scratch/semcache" "$scratch/libblas.so.3"
else
    cp "$scratch/install" "$scratch/err"
    ok 'make install' false
fi
end
# SPDX-License-Identifier: BSD-2-Clause
