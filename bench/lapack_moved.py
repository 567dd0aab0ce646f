#!/usr/bin/env python3
"""LAPACK's routines under semcache beside cuSOLVER by hand, on the GPU of the same machine.

    python3 lapack_moved.py BUILD ORDER routine... [--device cuda:0] [--seconds S]

`moved`: seconds from operands that the CPU has just written to a result that the CPU has read; by hand with pinned
transfers in both directions. `core`: seconds of the routine on operands of a device, the shortest of several calls.
Both clocks of `core` start when the device is idle and has the operands, and stop when the routine's work is done.
cuSOLVER has S seconds (60). Prints a table.
"""
import argparse
import json
import os
import subprocess


def lines(command, environment=None):
    """The JSON objects that a program prints, by the names of routines."""
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.stderr:
        print(f"{' '.join(command)}: {run.stderr.strip()}")
    seen = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return {row["routine"]: row for row in seen if "routine" in row}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the folder where semcache was built")
    parser.add_argument("order")
    parser.add_argument("routine", nargs="+")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_intermixed_args()
    build, rates = os.path.abspath(options.build), "bench/lapack_rates"
    ours = lines([f"{build}/tools/semcache", "run", "--device", options.device, "--offload", "always",
                  f"{build}/bench/lapack_moved", options.order, *options.routine],
                 {**os.environ, "SEMCACHE_OPEN": "first"})
    hand = {}
    if options.device.startswith("cuda"):
        hand = lines([f"{build}/{rates}", "--type", "d", "--seconds", str(options.seconds),
                      "--size", options.order, *options.routine])
    print("| routine | moved ms | by hand | ratio | core ms | by hand | ratio |\n|" + " --- |" * 7)
    for name in options.routine:
        cells = [name]
        for figure in "moved", "core":
            pair = [rows.get(name, {}).get(figure) for rows in (ours, hand)]
            cells += [f"{1e3 * seconds:.2f}" if seconds else "" for seconds in pair]
            cells.append(f"{pair[0] / pair[1]:.2f}" if all(pair) else "")
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: BSD-2-Clause
