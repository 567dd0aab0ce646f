#!/usr/bin/env python3
"""Seconds of three calls in a row of each routine of numpy.linalg and scipy.linalg, with new data for each call.

    semcache run python3 lapack_again.py [--scale S] [NAME...]

The first call has the opening of the devices in it, the third has not. The program reads a sum of every result. `again`
is the time of the same sum of the third result, whose data is then at home: the part of `seconds` that NumPy's own
arithmetic takes on any machine. S (1) multiplies the orders of the matrices. Prints one JSON object a routine.
"""
import argparse
import json
import sys
import time

import numpy as np
import scipy.linalg as sl


def general(n, seed):
    a = np.random.default_rng(seed).random((n, n)) - 0.5
    a[np.diag_indices(n)] += n
    return a


def positive(n, seed):
    a = general(n, seed)
    return a + a.T


def columns(n, seed):
    """By columns, as LAPACK has them: SciPy makes no transposed copy."""
    return np.asfortranarray(positive(n, seed))


# name: order, data, call
ROUTINES = {
    "numpy.cholesky": (10000, positive, np.linalg.cholesky),
    "scipy.cholesky": (10000, columns, lambda a: sl.cholesky(a, overwrite_a=True, check_finite=False)),
    "numpy.solve": (10000, general, lambda a: np.linalg.solve(a, np.ones(len(a)))),
    "scipy.lu_factor": (10000, lambda n, s: np.asfortranarray(general(n, s)),
                        lambda a: sl.lu_factor(a, overwrite_a=True, check_finite=False)[0]),
    "numpy.eigh": (4000, positive, np.linalg.eigh),
    "numpy.eigvalsh": (4000, positive, np.linalg.eigvalsh),
    "numpy.svd": (3000, general, np.linalg.svd),
    "numpy.inv": (6000, general, np.linalg.inv),
    "numpy.qr": (5000, general, np.linalg.qr),
    "numpy.lstsq": (2000, lambda n, s: np.vstack([general(n, s), general(n, s + 1)]),
                    lambda a: np.linalg.lstsq(a, np.ones(len(a)), rcond=None)[0]),
    "numpy.eig": (1200, general, np.linalg.eig),
}


def total(result):
    """The sum of all absolute values (vectors may have either sign), by which the program has read the whole result."""
    parts = result if isinstance(result, tuple) else (result,)
    return float(sum(np.abs(part).sum() for part in parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="of " + " ".join(ROUTINES))
    parser.add_argument("--scale", type=float, default=1)
    options = parser.parse_args()
    unknown = set(options.name) - set(ROUTINES)
    if unknown:
        parser.error(f"no such routine: {' '.join(sorted(unknown))}")
    for name in options.name or ROUTINES:
        order, make, call = ROUTINES[name]
        seconds = []
        for i in range(3):
            a = make(max(2, int(order * options.scale)), i)
            start = time.perf_counter()
            result = call(a)
            answer = total(result)
            seconds.append(round(time.perf_counter() - start, 4))
        start = time.perf_counter()
        total(result)
        again = round(time.perf_counter() - start, 4)
        print(json.dumps({"routine": name, "n": len(a), "seconds": seconds, "again": again, "sum": answer}))
        sys.stdout.flush()


main()
# SPDX-License-Identifier: BSD-2-Clause
