# blas
# Decomposition of calls into tasks.
libcore_la_SOURCES += blas/tasks.h blas/offload.c blas/pieces.c blas/segments.c blas/level1.c blas/reduce.c blas/gemv.c \
	blas/ger.c blas/gemm.c blas/pipeline.h blas/pipeline.c blas/symm.c blas/syrk.c blas/trsm.c
