# The library for CUDA programs with unified memory
dist_check_SCRIPTS += tests/examples_um.t
TESTS += tests/examples_um.t
