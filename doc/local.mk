# doc
EXTRA_DIST += doc/settings.md
EXTRA_DIST += doc/decisions.md
