# Converts names.tab to a list of exports (what=exports) or to lines REFUSED(name) (what=refused).
function give(name) { print what == "refused" ? "REFUSED(" name ")" : name }
BEGIN { split("s d c z", letter, " "); if (what == "refused") print "/* Generated from sparse/names.tab. */" }
/^#/ || !NF { next }
what == "refused" && $3 != "refused" { next }
{
    for (i = 1; i <= (index($1, "?") ? 4 : 1); i++) {
        name = $1
        sub(/\?/, letter[i], name)
        give($2 == "us" ? "BLAS_" name : name)
        if ($2 == "us") {
            give("blas_" name "_")
            give(name "_")
        }
        if ($2 == "64")
            give(name "_64")
        if ($2 == "f") {
            give(name "_")
            give(toupper(name))
        }
    }
}
# SPDX-License-Identifier: BSD-2-Clause
