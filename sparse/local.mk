# sparse
EXTRA_DIST += sparse/README.md
