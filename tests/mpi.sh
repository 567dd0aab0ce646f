# Shared by the tests with MPI; sourced after tests/tap.sh.
need "$library"
need "$tool"
# As root in CI, and with more ranks than processors.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1 OPENBLAS_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
    OMPI_MCA_mpi_yield_when_idle OPENBLAS_NUM_THREADS

# The command of an MPI family: mpicc.mpich where several families are installed, otherwise mpicc.
command_of() { # family, command
    if command -v "$2.$1" >/dev/null 2>&1; then
        echo "$2.$1"
    elif { "$2" --version; "$2" -v; "$2" -show; } 2>/dev/null | grep -qi "$1"; then
        echo "$2"
    fi
}

# Ranks, program, arguments: runs each rank under semcache, and prints failures. A good program's last line reports
# nothing wrong, and stderr stays empty.
try() {
    ranks=$1
    shift
    timeout -k 5 100 "$mpirun" -n "$ranks" "$tool" run --device "$device" --offload always --check \
        --stats "$scratch/stats.%p" "$@" > "$scratch/out" 2> "$scratch/err" || echo "status $?"
    complaints
}
# Ranks, program, arguments: runs without semcache.
alone() {
    ranks=$1
    shift
    timeout -k 5 100 "$mpirun" -n "$ranks" "$@" > "$scratch/out" 2> "$scratch/err"
}
complaints() {
    grep -v '^\[mpiexec@.*Sending Ctrl-C' "$scratch/err"
    tail -1 "$scratch/out" | grep -q ', 0 wrong$' || cat "$scratch/out"
}

# Fails if fewer than this number of calls, summed over the ranks, ran on devices.
on_devices() {
    calls=$(sed -n 's/.*"offloaded": \([0-9]*\),.*/\1/p' "$scratch"/stats.* | awk '{ n += $1 } END { print n + 0 }')
    [ "$calls" -ge "$1" ] || echo "$calls calls on devices"
    rm -f "$scratch"/stats.*
}
# SPDX-License-Identifier: BSD-2-Clause
