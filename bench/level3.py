#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Level 3 routines until threads have read the result, under semcache and by cuBLASXt in the same run.

Runs bench/level3 under semcache and bench/xt_level3, where the program was built, for each size and number of GPUs.
With --peer the same program also runs with another BLAS for GPUs, which is preloaded (XKBLAS's library with the names
of the BLAS, NVBLAS); settings of that library, such as its number of GPUs, come from the environment.
The programs' inputs are written by the host before each round.  Prints a table, and writes all figures as JSON with
--json after each step, so that a run that is cut off leaves its figures.  Exit status 1: a wrong result.
"""
import argparse
import json
import os
import subprocess
import sys
import time

ROUTINES = "gemm", "symm", "syrk", "syr2k", "trmm", "trsm"


def lines(command, extra):
    """The JSON lines of a program; an error of the program is printed."""
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **extra})
    rows = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode or not rows:
        print(f"level3.py: {' '.join(command)}: status {run.returncode}: {run.stderr.strip()}", file=sys.stderr)
    return rows


def device(options, count):
    """The value of SEMCACHE_DEVICE for so many devices."""
    if options.device == "cuda":
        return "cuda:" + ",".join(str(i) for i in range(count))
    return f"{options.device}:{count}"


def measure(options, n, count):
    """Rows of one size on so many devices, the peer's figures in them."""
    def left():
        return max(0.0, options.seconds - (time.monotonic() - options.start))

    def arguments(rounds):
        return ["-t", str(options.threads), "-r", str(rounds), "-b", options.betas, "-c", str(options.calls),
                "-s", str(left()), str(n),
                *(options.type + name for name in options.routines)]

    if left() == 0:
        return []
    program = os.path.join(options.build, "bench/level3" + ("" if options.type == "d" else f"_{options.type}"))
    ours = [os.path.join(options.build, "tools/semcache"), "run", "--device", device(options, count),
            program, *arguments(options.rounds)]
    rows = lines(ours, {"SEMCACHE_OPEN": "first"})
    peer = os.path.join(options.build, "bench/xt_level3")
    others = {}
    if options.device == "cuda" and options.type == "d" and not options.no_xt and os.path.exists(peer) and left() > 0:
        others = {(row["routine"], row["beta"]): row
                  for row in lines([peer, *arguments(1)], {"XT_DEVICES": str(count)})}
    preloaded = {}
    if options.peer and left() > 0:
        command = [program, *arguments(options.rounds)]
        preloaded = {(row["routine"], row["beta"]): row for row in lines(command, {"LD_PRELOAD": options.peer})}
    for row in rows:
        row["devices"] = count
        row["peer"] = preloaded.get((row["routine"], row["beta"]))
        row["xt"] = others.get((row["routine"], row["beta"]))
        row["ratio"] = row["xt"] and row["tflops"] / row["xt"]["tflops"]
    return rows


def write(options, rows):
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": options.device, "threads": options.threads, "rows": rows}, file, indent=1)


def print_data(name):
    """The lines of doc/level3.dat, from the figures of one device and beta = 0 in a JSON file; ?: not measured."""
    with open(name, encoding="utf-8") as file:
        rows = [row for row in json.load(file)["rows"] if row["devices"] == 1 and row["beta"] == 0 and row["ok"]]
    for row in sorted(rows, key=lambda row: (ROUTINES.index(row["routine"][1:]), row["n"])):
        others = [f"{other['tflops']:.1f}" if other else "?" for other in (row["xt"], row.get("peer"))]
        print(row["routine"], row["n"], f"{row['tflops']:.1f}", *others)


def print_rows(rows):
    for row in rows:
        same = [r for r in rows if r["routine"] == row["routine"] and r["beta"] == 0]
        slower = f"{row['seconds'] / same[0]['seconds']:.2f}" if row["beta"] and same else ""
        xt = row["xt"]
        peer = row["peer"]
        wrong = ("" if row["ok"] else "WRONG") + ("" if not xt or xt["ok"] else " cuBLASXt WRONG")
        wrong += "" if not peer or peer["ok"] else " peer WRONG"
        print(f"| {row['routine']} | {row['n']} | {row['devices']} | {row['beta']:g} | {row['tflops']:.1f} "
              f"| {1e3 * row['seconds']:.2f} | {1e3 * row['call_seconds']:.2f} | {1e3 * row['first_seconds']:.0f} "
              f"| {slower} | {xt['tflops'] if xt else float('nan'):.1f} | {xt['parameter'] if xt else ''} "
              f"| {row['ratio'] or float('nan'):.2f} | {peer['tflops'] if peer else float('nan'):.1f} | {wrong} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=".", help="the folder where semcache was built")
    parser.add_argument("--device", default="cuda", help="cuda, or an emulated machine (emu:h200x8)")
    parser.add_argument("--devices", type=int, nargs="+", default=[1], help="numbers of devices")
    parser.add_argument("--sizes", type=int, nargs="+", default=[4096, 8192, 16384, 32768])
    parser.add_argument("--routines", nargs="+", default=list(ROUTINES), choices=ROUTINES)
    parser.add_argument("--type", default="d", choices=["s", "d", "c", "z"], help="other types: without cuBLASXt")
    parser.add_argument("--calls", type=int, default=1, help="calls one after the other in a round")
    parser.add_argument("--betas", default="01", choices=["0", "1", "01"])
    parser.add_argument("--rounds", type=int, default=3, help="rounds after the first round; the best one counts")
    parser.add_argument("--threads", type=int, default=8, help="threads that read the result")
    parser.add_argument("--seconds", type=float, default=1e9, help="no row begins later")
    parser.add_argument("--no-xt", action="store_true", help="without cuBLASXt")
    parser.add_argument("--peer", help="a shared library with a BLAS for GPUs, to compare with")
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--data", help="print the lines of doc/level3.dat from such a file, and measure nothing")
    options = parser.parse_args()
    if options.data:
        print_data(options.data)
        return 0
    options.start = time.monotonic()
    rows = []
    print("| routine | n | GPUs | beta | TFLOP/s | ms | call ms | first ms | beta 1 / 0 | cuBLASXt TFLOP/s | its block "
          "| ratio | peer TFLOP/s | |\n|" + " --- |" * 14, flush=True)
    for n in options.sizes:
        for count in options.devices:
            found = measure(options, n, count)
            print_rows(found)
            rows += found
            write(options, rows)
    return 0 if rows and all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
