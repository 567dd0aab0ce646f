"""Memory of the program as a region, and memory of a place as an array of other packages."""
import ctypes
import sys

from . import _library

_READ_ONLY_RECORDS = 0x1C  # PyBUF_RECORDS_RO: any strides, with the format
_TYPES = {"f4": _library.FLOAT32, "f8": _library.FLOAT64, "c8": _library.COMPLEX64, "c16": _library.COMPLEX128}
_BY_BYTES = {4: _library.FLOAT32, 8: _library.FLOAT64, 16: _library.COMPLEX128}
_ORDER = "<" if sys.byteorder == "little" else ">"


class _Buffer(ctypes.Structure):
    """Py_buffer"""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
                ("internal", ctypes.c_void_p)]


_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes, _get.restype = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int], ctypes.c_int
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes, _release.restype = [ctypes.POINTER(_Buffer)], None


def _kind(text, size):
    """The type of a format of struct, as in NumPy's array interface."""
    letter = text.lstrip("@=<>!")
    kind = "c" if letter.startswith("Z") else "f" if letter in "efdg" else "b" if letter == "?" else \
        "u" if letter in "BHILQN" else "i"
    return _ORDER + kind + str(size)


class Memory:
    """Address, shape, strides in bytes and type of an object with the buffer protocol.  The object stays exported."""

    def __init__(self, thing):
        view = memoryview(thing)
        self._buffer = _Buffer()
        _get(view, ctypes.byref(self._buffer), _READ_ONLY_RECORDS)
        self.address, self.readonly, self.itemsize = self._buffer.buf or 0, view.readonly, view.itemsize
        self.shape, self.strides = view.shape, view.strides
        self.typestr = _kind(view.format, view.itemsize)

    def __del__(self):
        if getattr(self, "_buffer", None) is not None and self._buffer.obj:
            _release(ctypes.byref(self._buffer))


def type_of(memory):
    """Devices do not interpret data of tasks, so integers go by their size."""
    try:
        return _TYPES[memory.typestr[1:]] if memory.typestr[1:] in _TYPES else _BY_BYTES[memory.itemsize]
    except KeyError:
        raise TypeError("elements of %d bytes; devices take 4, 8 or 16 bytes" % memory.itemsize) from None


def layout_of(memory):
    """Up to three extents and distances in elements, and for each axis its dimension and distance in that one.

    Of more than three axes, axes that lie behind one another without gaps share a dimension.
    """
    extents, distances, axes = [], [], {}
    many = sum(extent > 1 for extent in memory.shape) > 3
    order = sorted(range(len(memory.shape)), key=lambda axis: (memory.strides[axis], axis))
    for axis in order:
        extent, stride = memory.shape[axis], memory.strides[axis]
        if extent == 1:
            axes[axis] = (0, 0)
            continue
        if stride <= 0 or stride % memory.itemsize:
            raise ValueError("strides must be positive multiples of the size of an element")
        stride //= memory.itemsize
        if not extents and stride > 1:
            extents.append(1)
            distances.append(1)
        if many and extents and stride == extents[-1] * distances[-1]:
            axes[axis] = (len(extents) - 1, extents[-1])
            extents[-1] *= extent
        else:
            if extents and stride < extents[-1] * distances[-1]:
                raise ValueError("elements overlap")
            extents.append(extent)
            distances.append(stride)
            axes[axis] = (len(extents) - 1, 1)
    if len(extents) > 3:
        raise ValueError("the array has more than three dimensions with gaps between them")
    while len(extents) < 3:
        distances.append(max(extents[-1] * distances[-1], 1) if extents else 1)
        extents.append(1)
    return extents, distances, [axes[axis] for axis in range(len(memory.shape))]


class _Tensor(ctypes.Structure):
    """DLManagedTensor"""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


_exported = {}  # keeps the parts of a tensor until the consumer calls the deleter
_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda tensor: None if _exported.pop(tensor, None) else None)
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.argtypes, _capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_CPU, _CUDA = 1, 2


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _unused(capsule):
    """The destructor of a capsule: a consumer that has taken the tensor renames the capsule."""
    address = _get_pointer(capsule, b"dltensor") if _is_valid(capsule, b"dltensor") else None
    if address:
        _exported.pop(address, None)


# A capsule in its destructor has no references. These functions therefore take the address of the capsule.
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


class Array:
    """An operand at the place of a token: valid until the release of the token.

    On the host and on emulated devices NumPy takes the array (`numpy.asarray`). On a CUDA device CuPy, Numba and
    PyTorch take the array by `__cuda_array_interface__` or DLPack.
    """

    def __init__(self, address, shape, strides, typestr, device, stream, readonly):
        self.address, self.shape, self.strides, self.typestr = address, tuple(shape), tuple(strides), typestr
        self.device, self.stream, self.readonly = device, stream, readonly

    def _interface(self, version):
        return {"data": (self.address, self.readonly), "shape": self.shape, "strides": self.strides,
                "typestr": self.typestr, "version": version}

    def __getattr__(self, name):  # an attribute for exactly one kind of place
        if name == "__array_interface__" and not self.stream:
            return self._interface(3)
        if name == "__cuda_array_interface__" and self.stream:
            return dict(self._interface(3), stream=self.stream)
        raise AttributeError(name)

    def __dlpack_device__(self):
        return (_CUDA, self.device) if self.stream else (_CPU, 0)

    def __dlpack__(self, stream=None, **_):
        """The data is ready behind self.stream.  Work on another stream must wait for self.stream first."""
        if self.readonly:
            raise BufferError("DLPack has no memory that is read only")
        kind, size = self.typestr[1], int(self.typestr[2:])
        shape = (ctypes.c_int64 * max(len(self.shape), 1))(*self.shape)
        strides = (ctypes.c_int64 * max(len(self.shape), 1))(*[stride // size for stride in self.strides])
        where, device = self.__dlpack_device__()
        tensor = _Tensor(self.address, where, device, len(self.shape), _CODES[kind], 8 * size, 1, shape, strides, 0,
                         None, ctypes.cast(_deleter, ctypes.c_void_p))
        address = ctypes.addressof(tensor)
        _exported[address] = (tensor, shape, strides, self)
        return _capsule(address, b"dltensor", ctypes.cast(_unused, ctypes.c_void_p))
# SPDX-License-Identifier: BSD-2-Clause
