# typed.zsh FOLDER PATH NAME LINE: types LINE and the tabulator in a zsh with the completion of FOLDER. Leaves the
# candidates in NAME.hits and the resulting line in NAME.line.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); PATH=$2:\$PATH; autoload -U compinit; compinit -u -D; LISTMAX=-1"
zpty -w shell "compadd() {
    local -a hits
    builtin compadd -A hits \"\$@\"
    (( \$#hits )) && print -rl -- \$hits >> $3.hits
    builtin compadd \"\$@\"
}"
zpty -w shell "show() { print -r -- \$BUFFER > $3.line }; zle -N show; bindkey '^T' show; bindkey '^I' complete-word"
zpty -w shell ": > $3.ready"
while [[ ! -e $3.ready ]]; do zpty -rt shell said || sleep 0.02; done
zpty -w -n shell "$4"$'\t'$'\024'
while [[ ! -s $3.line ]]; do zpty -rt shell said || sleep 0.02; done
zpty -d shell
# SPDX-License-Identifier: BSD-2-Clause
