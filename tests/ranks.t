#!/bin/sh
# Ranks on one machine share its devices and their memory, by the launcher's variables or by SEMCACHE_LOCAL_RANK.
. "$top_srcdir/tests/tap.sh"
need "$tool"
for name in $(env | sed -n 's/^\(\(OMPI_COMM_WORLD\|MPI_LOCAL\|MV2_\|PMI_\|SLURM_\)[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done

# The output of semcache info with these variables: the rank, and the memory of its devices.
shown() { # machine, variables...
    machine=$1
    shift
    env "$@" "$tool" info -d "emu:$machine" 2> "$scratch/err" |
    sed -n 's/^rank: \([0-9]* of [0-9]*\).*(\(.*\)).*/\1 \2/p; s/^  [0-9]*: .*, \([0-9.]*\) GiB.*/\1/p' | tr '\n' ' '
    cat "$scratch/err"
}
is() { # expected, title, machine, variables...
    expected=$1 title=$2
    shift 2
    got=$(shown "$@")
    [ "$got" = "$expected " ]
    verdict $? "$title" "wanted $expected, got $got"
}

is '4.7 4.7' 'alone: all devices' k20x2 A=1
is '0 of 2 OMPI_COMM_WORLD_LOCAL_RANK 4.7' "Open MPI's first of two: one device" \
    k20x2 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2
is '2 of 3 MPI_LOCALRANKID 4.7' "MPICH's last of three has a device alone" k20x2 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=3
is '0 of 3 MPI_LOCALRANKID 2.3' '... and the others half of one each' k20x2 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=3
is '1 of 2 MV2_COMM_WORLD_LOCAL_RANK 11.2 11.2' "MVAPICH's second of two, three devices: two of them" \
    k40x3 MV2_COMM_WORLD_LOCAL_RANK=1 MV2_COMM_WORLD_LOCAL_SIZE=2
is '3 of 8 PMI_LOCAL_RANK 1.2' 'eight ranks on two devices' k20x2 PMI_LOCAL_RANK=3 PMI_LOCAL_SIZE=8
is '2 of 3 SLURM_LOCALID 4.7' 'a Slurm node of its own size' \
    k20x2 SLURM_LOCALID=2 SLURM_NODEID=2 'SLURM_STEP_TASKS_PER_NODE=4(x2),3'
is '2 of 4 SLURM_LOCALID 2.3' 'a Slurm node like others' \
    k20x2 SLURM_LOCALID=2 SLURM_NODEID=1 'SLURM_STEP_TASKS_PER_NODE=4(x2),3'
is '4.7 4.7' "Slurm's job without a step" k20x2 SLURM_LOCALID=0 SLURM_NODEID=0 'SLURM_TASKS_PER_NODE=4'
is '0 of 2 OMPI_COMM_WORLD_LOCAL_RANK 4.7' 'mpirun within srun' k20x2 SLURM_LOCALID=0 SLURM_STEP_TASKS_PER_NODE=1 \
    OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2
is '4.7 4.7' 'SEMCACHE_LOCAL_RANK=none: all devices all the same' \
    k20x2 SEMCACHE_LOCAL_RANK=none OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2
is '1 of 4 SEMCACHE_LOCAL_RANK 2.3' 'SEMCACHE_LOCAL_RANK before the launcher' \
    k20x2 SEMCACHE_LOCAL_RANK=1/4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2
is '1 of 4 SEMCACHE_LOCAL_RANK 0.5' 'a limit of memory is each process'\''s own' \
    k20x2:1 SEMCACHE_LOCAL_RANK=1/4 SEMCACHE_MEMORY_LIMIT=512M
for nonsense in 'x 2' '2 2' '-1 2' '0 0' '1 ' '0 2x'; do
    set -- $nonsense
    is '4.7 4.7' "nonsense ($nonsense) is no rank" k20x2 "MPI_LOCALRANKID=$1" "MPI_LOCALNRANKS=$2"
done
for wrong in 3/3 1 /2 1/ -1/2 1/2/3 auto/2; do
    SEMCACHE_LOCAL_RANK=$wrong "$tool" info -d emu:k20x2 > "$scratch/out" 2> "$scratch/err"
    ok "SEMCACHE_LOCAL_RANK=$wrong is refused" has err 'not allowed'
done
end
# SPDX-License-Identifier: BSD-2-Clause
