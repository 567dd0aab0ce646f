#!/bin/sh
# MPI programs whose arrays are on devices, with every installed MPI, and (with SEMCACHE_TEST_LONG=1) over every way
# between two processes. Asserts right messages: MPI reads the program's memory by system calls, from other processes
# and by network cards, where a closed page would give an error or old bytes.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/mpi.sh"

# Repeats a hung run: MPICH 4.0.2 over UCX 1.13's TCP hangs in one of 15 runs even without semcache.
try_again() {
    said=$(try "$@")
    [ "$family $said" != 'mpich status 124' ] || said=$(try "$@")
    [ -z "$said" ] || echo "$said"
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
        # On some machines Open MPI has no windows: the program fails without semcache, too.
        if [ "$program" = windows ] && ! alone 3 "$scratch/$program" "$scratch/file"; then
            skip "$family has no windows here: $(grep -m 1 'MPI_ERR' "$scratch/err")"
            continue
        fi
        report "$(try 3 "$scratch/$program" "$scratch/file")" "$family, $program, 3 ranks in one machine"
        report "$(on_devices 100)" '... on devices'
        # Over TCP, make check runs one program with Open MPI only; Open MPI has no windows over TCP.
        [ "$family $program" = "openmpi messages" ] || [ -n "$SEMCACHE_TEST_LONG" ] || continue
        [ "$family $program" != "openmpi windows" ] || continue
        OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo UCX_TLS=tcp,self UCX_NET_DEVICES=lo
        export OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include UCX_TLS UCX_NET_DEVICES
        report "$(try_again 2 "$scratch/$program" "$scratch/file")" "$family, $program, TCP"
        unset OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include UCX_TLS UCX_NET_DEVICES
        rm -f "$scratch"/stats.*
    done
done
[ -n "$found" ] || [ $count -gt 0 ] || { echo '1..0 # SKIP no MPI (Debian: libopenmpi-dev or libmpich-dev)'; exit 0; }
end
# SPDX-License-Identifier: BSD-2-Clause
