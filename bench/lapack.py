#!/usr/bin/env python3
"""Times of LAPACK in unmodified NumPy programs: on the host alone, under semcache, and by hand with cuSOLVER.

The programs and their comparison are those of bench/programs/run.py, whose options are accepted.  "By hand" is
bench/lapack_rates: the same routine and order, with pinned transfers of inputs and outputs, without the start of the
process.  Prints a table, and writes all figures as JSON with --json.  Exit status as run.py.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# The programs, and the routine of bench/lapack_rates with the same result.  lstsq has none: gelsd is no routine of
# cuSOLVER.
PROGRAMS = {"cholesky": "potrf", "solve": "gesv", "inv": "inverse", "qr": "qr", "eigh": "syevd",
            "eigvalsh": "syevd_values", "svd": "gesvdp", "eig": "geev", "lstsq": None}
SCALES = "full", "quick", "check"


def order(program, scale):
    """The order of the program's matrix, from its source."""
    with open(f"{HERE}/programs/python/{program}.py", encoding="utf-8") as file:
        found = re.search(r"\bsize\((\d+), (\d+), (\d+)\)", file.read())
    return int(found[1 + SCALES.index(scale)]) if found else None


def by_hand(build, program, scale):
    """The line of bench/lapack_rates for the program's routine, or None."""
    n, rates = order(program, scale), os.path.join(build, "bench/lapack_rates")
    if not PROGRAMS[program] or not n or not os.path.exists(rates):
        return None
    command = [rates, "--type", "d", "--size", str(n), PROGRAMS[program]]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in run.stdout.splitlines():
        seen = json.loads(line)
        if seen.get("routine") == PROGRAMS[program]:
            return seen
    print(f"lapack.py: {' '.join(command)}: {run.stderr.strip() or 'no figure'}", file=sys.stderr)
    return None


def run_programs(options, others):
    """The rows of run.py, and its exit status."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "rows.json")
        command = [sys.executable, f"{HERE}/programs/run.py", options.build, *options.program, "--scale", options.scale,
                   "--json", path, *others]
        status = subprocess.run(command, check=False).returncode
        if not os.path.exists(path):
            sys.exit(status or 1)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["programs"], status


def ratio(above, below):
    return above / below if above and below else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the folder where semcache was built")
    parser.add_argument("program", nargs="*", help=f"of {' '.join(PROGRAMS)}; all without")
    parser.add_argument("--scale", default="full", choices=SCALES)
    parser.add_argument("--json", help="a file for all figures")
    options, others = parser.parse_known_args()
    options.program = options.program or list(PROGRAMS)
    if set(options.program) - set(PROGRAMS):
        parser.error("programs are " + " ".join(PROGRAMS))
    rows, status = run_programs(options, others)
    print("\n| program | n | host s | by hand s | semcache s | host / semcache | semcache / by hand |")
    print("|" + " --- |" * 7)
    for name in options.program:
        row, hand = rows[name], by_hand(options.build, name, options.scale)
        row.update(n=order(name, options.scale), by_hand=hand, speedup=ratio(row.get("host"), row.get("semcache")))
        row["to_hand"] = ratio(row.get("semcache"), hand and hand["moved"])
        cells = [row["n"], row.get("host"), hand and hand["moved"], row.get("semcache"), row["speedup"], row["to_hand"]]
        forms = "d", ".3f", ".4f", ".3f", ".2f", ".2f"
        texts = ["" if cell is None else format(cell, form) for cell, form in zip(cells, forms)]
        print("| " + " | ".join([name, *texts]) + " |", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"scale": options.scale, "programs": rows}, file, indent=1)
    return status


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: BSD-2-Clause
