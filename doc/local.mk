# doc
EXTRA_DIST += doc/settings.md
EXTRA_DIST += doc/decisions.md
EXTRA_DIST += doc/architecture.md doc/limits.md
