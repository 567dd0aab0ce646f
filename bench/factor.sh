#!/bin/sh
# Factorizations, eigenvalues and solutions by the reference LAPACK: by the host BLAS alone, by semcache and, if
# installed, by NVBLAS.  Prints times, ratios to the host's time, and the bytes moved by semcache and NVBLAS.  From the
# build tree, after make:
#   FACTOR_LAPACK=FOLDER sh SRC/bench/factor.sh [routine...]
# FOLDER holds liblapack.so.3 of the reference LAPACK (Debian's liblapack3 has it in /usr/lib/x86_64-linux-gnu/lapack;
# the file runs on other machines, with libgfortran.so.5 and libquadmath.so.0).
# OpenBLAS's LAPACK is unsuitable, because the LU and Cholesky of OpenBLAS call no BLAS.
# FACTOR_BLAS: the host's OpenBLAS, if not found by name.  BENCH_DEVICE: cuda:0.  FACTOR_SIZES: sizes in place of the
# routine's sizes.  FACTOR_TURNS=N: the host alone and semcache N times in turn, the best times; single runs differ by a
# tenth on hot or shared processors.  FACTOR_NVBLAS=no: without NVBLAS.  FACTOR_SECONDS (600): limit of NVBLAS's run,
# and of one more round in which bench/count_copies counts the copies, if built.  Exit status 1: a result was wrong.
set -eu

device=${BENCH_DEVICE:-cuda:0}
blas=${FACTOR_BLAS:-libopenblas.so.0}
routines=${*:-potrf getrf geqrf gesv syev syevd}
small='50 100 200 400 700' # in one process, the others each in its own
counter=$PWD/bench/.libs/count_copies.so
scratch=$(mktemp -d "${TMPDIR:-/tmp}/semcache-factor.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

[ -x bench/factor ] || { echo "factor.sh: run it in the build tree, after make" >&2; exit 2; }
LD_LIBRARY_PATH=${FACTOR_LAPACK:-/usr/lib/x86_64-linux-gnu/lapack}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

cat >"$scratch/nvblas.conf" <<END
NVBLAS_LOGFILE $scratch/nvblas.log
NVBLAS_CPU_BLAS_LIB $blas
NVBLAS_GPU_LIST ALL
END
nvblas=
[ "${FACTOR_NVBLAS:-yes}" = no ] || for library in libnvblas.so.13 libnvblas.so.12 libnvblas.so; do
    if [ -z "$nvblas" ] && ! LD_PRELOAD=$library true 2>&1 | grep -q .; then nvblas=$library; fi
done

large_of() { # routine: sizes that take seconds, not minutes
    case $1 in
    potrf | getrf) echo 1000 2000 5000 10000 20000 ;;
    gesv | geqrf) echo 1000 2000 5000 10000 ;;
    syevd) echo 1000 2000 4000 ;;
    *) echo 1000 ;;
    esac
}
best() { # of the turns of host or semcache: a line for each size, the fastest, or one that is wrong
    awk '{
        split($2, n, "=")
        match($0, /best_seconds=[^ ]*/)
        s = / ok$/ ? substr($0, RSTART + 13, RLENGTH - 13) + 0 : -1
        if (!(n[2] in least)) order[++count] = n[2]
        if (!(n[2] in least) || s < least[n[2]]) { least[n[2]] = s; line[n[2]] = $0 }
    }
    END { for (i = 1; i <= count; i++) print line[order[i]] }' "$scratch/$1.all" >"$scratch/$1"
}
measure() { # sizes: lines of bench/factor by all three
    set -- bench/factor -r 2 -s 0.2 "$routine" "$@"
    : >"$scratch/host.all" >"$scratch/semcache.all"
    for _ in $(seq "${FACTOR_TURNS:-1}"); do
        "$@" >>"$scratch/host.all" || true
        tools/semcache run --device "$device" --stats "$scratch/stats" "$@" >>"$scratch/semcache.all" || true
    done
    best host
    best semcache
    : >"$scratch/nvblas" >"$scratch/copied"
    [ -n "$nvblas" ] || return 0
    by_nvblas "$@" >"$scratch/nvblas" || true
    [ -e "$counter" ] && grep -q ' ok$' "$scratch/nvblas" || return 0
    shift 5
    by_nvblas CUDA_INJECTION64_PATH="$counter" COUNT_COPIES="$scratch/copied" bench/factor "$@" >/dev/null || true
}
by_nvblas() { # [variable=value...] command
    timeout "${FACTOR_SECONDS:-600}" env NVBLAS_CONFIG_FILE="$scratch/nvblas.conf" LD_PRELOAD="$nvblas" "$@" 2>/dev/null
}
# Milliseconds are the best of at least two rounds; first: the first round, which pins memory.  Moved by semcache: in
# matrices a round (up, down) and summed in GiB, and faults a round; of the small sizes summed in MiB.  Copied by
# NVBLAS: in matrices, of the small sizes in MiB, in one round.  (The host alone moves no data.)
table() { # together: 1 or 0
    tr -d '\n' <"$scratch/stats" >"$scratch/line"
    awk -v together="$1" -v folder="$scratch" '
        function of(line, name) {
            return match(line, name "=[^ ]*") ? substr(line, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : 0
        }
        function moved(name) {
            if (!match(stats, "\"" name "\": *[0-9]+")) return 0
            return substr(stats, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0
        }
        function copied(name) { return of(copies, name) }
        function good(line) { return line ~ / ok$/ }
        function ms(line, name) {
            return line == "" ? "-" : good(line) ? sprintf("%.3f", 1000 * of(line, name "_seconds")) : "WRONG"
        }
        function ratio(line) {
            return good(line) && good(host) ? sprintf("%.2f", of(line, "best_seconds") / of(host, "best_seconds")) : "-"
        }
        BEGIN {
            getline stats < (folder "/line")
            getline copies < (folder "/copied")
        }
        {
            host = $0
            ours = theirs = ""
            getline ours < (folder "/semcache")
            getline theirs < (folder "/nvblas")
            printf "%-7s %6s %11s %11s %11s %6s %11s %6s", $1, of(host, "n"), ms(host, "best"), ms(ours, "best"),
                ms(ours, "first"), ratio(ours), ms(theirs, "best"), ratio(theirs)
            rounds = of(ours, "rounds")
            unit = 8 * of(host, "n") ^ 2 * rounds
            if (!together && unit)
                printf " %7.2f %7.2f %8.2f %7.0f", moved("h2d") / unit, moved("d2h") / unit,
                    (moved("h2d") + moved("d2h")) / rounds / 2 ^ 30, (moved("read") + moved("write")) / rounds
            if (!together && unit && copies)
                printf "   %7.2f %7.2f", copied("up") * rounds / unit, copied("down") * rounds / unit
            print ""
        }
        END {
            if (together)
                printf "%-7s these: %.1f MiB up, %.1f MiB down, %d faults\n", $1, moved("h2d") / 2 ^ 20,
                    moved("d2h") / 2 ^ 20, moved("read") + moved("write")
            if (together && copies)
                printf "%-7s these by NVBLAS: %.1f MiB up, %.1f MiB down\n", $1, copied("up") / 2 ^ 20,
                    copied("down") / 2 ^ 20
        }' "$scratch/host"
    if grep -q WRONG "$scratch/host" "$scratch/semcache"; then wrong=1; fi
}

wrong=0
echo "routine      n     host ms semcache ms    first ms  ratio   nvblas ms  ratio      up    down moved GiB  faults" \
    "nvblas up    down"
for routine in $routines; do
    if [ -n "${FACTOR_SIZES:-}" ]; then
        large=$FACTOR_SIZES
    else
        large=$(large_of "$routine")
        # shellcheck disable=SC2086
        measure $small
        table 1
    fi
    for n in $large; do
        measure "$n"
        table 0
    done
done
exit $wrong
# SPDX-License-Identifier: BSD-2-Clause
