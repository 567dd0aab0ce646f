"""Kernels of your own on arrays that semcache keeps on devices: semcache/tasks.h for Python (doc/tasks.md).

    import numpy as np, semcache

    x, y = np.arange(1e6), np.ones(10**6)

    def add(place, x, y):       # NumPy arrays on the host and on emulated devices
        y += 2 * x

    semcache.run(add, semcache.read(x), semcache.readwrite(y))
    print(y[1])                 # the first touch brings the result home

On a CUDA device `kernel` gets objects for CuPy, Numba and PyTorch (`__cuda_array_interface__`, DLPack):

    with semcache.acquire(semcache.read(x), semcache.readwrite(y)) as (a, b):
        with cupy.cuda.ExternalStream(a.stream):
            cupy.asarray(b)[:] += 2 * cupy.asarray(a)

Start Python by `semcache run python3 program.py`.  Arrays of NumPy are then arrays that devices can cache.
"""
import ctypes

from . import _library, _views
from ._library import library as _lib
from ._views import Array

READ, WRITE, READWRITE = 1, 2, 3
ANY_DEVICE, HOST = -1, -2
ROWS, COLUMNS, PLANES, BLOCKS = range(4)
NORMAL, READ_MOSTLY, WRITE_ONCE, KEEP, DROP = range(5)


class Error(RuntimeError):
    """A status of the library other than SEMCACHE_OK; `status` has the number.  A line on stderr has the reason."""

    def __init__(self, status):
        super().__init__(_lib.semcache_status_name(status).decode())
        self.status = status


def _check(status):
    if status:
        raise Error(status)


def device_count():
    """Opens the devices, and returns their number."""
    _lib.semcache_init()
    return _lib.semcache_device_count()


def version():
    return _lib.semcache_version().decode()


def statistics():
    """The totals of semcache_statistics as a dictionary."""
    totals = _library.Statistics(size=ctypes.sizeof(_library.Statistics))
    _check(_lib.semcache_statistics(ctypes.byref(totals)))
    return {name: getattr(totals, name) for name, _ in totals._fields_[1:]}


def sync():
    """Brings all results home."""
    _check(_lib.semcache_sync(None, 0))


class Region:
    """An array, or elements of its memory.

    `array`: an object with the buffer protocol, with elements of 4, 8 or 16 bytes, positive strides, and at most three
    dimensions with gaps between them.  A slice of a NumPy array is a region of the slice.  `ranges`: pairs (first,
    count) of elements of a contiguous array; functions see a vector of the ranges one after the other.
    """

    def __init__(self, array, ranges=None):
        self._memory = memory = _views.Memory(array)
        self._region = _library.Region(size=ctypes.sizeof(_library.Region), memory=memory.address,
                                       type=_views.type_of(memory))
        extents, distances, self._axes = _views.layout_of(memory)
        if ranges is None:
            self._shape = memory.shape
            self._region.rows, self._region.cols, self._region.planes = extents
            self._region.ld, self._region.plane = max(distances[1], extents[0]), distances[2]
            return
        size = extents[0]
        if extents[1] * extents[2] != 1:
            raise ValueError("ranges of an array with gaps")
        pairs = [(int(first), int(count)) for first, count in ranges]
        if any(first < 0 or count < 0 or first + count > size for first, count in pairs):
            raise IndexError("a range beyond the array")
        self._ranges = (_library.Range * max(len(pairs), 1))(*pairs)
        self._region.ranges, self._region.range_count = self._ranges, len(pairs)
        self._shape, self._axes = (sum(count for _, count in pairs),), [(0, 1)]

    def __getitem__(self, ranges):
        raise TypeError("a region has no elements: index the array")

    def prefetch(self, place=ANY_DEVICE):
        """Starts bringing the region to a device or to HOST."""
        _check(_lib.semcache_region_prefetch(self._region, place))

    def advise(self, advice):
        """Advice changes speed, never results (semcache_advise)."""
        _check(_lib.semcache_advise(self._region, advice))

    def wait(self):
        """Waits for the tasks that write the region, and brings it home."""
        _check(_lib.semcache_region_wait(self._region))

    def resident(self, place):
        """Bytes of the region that are valid at a place."""
        valid = ctypes.c_uint64()
        _check(_lib.semcache_region_resident(self._region, place, valid))
        return valid.value

    def distribute(self, cut=ROWS, parts=None, devices=0, block=(0, 0), grid=(0, 0)):
        """Cuts the array into parts and starts bringing each part to its device; axes as of tasks.h: the first index is
        the one with the smallest stride."""
        _check(_lib.semcache_distribute(_decomposition(cut, parts, devices, block, grid), self._region))

    def _array(self, view, place, readonly):
        size = self._memory.itemsize
        steps = (1, view.ld, view.plane)
        strides = [steps[dimension] * inner * size for dimension, inner in self._axes]
        return Array(view.memory or 0, self._shape, strides, self._memory.typestr, place.device, place.stream,
                     readonly)


def _decomposition(cut, parts, devices, block, grid):
    return _library.Decomposition(ctypes.sizeof(_library.Decomposition), cut,
                                  max(device_count(), 1) if parts is None else parts, devices, *block, *grid)


def _region(thing):
    return thing if isinstance(thing, Region) else Region(thing)


class Operand:
    """A region and its access; made by read, write and readwrite."""

    def __init__(self, thing, mode):
        self.region, self.mode = _region(thing), mode
        if mode & WRITE and self.region._memory.readonly:
            raise ValueError("the array is read only")


def read(array):
    return Operand(array, READ)


def write(array):
    """The function writes every element and reads none."""
    return Operand(array, WRITE)


def readwrite(array):
    return Operand(array, READWRITE)


def _operands(operands):
    if not 1 <= len(operands) <= _library.OPERANDS_MAX:
        raise ValueError("1 to %d operands" % _library.OPERANDS_MAX)
    list_of = (_library.Operand * len(operands))()
    for slot, operand in zip(list_of, operands):
        slot.region, slot.mode = ctypes.pointer(operand.region._region), operand.mode
    return list_of


class Token:
    """Private copies of regions at a place, between acquire and release (semcache_token_acquire).

    A context manager: `with acquire(...) as arrays`.  An exception in the block ends the token without writing.
    """

    def __init__(self, operands, device):
        self._token = _library.Token(size=ctypes.sizeof(_library.Token))
        self._operands = operands
        _check(_lib.semcache_token_acquire(_operands(operands), len(operands), device, self._token))
        place = self._token.place
        self.device, self.stream = place.device, place.stream
        self.arrays = tuple(operand.region._array(view, place, operand.mode == READ)
                            for operand, view in zip(operands, self._token.views))

    def release(self):
        _check(_lib.semcache_token_release(self._token))

    def cancel(self):
        """Ends the token without writing.  On the host, writes to boxes are in the program's memory already."""
        _check(_lib.semcache_token_cancel(self._token))

    def __enter__(self):
        return self.arrays

    def __exit__(self, kind, *_):
        self.release() if kind is None else self.cancel()

    def __del__(self):
        if getattr(self, "_token", None) is not None and self._token.id:
            self.cancel()


def acquire(*operands, device=ANY_DEVICE):
    """Takes regions to a place; returns a Token."""
    return Token(operands, device)


def _address(function):
    return ctypes.cast(function, ctypes.c_void_p).value if function is not None else None


def _run_compiled(host, kernel, operands, device, arguments):
    blob = bytes(arguments)
    ran = ctypes.c_int()
    task = _library.Task(ctypes.sizeof(_library.Task), _address(kernel), _address(host), _operands(operands),
                         len(operands), ctypes.cast(ctypes.c_char_p(blob), ctypes.c_void_p), len(blob), device)
    _check(_lib.semcache_run(task, ran))
    return ran.value


def _is_compiled(function):
    return function is None or isinstance(function, (ctypes._CFuncPtr, ctypes.c_void_p))


def run(host, *operands, kernel=None, device=ANY_DEVICE, arguments=b""):
    """Runs a task, and returns its place: a device or HOST.

    host(place, *arrays) computes on NumPy arrays, on the host and on emulated devices.  kernel(place, *arrays) enqueues
    on place.stream of a CUDA device.  One of the two may be None.  The functions run in this thread, on private copies
    (Token); semcache holds no lock meanwhile, so that they may use any array and any package.

    Functions of ctypes are those of a task of tasks.h, and run in place; `arguments` are the bytes for them.
    """
    if _is_compiled(host) and _is_compiled(kernel):
        return _run_compiled(host, kernel, operands, device, arguments)
    if device != HOST and device_count() and _is_cuda() and kernel is None:
        device = HOST
    token = Token(operands, device)
    with token as arrays:
        function = kernel if token.stream else host
        if function is None:
            raise Error(3)  # SEMCACHE_ERROR_NO_DEVICE
        function(token, *(arrays if token.stream else map(_numpy, arrays)))
    return token.device


_cuda = None


def _is_cuda():
    """Whether the devices have streams; asked once."""
    global _cuda
    if _cuda is None:
        probe = Token((read((ctypes.c_double * 1)()),), 0)
        _cuda = bool(probe.stream)
        probe.release()
    return _cuda


def _numpy(array):
    import numpy
    return numpy.asarray(array)


def empty(shape, dtype="f8", order="C", one_address=False):
    """A NumPy array in memory of semcache_alloc; needed only where malloc is not semcache's.

    With one_address the memory is that of semcache_malloc, for kernels of the program (lend).
    """
    import math
    import weakref
    import numpy
    kind = numpy.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    count = math.prod(shape)
    allocate = _lib.semcache_malloc if one_address else _lib.semcache_alloc
    address = allocate(max(count * kind.itemsize, 1))
    if not address:
        raise MemoryError
    memory = (ctypes.c_char * max(count * kind.itemsize, 1)).from_address(address)
    weakref.finalize(memory, _lib.semcache_free, address)
    return numpy.frombuffer(memory, kind, count).reshape(shape, order=order)


def lend(*arrays, device=0):
    """Lends arrays of empty(..., one_address=True) to work on a CUDA device (semcache_lend), which may write them.

    Returns one object for each array, with `__cuda_array_interface__` and DLPack, for CuPy, Numba and PyTorch.  Work
    after a touch by the CPU needs a new call.  Error: there is no such memory, or no room; compute on the host then.
    """
    memory = [_views.Memory(array) for array in arrays]
    addresses = (ctypes.c_void_p * max(len(arrays), 1))(*[each.address for each in memory])
    _check(_lib.semcache_lend(device, addresses, len(arrays)))
    lent = tuple(Array(each.address, each.shape, each.strides, each.typestr, device, 1, each.readonly)
                 for each in memory)
    for array, each in zip(lent, memory):
        array.owner = each
    return lent
# SPDX-License-Identifier: BSD-2-Clause
