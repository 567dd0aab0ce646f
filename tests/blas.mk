# Tests of blas
