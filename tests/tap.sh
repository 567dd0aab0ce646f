# Shared by the shell tests; sourced first:  . "$top_srcdir/tests/tap.sh"
# Provides a scratch folder that is removed at the end, a counter of tests, and TAP.
tool=$top_builddir/tools/semcache library=$top_builddir/.libs/libsemcache.so
device=${SEMCACHE_TEST_DEVICE:-emu:h200x8:2}
count=0 failed=0 status=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# Skips the whole test unless the file, an optional part of the build, exists.
need() {
    [ -e "$1" ] || { echo "1..0 # SKIP ${1#"$top_builddir/"} was not built"; exit 0; }
}

# The status of a check (0: passed), title, text to show on failure.
verdict() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        printf '%s\n' "$3" | sed 's/^/# /' | head -40
        failed=1
    fi
}

# The failures found (empty: passed), title.
report() { [ -z "$1" ]; verdict $? "$2" "$1"; }

# Title, and a command that has to succeed. On failure shows status and output of the previous program.
ok() {
    title=$1
    shift
    "$@"
    verdict $? "$title" "$(said)"
}
said() {
    echo "status $status"
    for file in out err; do
        [ ! -e "$scratch/$file" ] || sed "s/^/$file: /" "$scratch/$file" | head -20
    done
}
ended() { [ "$status" -eq "$1" ]; }
has() { grep -q -e "$2" "$scratch/$1"; }      # file, pattern
one_line() { [ "$(wc -l < "$scratch/err")" -eq 1 ]; }

# The folders of the project in the order of Makefile.am, up to $1 where that is given.
folders() {
    sed -n 's|^include \(.*\)/local\.mk$|\1|p' "$top_srcdir/Makefile.am" | sed "${1:+/^$1\$/q}"
}

skip() { count=$((count + 1)); echo "ok $count # SKIP $1"; }

end() {
    echo "1..$count"
    exit $failed
}
# SPDX-License-Identifier: BSD-2-Clause
