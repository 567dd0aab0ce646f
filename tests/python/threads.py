"""Tasks in some threads, while other threads touch neighbours of the results on the same pages."""
import threading

import numpy as np
import semcache

TIMES, THREADS = 60, 3
x = np.zeros(40000)
semcache.device_count()


def compute(own):
    part = x[own * 10000:own * 10000 + 9000]
    for i in range(TIMES):
        semcache.run(lambda place, y: np.add(y, 1, y), semcache.readwrite(part), device=i % 2)


def touch(own):
    for _ in range(TIMES * 10):
        x[own * 10000 + 9500] += 1


threads = [threading.Thread(target=f, args=(own,)) for own in range(THREADS) for f in (compute, touch)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for own in range(THREADS):
    assert (x[own * 10000:own * 10000 + 9000] == TIMES).all(), own
    assert x[own * 10000 + 9500] == TIMES * 10, own
# SPDX-License-Identifier: BSD-2-Clause
