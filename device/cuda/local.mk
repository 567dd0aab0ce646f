# The CUDA devices, as a module opened at run time: the library itself links no CUDA library.
#
# In a build tree the module is .libs/semcache-cuda.so (SEMCACHE_MODULE_PATH=.libs).
EXTRA_DIST += device/cuda/README.md device/cuda/exchange.cu device/cuda/convert.cu \
	device/cuda/dsdot.cu device/cuda/norm.cu device/cuda/triangle.cu device/cuda/vector.cu device/cuda/rows.cu \
	device/cuda/thin.cu
libcore_la_SOURCES += device/cuda/backend.c device/cuda/wake.h device/cuda/wake.c
if HAVE_CUDA
module_LTLIBRARIES += semcache-cuda.la
semcache_cuda_la_SOURCES = device/cuda/cuda_int.h device/cuda/opened.c device/cuda/module.c device/cuda/driver.c \
	device/cuda/ordinals.h device/cuda/ordinals.c \
	device/cuda/error.c device/cuda/fence.c device/cuda/memory.c device/cuda/place.c device/cuda/populate.c \
	device/cuda/copy.c \
	device/cuda/kernel.h device/cuda/kernel.c device/cuda/level1.c device/cuda/level2.c device/cuda/sparse.c \
	device/cuda/multiply.c device/cuda/identity.c device/cuda/exchange.c device/cuda/exchange_kernel.h \
	device/cuda/dsdot.c device/cuda/dsdot_kernel.h device/cuda/triangle.c device/cuda/triangle_kernel.h \
	device/cuda/vector.c device/cuda/vector_kernel.h device/cuda/rows.c device/cuda/rows_kernel.h \
	device/cuda/thin.c device/cuda/thin_kernel.h \
	device/cuda/number.cuh ops/ops.c
nodist_semcache_cuda_la_SOURCES = ops/operations.c
semcache_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
# nodelete: CUDA's libraries do not survive dlclose.
semcache_cuda_la_LDFLAGS = -module -avoid-version -shared -export-symbols-regex '^semcache_device_module$$' \
	-no-undefined -Wl,-z,defs -Wl,-z,nodelete $(CUDA_LDFLAGS)
semcache_cuda_la_LIBADD = -lcublas -lcusparse -lcudart

if HAVE_NVTX
semcache_cuda_la_SOURCES += device/cuda/ranges.h device/cuda/ranges.c
semcache_cuda_la_CPPFLAGS += -DSC_CUDA_RANGES

check_PROGRAMS += tests/cuda_ranges
tests_cuda_ranges_SOURCES = tests/cuda_ranges.c device/cuda/ranges.h device/cuda/ranges.c
tests_cuda_ranges_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) -DSC_CUDA_RANGES
tests_cuda_ranges_LDADD = libcore.la
TESTS += tests/cuda_ranges
endif

if HAVE_CUSOLVER
semcache_cuda_la_SOURCES += device/cuda/solver.h device/cuda/solver.c device/cuda/solver_memory.c \
	device/cuda/solver_eigen.c \
	device/cuda/solver_svd.c device/cuda/solver_library.c device/cuda/norm.c device/cuda/norm_kernel.h
semcache_cuda_la_CPPFLAGS += -DSC_CUDA_SOLVER

check_PROGRAMS += tests/cuda_solver
tests_cuda_solver_SOURCES = tests/cuda_solver.c tests/fake_cusolver.c tests/fake_cusolver.h tests/lapack_matrix.h \
	tests/device_common.h device/cuda/solver.c device/cuda/solver_memory.c device/cuda/solver_eigen.c \
	device/cuda/solver_svd.c device/cuda/norm.c
tests_cuda_solver_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) -DSC_CUDA_SOLVER
tests_cuda_solver_LDADD = libcore.la -lm
TESTS += tests/cuda_solver
endif

# The module's kernels as elements of byte arrays, for the generations in NVCC_ARCH, or for all generations that nvcc
# supports.
if HAVE_NVCC
semcache_cuda_la_SOURCES += device/cuda/convert.c
semcache_cuda_la_CPPFLAGS += -DSC_CUDA_EXCHANGE -DSC_CUDA_CONVERT -DSC_CUDA_DSDOT -DSC_CUDA_NORM \
	-DSC_CUDA_TRIANGLE -DSC_CUDA_VECTOR -DSC_CUDA_ROWS -DSC_CUDA_THIN
cuda_images = device/cuda/exchange_image.inc device/cuda/convert_image.inc device/cuda/dsdot_image.inc \
	device/cuda/norm_image.inc device/cuda/triangle_image.inc device/cuda/vector_image.inc \
	device/cuda/rows_image.inc device/cuda/thin_image.inc
$(semcache_cuda_la_OBJECTS): $(cuda_images)
compile_image = $(MKDIR_P) device/cuda && $(NVCC) -fatbin -arch=$(NVCC_ARCH) -I$(srcdir) -o $@.fatbin
array_of_image = @od -An -v -tu1 $@.fatbin | sed 's/ *\([0-9][0-9]*\)/\1,/g' >$@.new && mv $@.new $@ && rm -f $@.fatbin
device/cuda/exchange_image.inc: $(srcdir)/device/cuda/exchange.cu $(srcdir)/device/cuda/exchange_kernel.h
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/exchange.cu
	$(array_of_image)
device/cuda/convert_image.inc: $(srcdir)/device/cuda/convert.cu $(srcdir)/device/slot.h $(srcdir)/base/types.h
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/convert.cu
	$(array_of_image)
device/cuda/dsdot_image.inc: $(srcdir)/device/cuda/dsdot.cu $(srcdir)/device/cuda/dsdot_kernel.h
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/dsdot.cu
	$(array_of_image)
device/cuda/norm_image.inc: $(srcdir)/device/cuda/norm.cu $(srcdir)/device/cuda/norm_kernel.h
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/norm.cu
	$(array_of_image)
device/cuda/triangle_image.inc: $(srcdir)/device/cuda/triangle.cu $(srcdir)/device/cuda/triangle_kernel.h
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/triangle.cu
	$(array_of_image)
device/cuda/vector_image.inc: $(srcdir)/device/cuda/vector.cu $(srcdir)/device/cuda/vector_kernel.h \
	$(srcdir)/device/cuda/number.cuh
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/vector.cu
	$(array_of_image)
device/cuda/rows_image.inc: $(srcdir)/device/cuda/rows.cu $(srcdir)/device/cuda/rows_kernel.h \
	$(srcdir)/device/cuda/number.cuh
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/rows.cu
	$(array_of_image)
device/cuda/thin_image.inc: $(srcdir)/device/cuda/thin.cu $(srcdir)/device/cuda/thin_kernel.h \
	$(srcdir)/device/cuda/number.cuh
	$(AM_V_GEN)$(compile_image) $(srcdir)/device/cuda/thin.cu
	$(array_of_image)
CLEANFILES += $(cuda_images)

# Kernels on threads of the host.
EXTRA_DIST += tests/cuda_triangle.cc tests/cuda_vector.cc tests/cuda_rows.cc \
	tests/cuda_thin.cc \
	tests/cuda_block.cuh tests/cuda_number.cuh
check_DATA = tests/cuda_triangle tests/cuda_vector tests/cuda_rows tests/cuda_thin
compile_on_host = $(AM_V_GEN)$(MKDIR_P) tests && $(NVCC) -x c++ -O1 -std=c++14 -I$(srcdir) -Xcompiler -pthread -o $@
tests/cuda_triangle: $(srcdir)/tests/cuda_triangle.cc \
	$(srcdir)/tests/cuda_block.cuh $(srcdir)/device/cuda/triangle.cu \
	$(srcdir)/device/cuda/triangle_kernel.h
	$(compile_on_host) $(srcdir)/tests/cuda_triangle.cc
tests/cuda_vector: $(srcdir)/tests/cuda_vector.cc $(srcdir)/device/cuda/vector.cu \
	$(srcdir)/device/cuda/vector_kernel.h $(srcdir)/device/cuda/number.cuh $(srcdir)/tests/cuda_number.cuh
	$(compile_on_host) $(srcdir)/tests/cuda_vector.cc
tests/cuda_rows: $(srcdir)/tests/cuda_rows.cc \
	$(srcdir)/tests/cuda_block.cuh $(srcdir)/device/cuda/rows.cu $(srcdir)/device/cuda/rows_kernel.h \
	$(srcdir)/device/cuda/number.cuh $(srcdir)/tests/cuda_number.cuh
	$(compile_on_host) $(srcdir)/tests/cuda_rows.cc
tests/cuda_thin: $(srcdir)/tests/cuda_thin.cc \
	$(srcdir)/tests/cuda_block.cuh $(srcdir)/device/cuda/thin.cu $(srcdir)/device/cuda/thin_kernel.h \
	$(srcdir)/device/cuda/number.cuh $(srcdir)/tests/cuda_number.cuh
	$(compile_on_host) $(srcdir)/tests/cuda_thin.cc
CLEANFILES += tests/cuda_triangle tests/cuda_vector tests/cuda_rows tests/cuda_thin
TESTS += tests/cuda_triangle tests/cuda_vector tests/cuda_rows tests/cuda_thin
endif

check_PROGRAMS += tests/cuda_kernels tests/cuda_device
tests_cuda_kernels_SOURCES = tests/cuda_kernels.c tests/blas_definition.h tests/cuda_module.h tests/tap.h
tests_cuda_kernels_LDADD = libcore.la -lm
tests_cuda_device_SOURCES = tests/cuda_device.c tests/cuda_module.h tests/tap.h
TESTS += tests/cuda_kernels tests/cuda_device

# Preloaded: failing functions of CUDA.
check_LTLIBRARIES += tests/cuda_faults.la
tests_cuda_faults_la_SOURCES = tests/cuda_faults.c
tests_cuda_faults_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_cuda_faults_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
endif
# SPDX-License-Identifier: BSD-2-Clause
