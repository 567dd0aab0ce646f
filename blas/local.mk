# blas
