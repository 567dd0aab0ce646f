#!/bin/sh
# Completion of shells. Asserts that every option in the help of every command is offered, and that bash, with the
# completion's file, completes words as a user types them. The candidates of settings are those that the command allows.
. "$top_srcdir/tests/tap.sh"
need "$tool"

offered() { "$tool" completion "$@"; }
# The commands below a word, or at the top.
commands_of() { offered "$@" '' | grep -v '^-'; }
options_of_help() { "$tool" "$@" --help | grep -o -e '^  *\(-., \)\?--[a-z0-9-]*' | sed 's/.*--/--/' | sort -u; }

report "$(commands_of | grep -q '^run$' || offered '')" 'the commands are offered'
report "$("$tool" nothing-such 2>&1 | tr ' ,' '\n\n' | grep '^[a-z]*$' | sort > "$scratch/named"
    commands_of | sort | while read -r command; do grep -qx "$command" "$scratch/named" || echo "$command"; done)" \
    'they are commands that the command names'
for command in $(commands_of | sed 's/^trace$//') $(commands_of trace | sed 's/^/trace:/'); do
    words=$(echo "$command" | tr : ' ')
    # shellcheck disable=SC2086
    options_of_help $words > "$scratch/wanted"
    # shellcheck disable=SC2086
    offered $words -- | sed 's/=$//' | sort > "$scratch/there"
    report "$(grep -v -e '^--version$' "$scratch/wanted" | comm -3 - "$scratch/there")" \
        "$words: the options offered are those of its help"
done
for value in $(offered run -d '') $(offered run -o ''); do
    case $value in
    auto | always | never | none | cuda | null | emu:*) ;;
    *) echo "$value" ;;
    esac
done > "$scratch/odd"
report "$(cat "$scratch/odd")" 'values are words'
report "$(for value in $(offered run -d ''); do "$tool" run --device "$value" true || echo "$value"; done 2>&1)" \
    'every device that is offered is allowed'
report "$(for file in "$top_srcdir"/device/emu/machines/*.machine; do
    offered run --device= | grep -qx -e "--device=emu:$(basename "$file" .machine)" || echo "$file"; done)" \
    'every machine file is offered'
report "$(offered run ./program --dev; offered run -o always ./program -)" "a program's own options are left alone"
report "$(offered run -d cuda ''  | grep -vx :command)" 'after the options of run comes a program'

# What a shell makes of a line typed so far: candidates, as they would continue the last word, in order.
export top_srcdir top_builddir
cd "$scratch" || exit 99
: > file.trace
cat > typed.bash <<'E'
. "$top_srcdir/tools/completion/semcache"
PATH=$top_builddir/tools:$PATH
COMP_LINE=$1 COMP_POINT=${#1}
word=${1##*[ =:]}
_semcache semcache "$word" '' > /dev/null
printf '%s\n' "${COMPREPLY[@]}"
E
cat > typed.fish <<'E'
set -p PATH $top_builddir/tools
source $top_srcdir/tools/completion/semcache.fish
complete -C $argv[1]
E
by_bash() { bash typed.bash "$1"; }
by_fish() { HOME=$scratch fish --no-config typed.fish "$1" | sed 's/\t.*//'; }
by_zsh() {
    rm -f zsh.*
    HOME=$scratch timeout 60 zsh -f "$top_srcdir/tests/completion/typed.zsh" "$top_srcdir/tools/completion" \
        "$top_builddir/tools" "$scratch/zsh" "$1" && sort -u zsh.hits
}
typed() { # shell, line, candidates in order
    "by_$1" "$2" 2> err | sort | tr '\n' ' ' | sed 's/ $//' > out
    status=$?
    [ "$(cat out)" = "$3" ] && [ ! -s err ]
    verdict $? "$1: $2" "$(said)"
}
all_typed() { # shell, what the shell repeats of a word with `='
    typed "$1" 'semcache tr' trace
    typed "$1" 'semcache trace ex' 'explain export'
    typed "$1" 'semcache run --dev' --device=
    typed "$1" 'semcache run --device=cu' "$2cuda"
    typed "$1" 'semcache run -o ' 'always auto never'
    typed "$1" 'semcache run --trace t --offload n' never
}
if bash -c 'type complete' > /dev/null 2>&1; then
    all_typed bash ''
    typed bash 'semcache run --device=emu:k20' k20x2
    typed bash 'semcache run -d emu:k20' k20x2
    typed bash 'semcache run ls --col' ''
else
    skip 'no bash with completion'
fi
for shell in fish zsh; do
    if command -v "$shell" > /dev/null; then
        all_typed "$shell" --device=
        typed "$shell" 'semcache run --device=emu:k20' --device=emu:k20x2
        typed "$shell" 'semcache run -d emu:k20' emu:k20x2
        typed "$shell" 'semcache trace blame fil' file.trace
    else
        skip "no $shell"
    fi
done
end
# SPDX-License-Identifier: BSD-2-Clause
