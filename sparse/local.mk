# sparse
libcore_la_SOURCES += sparse/sparse.h sparse/sparse_int.h sparse/call.c sparse/check.c sparse/convert.c sparse/host.c \
  sparse/matrix.c sparse/parts.c sparse/product.c sparse/result.c sparse/split.c sparse/vectors.c
EXTRA_DIST += sparse/README.md
