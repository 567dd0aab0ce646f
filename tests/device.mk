# Tests of device (on SEMCACHE_TEST_DEVICE; default: two emulated H200)
check_PROGRAMS += tests/device_kernels tests/device_conformance tests/device_exchange tests/emu_machines \
	tests/kernel_host tests/device_convert tests/device_lapack
tests_device_lapack_SOURCES = tests/device_lapack.c tests/lapack_matrix.h tests/device_common.h
tests_device_lapack_LDADD = libcore.la -lm
tests_device_kernels_SOURCES = tests/device_kernels.c tests/blas_definition.h tests/device_common.h
tests_device_kernels_LDADD = libcore.la -lm
tests_device_conformance_SOURCES = tests/device_conformance.c tests/device_common.h
tests_device_conformance_LDADD = libcore.la -lm
tests_device_exchange_SOURCES = tests/device_exchange.c tests/device_common.h
tests_device_exchange_LDADD = libcore.la -lm
tests_device_convert_SOURCES = tests/device_convert.c tests/device_common.h
tests_device_convert_LDADD = libcore.la
tests_emu_machines_SOURCES = tests/emu_machines.c tests/device_common.h
tests_emu_machines_LDADD = libcore.la -lm
tests_kernel_host_SOURCES = tests/kernel_host.c tests/device_common.h
tests_kernel_host_LDADD = libcore.la -lm
TESTS += tests/device_kernels tests/device_conformance tests/device_exchange tests/emu_machines tests/kernel_host \
	tests/device_convert tests/device_lapack

check_PROGRAMS += tests/cuda_ordinals
tests_cuda_ordinals_SOURCES = tests/cuda_ordinals.c device/cuda/ordinals.h device/cuda/ordinals.c tests/tap.h
TESTS += tests/cuda_ordinals

# With a fake driver under the CUDA driver's name.
check_PROGRAMS += tests/device_wake
tests_device_wake_SOURCES = tests/device_wake.c tests/fake_driver.h tests/tap.h
tests_device_wake_LDADD = libcore.la -ldl
TESTS += tests/device_wake
check_PROGRAMS += tests/device_submit
tests_device_submit_SOURCES = tests/device_submit.c tests/tap.h
tests_device_submit_LDADD = libcore.la -lpthread -ldl
TESTS += tests/device_submit
check_LTLIBRARIES += tests/driver/libcuda.la
tests_driver_libcuda_la_SOURCES = tests/fake_driver.c tests/fake_driver.h
tests_driver_libcuda_la_LDFLAGS = -version-info 1:0:0 -shared -rpath /nowhere

# Opened in place of the CUDA module.
check_LTLIBRARIES += tests/semcache-cuda.la
tests_semcache_cuda_la_SOURCES = tests/fake_module.c
tests_semcache_cuda_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

dist_check_SCRIPTS += tests/cuda_faults.t tests/device_null.t
TESTS += tests/cuda_faults.t tests/device_null.t
# SPDX-License-Identifier: BSD-2-Clause
