# Completion of `semcache` for fish.  The candidates come from `semcache completion WORD...`.
function __semcache_candidates
    set -l words (commandline -opc)
    for candidate in ($words[1] completion $words[2..-1] (commandline -ct) 2>/dev/null)
        switch $candidate
            case :command
                __fish_complete_command
            case '*'
                echo $candidate
        end
    end
end
# Names of files are offered where there are no candidates.
complete -c semcache -n '__semcache_candidates | string length -q' -f -a '(__semcache_candidates)'
# SPDX-License-Identifier: BSD-2-Clause
