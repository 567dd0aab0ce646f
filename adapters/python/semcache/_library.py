"""The library and the structs of semcache.h and tasks.h, by ctypes."""
import ctypes
import glob
import os

OPERANDS_MAX = 8
FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = range(4)
NAMES = ("semcache_token_acquire", "semcache_token_release", "semcache_run")


class Range(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int64), ("count", ctypes.c_int64)]


class Region(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("memory", ctypes.c_void_p), ("type", ctypes.c_int),
                ("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("planes", ctypes.c_int64),
                ("ld", ctypes.c_int64), ("plane", ctypes.c_int64), ("ranges", ctypes.POINTER(Range)),
                ("range_count", ctypes.c_int64)]


class View(ctypes.Structure):
    _fields_ = [("memory", ctypes.c_void_p), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
                ("planes", ctypes.c_int64), ("ld", ctypes.c_int64), ("plane", ctypes.c_int64), ("type", ctypes.c_int),
                ("mode", ctypes.c_int)]


class Place(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_int), ("stream", ctypes.c_void_p)]


class Operand(ctypes.Structure):
    _fields_ = [("region", ctypes.POINTER(Region)), ("mode", ctypes.c_int)]


class Token(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("id", ctypes.c_uint64), ("place", Place), ("count", ctypes.c_int),
                ("views", View * OPERANDS_MAX)]


class Task(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kernel", ctypes.c_void_p), ("host", ctypes.c_void_p),
                ("operands", ctypes.POINTER(Operand)), ("count", ctypes.c_int), ("arguments", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t), ("device", ctypes.c_int), ("name", ctypes.c_char_p),
                ("host_seconds", ctypes.c_double), ("device_seconds", ctypes.c_double)]


class Decomposition(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("cut", ctypes.c_int), ("parts", ctypes.c_int64), ("devices", ctypes.c_int),
                ("block_rows", ctypes.c_int64), ("block_cols", ctypes.c_int64), ("grid_rows", ctypes.c_int),
                ("grid_cols", ctypes.c_int), ("part", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class Statistics(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_uint64) for name in (
        "calls_offloaded", "calls_host", "bytes_h2d", "bytes_d2h", "bytes_d2d", "transfers_h2d", "transfers_d2h",
        "transfers_d2d", "faults_read", "faults_write", "hits", "misses", "evictions", "reshapes", "percall_in",
        "percall_out", "bytes_pushed")]


def _candidates():
    """The library of the process; of the variable; beside the package; of the system."""
    yield None
    if os.environ.get("LIBSEMCACHE"):
        yield os.environ["LIBSEMCACHE"]
    root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 5))
    for pattern in ("lib/libsemcache.so.0", "lib/*/libsemcache.so.0", "lib64/libsemcache.so.0"):
        yield from sorted(glob.glob(os.path.join(root, pattern)))
    yield "libsemcache.so.0"


def _load():
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        if all(hasattr(library, function) for function in NAMES):
            return library
    raise ImportError("libsemcache was not found: start Python by `semcache run`, or name the file in "
                      "LIBSEMCACHE")


library = _load()
_pointer = ctypes.POINTER
for _name, _result, _arguments in (
        ("init", ctypes.c_int, []),
        ("device_count", ctypes.c_int, []),
        ("set_device", ctypes.c_int, [ctypes.c_char_p]),
        ("status_name", ctypes.c_char_p, [ctypes.c_int]),
        ("version", ctypes.c_char_p, []),
        ("alloc", ctypes.c_void_p, [ctypes.c_size_t]),
        ("malloc", ctypes.c_void_p, [ctypes.c_size_t]),
        ("lend", ctypes.c_int, [ctypes.c_int, _pointer(ctypes.c_void_p), ctypes.c_int]),
        ("free", None, [ctypes.c_void_p]),
        ("sync", ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t]),
        ("statistics", ctypes.c_int, [_pointer(Statistics)]),
        ("region_prefetch", ctypes.c_int, [_pointer(Region), ctypes.c_int]),
        ("advise", ctypes.c_int, [_pointer(Region), ctypes.c_int]),
        ("region_wait", ctypes.c_int, [_pointer(Region)]),
        ("region_resident", ctypes.c_int, [_pointer(Region), ctypes.c_int, _pointer(ctypes.c_uint64)]),
        ("part_count", ctypes.c_int64, [_pointer(Decomposition), _pointer(Region)]),
        ("part", ctypes.c_int, [_pointer(Decomposition), _pointer(Region), ctypes.c_int64, ctypes.c_int64,
                                _pointer(Region), _pointer(ctypes.c_int)]),
        ("distribute", ctypes.c_int, [_pointer(Decomposition), _pointer(Region)]),
        ("run", ctypes.c_int, [_pointer(Task), _pointer(ctypes.c_int)]),
        ("token_acquire", ctypes.c_int, [_pointer(Operand), ctypes.c_int, ctypes.c_int, _pointer(Token)]),
        ("token_release", ctypes.c_int, [_pointer(Token)]),
        ("token_cancel", ctypes.c_int, [_pointer(Token)])):
    _function = getattr(library, "semcache_" + _name)
    _function.restype, _function.argtypes = _result, _arguments
# SPDX-License-Identifier: BSD-2-Clause
