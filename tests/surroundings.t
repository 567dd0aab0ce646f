#!/bin/sh
# Programs in poor surroundings: limits of the shell and of the program, closed descriptors, a full disk, no home, no
# file systems of the kernel. Asserts right results on devices and the program's own end, with what semcache may say.
# A row of the table has the title, a command before `exec`, the files that are ordered (two, all), arguments of the
# program, and the pattern of each permitted line on stderr ("-": none).
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/surroundings
OPENBLAS_NUM_THREADS=1 # OpenBLAS ends a program when it may not start its threads
export OPENBLAS_NUM_THREADS
need "$tool"
need "$program"

mkdir "$scratch/disk"
mkfifo "$scratch/pipe" # a limit on files does not concern pipes
apart='unshare -m'
$apart true 2> /dev/null || apart=
written='cannot write\|cannot be written'
# make's variables may take 20 KB of the stack.
small="env -i $(env | grep '^\(PATH\|HOME\|LD_LIBRARY_PATH\|SEMCACHE_[A-Z_]*\|OPENBLAS_[A-Z_]*\)=' | tr '\n' ' ')"
limited='no thread for the pager\|no memory\|devices\|no thread'

# @ stands for mount, in a name space of its own; @full fills the disk.
table() {
    cat << 'EOT'
nothing special                          |                            |      |  | -
no input, output or errors               | <&- >&- 2>&-               |      |  | -
no output, and files of all kinds        | <&- >&- 2>&-               | all  |  | -
four descriptors                         | ulimit -n 4                |      |  | not used
eight descriptors                        | ulimit -n 8                | two  |  | few
no files may be written                  | ulimit -f 0                |      |  | written
no files may be written, but ordered     | ulimit -f 0                | all  |  | written
files of 8 blocks                        | ulimit -f 8                | all  |  | written
no memory may be locked                  | ulimit -l 0                |      |  | -
no core files                            | ulimit -c 0                |      |  | -
a stack of 64 KiB                        | ulimit -s 64               |      |  | -
1 GB of addresses                        | ulimit -v 1000000          |      |  | address space
200 MB of addresses                      | ulimit -v 200000           |      |  | address space
no descriptor is left                    |                            |      | descriptors | -
no descriptor from the first call on     |                            |      | descriptors first | limited
no thread can be started                 |                            |      | processes | -
no thread from the first call on         |                            |      | processes first | limited
a file may not grow any more             |                            | all  | files | written
a file may not grow from the first call on |                            | all  | files first | written
no locked memory from the first call on  |                            |      | locked first | -
no data beyond what there is             |                            |      | data | -
no pending signals                       |                            |      | signals first | -
no HOME                                  | unset HOME XDG_CACHE_HOME  |      |  | -
a HOME that is not there                 | HOME=/absent               |      |  | -
a HOME that is a file                    | HOME=/dev/null             |      |  | not used
a full disk                              | @ -t tmpfs -o size=4k x disk; @full | all  |  | written
a disk that only reads                   | @ -t tmpfs -o ro x disk    | all  |  | written
a HOME that only reads                   | @ -t tmpfs -o ro x disk; HOME=disk |      |  | not used
no /sys                                  | @ -t tmpfs x /sys          |      |  | -
no /dev                                  | @ -t tmpfs x /dev          |      |  | -
a /tmp and a /dev/shm that only read     | @ -t tmpfs -o ro x /dev/shm |      |  | -
EOT
}

# What the program has written, in $result.
heard() {
    echo end >&4
    result=
    while read -r word <&4 && [ "$word" != end ]; do
        result=$result$word
    done
}
trim() { echo "$1" | sed 's/^ *//; s/ *$//'; }
table > "$scratch/table"
cd "$scratch" || exit 99
exec 4<> pipe
while IFS='|' read -r title before options arguments said <&3; do
    title=$(trim "$title") before=$(trim "$before") said=$(trim "$said")
    case $said in
    -) said='^$' ;;
    written) said=$written ;;
    few) said="$written\\|ulimit -n" ;; # a driver needs more
    limited) said=$limited ;;
    esac
    rm -f disk/*
    before=$(echo "$before" | sed 's/@full/head -c 9999 \/dev\/zero > disk\/f 2> \/dev\/null/; s/@/mount/g')
    case $before in
    *'&-'*) line="exec $before" ;;
    *) line=${before:-:} ;;
    esac
    case $before in
    mount*) [ -n "$apart" ] || { skip "$title: no permission to mount"; continue; }
        around=$apart ;;
    *'ulimit -s'*) around=$small ;;
    *) around= ;;
    esac
    case $(trim "$options") in
    two) options='-s disk/s -t disk/t' ;;
    all) options='-s disk/s -t disk/t -e disk/e' ;;
    esac
    # shellcheck disable=SC2086
    timeout 60 $around sh -c "$line; exec '$tool' run -d $device -o always $options '$program' pipe $arguments" \
        > out 2> err 3<&- 4<&-
    status=$?
    heard
    ok "$title" [ "$status $result" = '0 right' ]
    ok "$title: what is said" [ -z "$(grep -v "$said" err)" ]
done 3< "$scratch/table"
if [ -n "$apart" ]; then
    SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=always timeout 60 $apart sh -c \
        "mount -t tmpfs x /proc && LD_PRELOAD='$library' exec '$program' pipe" > out 2> err
    status=$?
    heard
    ok 'no /proc: the preloaded library does no harm' [ "$status $result" = '0 right' ]
    timeout 60 $apart sh -c "mount -t tmpfs x /proc && exec '$tool' run '$program' pipe" > out 2> err
    status=$?
    ok 'no /proc: semcache run does not find the library' [ "$status" = 126 ]
    ok 'and says so in one line' one_line
else
    skip 'no /proc: no permission to mount'
fi
cd / || exit 99
end
# SPDX-License-Identifier: BSD-2-Clause
