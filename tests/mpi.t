#!/bin/sh
# MPI programs whose arrays are on devices, with each MPI that is here and over each way between two processes (with
# SEMCACHE_TEST_LONG=1).
. "$top_srcdir/tests/tap.sh"
need "$library"
need "$tool"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1 OPENBLAS_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
    OMPI_MCA_mpi_yield_when_idle OPENBLAS_NUM_THREADS

# A family's name for a command: mpicc.mpich, where both are installed, or mpicc.
command_of() { # family, command
    if command -v "$2.$1" >/dev/null 2>&1; then
        echo "$2.$1"
    elif "$2" --version 2>/dev/null | grep -qi "$1" || "$2" -v 2>&1 | grep -qi "$1"; then
        echo "$2"
    fi
}

try() { # ranks, program: what is wrong
    timeout -k 5 60 "$mpirun" -n "$1" "$tool" run --device "$device" --offload always --check \
        --stats "$scratch/stats.%p" "$scratch/$2" "$scratch/file" > "$scratch/out" 2> "$scratch/err" || echo "status $?"
    grep -v '^\[mpiexec@.*Sending Ctrl-C' "$scratch/err"
    grep -q ', 0 wrong$' "$scratch/out" || cat "$scratch/out"
}
# MPICH 4.0.2 over UCX 1.13's TCP hangs now and then, in one of 15 runs of the program alone.
try_again() {
    said=$(try "$@")
    [ "$family $said" != 'mpich status 124' ] || said=$(try "$@")
    [ -z "$said" ] || echo "$said"
}
on_devices() { # at least so many calls
    calls=$(sed -n 's/.*"offloaded": \([0-9]*\),.*/\1/p' "$scratch"/stats.* | awk '{ n += $1 } END { print n + 0 }')
    [ "$calls" -ge "$1" ] || echo "$calls calls on devices"
    rm -f "$scratch"/stats.*
}

found=
for family in openmpi mpich; do
    mpicc=$(command_of $family mpicc) mpirun=$(command_of $family mpirun)
    [ -n "$mpicc" ] && [ -n "$mpirun" ] || continue
    "$mpirun" -n 2 "$tool" info -d emu:k20x2 > "$scratch/out" 2> "$scratch/err"
    status=$?
    report "$(grep '^rank: [01] of 2' "$scratch/out" | sort -u | [ "$(wc -l)" -eq 2 ] || said)" \
        "$family's ranks are told from each other"
    for program in messages collectives windows; do
        if "$mpicc" -O1 -o "$scratch/$program" "$top_srcdir/tests/mpi/$program.c" -lblas 2> "$scratch/cc"; then
            found=yes
        else
            skip "$mpicc: $(head -1 "$scratch/cc")"
            continue
        fi
        report "$(try 3 $program)" "$family, $program, 3 ranks in one machine"
        report "$(on_devices 100)" '... on devices'
        # Otherwise one program; Open MPI has no windows over TCP.
        [ $program = messages ] || [ -n "$SEMCACHE_TEST_LONG" ] || continue
        [ "$family $program" != "openmpi windows" ] || continue
        OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo UCX_TLS=tcp,self UCX_NET_DEVICES=lo
        export OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include UCX_TLS UCX_NET_DEVICES
        report "$(try_again 2 $program)" "$family, $program, TCP"
        unset OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include UCX_TLS UCX_NET_DEVICES
        rm -f "$scratch"/stats.*
    done
done
[ -n "$found" ] || [ $count -gt 0 ] || { echo '1..0 # SKIP no MPI (Debian: libopenmpi-dev or libmpich-dev)'; exit 0; }
end
