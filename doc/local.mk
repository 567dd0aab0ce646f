# doc
EXTRA_DIST += doc/settings.md
