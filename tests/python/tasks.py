"""The package semcache against NumPy.  Started by tests/python.t, with devices and without."""
import ctypes
import random
import sys

import numpy as np
import semcache

devices = semcache.device_count()
places = list(range(devices)) + [semcache.HOST, semcache.ANY_DEVICE]
count = failed = 0
rng = random.Random(1)


def ok(good, title):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", title)


def raises(error, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except error:
        return True
    return False


def random_slice(array):
    """A slice with the array's own strides, sometimes of one element in a dimension, sometimes transposed."""
    index = []
    for extent in array.shape:
        first = rng.randrange(extent)
        index.append(slice(first, first + 1 if rng.random() < 0.2 else rng.randint(first + 1, extent)))
    part = tuple(index)
    return (lambda a: a[part]) if rng.random() < 0.5 else (lambda a: a[part].T)


def combine(place, y, x):
    assert place.device in places
    y += 2 * x


def test_random(kind, order):
    shape = (17, 23, 29)
    arrays = [np.asarray(np.arange(17 * 23 * 29).reshape(shape) % 100, kind, order) for _ in range(2)]
    plain = [array.copy() for array in arrays]
    wrong = there = 0
    for _ in range(100):
        part = random_slice(arrays[0])
        place = rng.choice(places)
        ran = semcache.run(combine, semcache.readwrite(part(arrays[0])), semcache.read(part(arrays[1])), device=place)
        wrong += ran not in (semcache.HOST, place if place >= 0 else ran)
        there += ran >= 0
        combine(type("place", (), {"device": ran}), part(plain[0]), part(plain[1]))
        at = tuple(rng.randrange(extent) for extent in shape)
        wrong += arrays[0][at] != plain[0][at]
        if rng.random() < 0.2:
            arrays[1][at] = plain[1][at] = rng.randrange(100)
    wrong += int((arrays[0] != plain[0]).sum())
    ok(wrong == 0, "random slices of %s, order %s: %d wrong" % (np.dtype(kind), order, wrong))
    if devices and arrays[0].nbytes >= 65536:
        ok(there > 40, "of 100 tasks %d ran on devices" % there)


def test_ranges():
    x = np.arange(100000.0)
    ranges = [(500, 300), (0, 10), (70000, 20000), (90000, 0)]

    def negate(place, y):
        assert y.shape == (20310,) and y[0] == 500 and y[300] == 0
        y *= -1

    expected = np.arange(100000.0)
    for first, length in ranges:
        expected[first:first + length] *= -1
    for place in places:
        x[:] = np.arange(100000.0)
        semcache.run(negate, semcache.readwrite(semcache.Region(x, ranges)), device=place)
        ok(bool((x == expected).all()), "ranges of an array at place %d" % place)
    ok(raises(IndexError, semcache.Region, x, [(99999, 2)]), "a range beyond the array")


def test_tokens():
    x = np.zeros((100, 200))
    with semcache.acquire(semcache.readwrite(x), device=places[0]) as (view,):
        view = np.asarray(view)
        view[:] = 5
        inside = x[3, 3]
    ok(inside == (0 if devices else 5) and (x == 5).all(), "a token: the release writes")
    if devices:
        try:
            with semcache.acquire(semcache.readwrite(x), device=0) as (view,):
                np.asarray(view)[:] = 6
                raise KeyError
        except KeyError:
            pass
        ok((x == 5).all(), "an exception ends the token without writing")
        with semcache.acquire(semcache.readwrite(x.T), device=0) as (view,):
            tensor = np.from_dlpack(view)
            good = tensor.shape == (200, 100) and (tensor == 5).all()
        ok(bool(good), "DLPack")
    with semcache.acquire(semcache.read(x)) as (view,):
        ok(not np.asarray(view).flags.writeable and raises(BufferError, view.__dlpack__), "a read token is read only")


def test_interfaces():
    """A CUDA device's array, described without a device."""
    on_cuda = semcache.Array(4096, (3, 4), (32, 8), "<f8", 1, 77, False)
    ok(on_cuda.__cuda_array_interface__ == {"data": (4096, False), "shape": (3, 4), "strides": (32, 8),
                                            "typestr": "<f8", "version": 3, "stream": 77} and
       not hasattr(on_cuda, "__array_interface__") and on_cuda.__dlpack_device__() == (2, 1), "CUDA")
    capsule = on_cuda.__dlpack__()
    from semcache import _views
    held = len(_views._exported)
    del capsule
    ok(held == 1 and not _views._exported, "a tensor that nobody takes is freed")


def test_compiled():
    from semcache import _library
    function = ctypes.CFUNCTYPE(None, ctypes.POINTER(_library.Place), ctypes.POINTER(_library.View), ctypes.c_int,
                                ctypes.c_void_p)
    libc_like = ctypes.CDLL(sys.argv[1]).double_it
    x = np.arange(50000.0)
    for place in places:
        semcache.run(function(("double_it", ctypes.CDLL(sys.argv[1]))), semcache.readwrite(x), device=place,
                     arguments=ctypes.c_double(3), kernel=libc_like)
    ok(bool((x == np.arange(50000.0) * 3.0 ** len(places)).all()), "functions of a library run in place")


def test_movement():
    x = semcache.empty((512, 512))
    x[:] = 1
    region = semcache.Region(x)
    if devices:
        region.distribute(semcache.COLUMNS)
        ok(sum(region.resident(d) for d in range(devices)) == x.nbytes, "an array is distributed")
        region.prefetch(0)
        ok(region.resident(0) == x.nbytes, "and brought to one device")
        semcache.run(lambda place, y: y.fill(3), semcache.write(x), device=0)
        ok(region.resident(semcache.HOST) == 0, "a result is not at home")
        region.prefetch(semcache.HOST)
    region.wait()
    ok(region.resident(semcache.HOST) == x.nbytes and x[5, 5] == (3 if devices else 1), "and is brought home")


def test_errors():
    x = np.zeros(1000)
    ok(raises(semcache.Error, semcache.run, combine, semcache.read(x), semcache.readwrite(x)), "overlapping operands")
    ok(raises(TypeError, semcache.Region, np.zeros(10, "i1")), "elements of one byte")
    ok(raises(ValueError, semcache.Region, x[::-1]), "negative strides")
    ok(raises(ValueError, semcache.write, memoryview(x).toreadonly()), "a read-only buffer")
    ok(raises(semcache.Error, semcache.acquire, semcache.read(x), device=-9), "no such device")
    y = semcache.empty((30, 40), "c16", "F")
    y[:] = 1j
    semcache.run(lambda place, a: np.multiply(a, a, a), semcache.readwrite(y), device=places[0])
    ok(bool((y == -1).all()) and semcache.statistics()["calls_host"] >= 0 and semcache.version() != "",
       "memory of the library, complex elements")


def test_one_address():
    x = semcache.empty((30, 40), "f4", one_address=True)
    x[:] = 2
    ok(raises(semcache.Error, semcache.lend, x) and raises(semcache.Error, semcache.lend) and bool((x == 2).all()),
       "memory for kernels, which no device of this test has")


for kind in ("f8", "f4", "c16", "i8", "i4"):
    for order in "CF":
        test_random(kind, order)
test_ranges()
test_tokens()
test_interfaces()
test_compiled()
test_movement()
test_one_address()
test_errors()
print("1..%d" % count)
sys.exit(failed != 0)
# SPDX-License-Identifier: BSD-2-Clause
