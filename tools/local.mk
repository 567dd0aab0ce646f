# tools
EXTRA_DIST += tools/README.md
dist_man_MANS += tools/semcache.1
