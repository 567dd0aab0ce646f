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

if ! bash -c 'type complete' > /dev/null 2>&1; then
    skip 'no bash with completion'
    end
fi
# What bash makes of a line typed so far: the candidates, as they would continue the last word.
cat > "$scratch/typed" <<'E'
. "$top_srcdir/tools/completion/semcache"
PATH=$top_builddir/tools:$PATH
COMP_LINE=$1 COMP_POINT=${#1}
word=${1##*[ =:]}
_semcache semcache "$word" '' > /dev/null
printf '%s\n' "${COMPREPLY[@]}"
E
typed() { # line, candidates in order
    bash "$scratch/typed" "$1" 2> "$scratch/err" | sort | tr '\n' ' ' | sed 's/ $//' > "$scratch/out"
    status=$?
    [ "$(cat "$scratch/out")" = "$2" ] && [ ! -s "$scratch/err" ]
    verdict $? "bash: $1" "$(said)"
}
export top_srcdir top_builddir
typed 'semcache tr' trace
typed 'semcache trace ex' 'explain export'
typed 'semcache run --dev' --device=
typed 'semcache run --device=cu' cuda
typed 'semcache run --device=emu:k20' k20x2
typed 'semcache run -d emu:k20' k20x2
typed 'semcache run -o ' 'always auto never'
typed 'semcache run --trace t --offload n' never
typed 'semcache run ls --col' ''
end
# SPDX-License-Identifier: BSD-2-Clause
