#!/usr/bin/env python3
"""Runs unmodified programs without and with semcache (default settings) in turn; compares times and results.

Prints a table, and writes the table as JSON with --json. doc/programs.md explains the columns. Exit status 1 if a
program fails, has a different result, or is too slow. The bound is RATIO times the host's time plus OPENING seconds, an
allowance for opening the devices.
"""
import argparse
import glob
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RATIO, OPENING = 1.05, 0.5
HERE = os.path.dirname(os.path.abspath(__file__))

# The programs in order of importance: group, language, and the arguments after the scale (or the name of the file).
PROGRAMS = {}
for group, names in (
    ("lapack", "cholesky eigh svd solve"),
    ("level3", "matmul"),
    ("solvers", "lobpcg cg_dense"),
    ("data", "logistic gaussian_process network"),
    ("lapack", "qr inv eigvalsh lstsq eig"),
    ("solvers", "eigsh gmres power"),
    ("data", "pca ridge kmeans kalman"),
    ("level3", "expm einsum matmul_single steps"),
    ("sparse", "cg_sparse gmres_sparse"),
):
    for name in names.split():
        PROGRAMS[name] = group, "python", name, ()
for name in "nmf pls factors perceptron discriminant isomap vectors kernel bayes dictionary".split():
    PROGRAMS[f"sk_{name}"] = "estimators", "estimators", "estimators", (name,)
for name in "jacobi_own cg_own lu_own gmres_columns orthogonal".split():
    PROGRAMS[name] = "c", "c", name, ()
for start in "fork", "spawn":
    for count in "2", "8":
        PROGRAMS[f"pool_{start}{count}"] = "pools", "python", "pool", (start, count)
for name in "solve chol svd eigen qr lm prcomp crossprod".split():
    PROGRAMS[f"r_{name}"] = "r", "r", "linear", (name,)
for name in "mtimes mldivide chol svd eig inv expm".split():
    PROGRAMS[f"octave_{name}"] = "octave", "octave", "linear", (name,)


class Missing(Exception):
    """What a program needs is not on this machine."""


class Languages:
    """Command lines of the programs; C programs are compiled once, into a scratch folder."""

    def __init__(self, options, scratch):
        self.options, self.scratch, self.known = options, scratch, {}

    def command(self, name):
        _, language, source, arguments = PROGRAMS[name]
        if language not in self.known:
            self.known[language] = self.reason(language)
        if self.known[language]:
            raise Missing(self.known[language])
        return [*getattr(self, language)(source), *arguments]

    def reason(self, language):
        """Why programs of this language do not run here, or None."""
        modules = {"python": "numpy, scipy", "estimators": "sklearn"}.get(language)
        if modules:
            has = subprocess.run([self.options.python, "-c", f"import {modules}"], capture_output=True, check=False)
            return None if has.returncode == 0 else f"no {modules.replace(',', ' and')}"
        tool = {"c": self.options.cc.split()[0], "r": "Rscript", "octave": "octave-cli"}[language]
        return None if shutil.which(tool) else f"no {tool}"

    def python(self, source):
        return [self.options.python, f"{HERE}/python/{source}.py", self.options.scale]

    estimators = python

    def r(self, source):
        return ["Rscript", f"{HERE}/r/{source}.R", self.options.scale]

    def octave(self, source):
        return ["octave-cli", "-q", f"{HERE}/octave/{source}.m", self.options.scale]

    def c(self, source):
        program = os.path.join(self.scratch, source)
        for libraries in self.options.libraries.split(","):
            build = [*self.options.cc.split(), "-O2", "-o", program, f"{HERE}/c/{source}.c", *libraries.split(), "-lm"]
            if os.path.exists(program) or subprocess.run(build, capture_output=True, check=False).returncode == 0:
                return [program, self.options.scale]
        raise Missing("no BLAS to link with")


def run_once(command, limit, statistics=None):
    """Runs a program for at most `limit` seconds: its seconds, those of the process, results, and what went wrong."""
    start = time.monotonic()
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                          start_new_session=True) as process:
        try:
            output, messages = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {"seconds": limit, "process": limit, "results": {}, "killed": True, "failed": f"over {limit:.0f} s"}
    seen = {"process": time.monotonic() - start, "results": {}, "seconds": 0.0, "messages": messages.strip()[-2000:]}
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["seconds"]:
            seen["seconds"] += float(words[1])
        elif words[:1] == ["result"]:
            seen["results"][words[1]] = float(words[2]), [float(word) for word in words[3:]]
    if process.returncode != 0 or not seen["results"]:
        seen["failed"] = f"status {process.returncode}: {messages.strip()[-300:]}"
    if statistics:
        seen["counts"] = counts(statistics)
    return seen


def counts(pattern):
    """The statistics of all processes of one run, added up."""
    total = {"up": 0, "down": 0, "faults": 0, "offloaded": 0, "host": 0, "evictions": 0}
    for name in glob.glob(pattern.replace("%p", "*")):
        with open(name, encoding="utf-8") as file:
            found = json.load(file)
        os.unlink(name)
        total["up"] += found["bytes"]["h2d"]
        total["down"] += found["bytes"]["d2h"]
        total["faults"] += sum(found["faults"].values())
        total["evictions"] += found["evictions"]
        for where in "offloaded", "host":
            total[where] += sum(call[where] for call in found["calls"].values())
    return total


def difference(mine, other):
    """Why the results of two runs are not the same, or None."""
    for name, (tolerance, values) in mine.items():
        others = other.get(name, (0, ()))[1]
        if len(others) != len(values):
            return f"{name}: {len(others)} values for {len(values)}"
        largest = max(map(abs, values), default=0)
        worst = max((abs(a - b) if math.isfinite(b) else math.inf for a, b in zip(values, others)), default=0)
        if not worst <= tolerance * largest:
            return f"{name}: differs by {worst:.1e} of {largest:.1e}"
    return None


def best(runs, key):
    return min((run[key] for run in runs if "failed" not in run), default=None)


def judge(host, ours):
    """The row of a program, from its runs."""
    row = {"host": best(host, "seconds"), "semcache": best(ours, "seconds"), "host_process": best(host, "process"),
           "semcache_process": best(ours, "process"), "runs": {"host": host, "semcache": ours}}
    failed = [run["failed"] for run in host if "failed" in run]
    if failed or not host:
        return dict(row, verdict="NOT RUN", why=f"host alone: {(failed or ['no time left'])[0]}")
    wrong = [run["failed"] for run in ours if "failed" in run]
    wrong += filter(None, (difference(host[0]["results"], run["results"]) for run in ours if "failed" not in run))
    row["counts"] = next((run["counts"] for run in ours if "counts" in run), None)
    if row["semcache"] is not None:
        row["ratio"] = row["semcache"] / max(row["host"], 1e-9)
    if wrong:
        row["at_least"] = max(run["seconds"] for run in ours) if all("killed" in run for run in ours) else None
        return dict(row, verdict="FAIL", why=wrong[0])
    for name in ("", "_process"):
        if row["semcache" + name] > RATIO * row["host" + name] + OPENING:
            return dict(row, verdict="FAIL", why="slower" + (" as a whole process" if name else ""))
    return dict(row, verdict="ok", why="")


class Corpus:
    """Runs the programs that were chosen within the time that is left."""

    def __init__(self, options, scratch):
        self.options, self.languages = options, Languages(options, scratch)
        self.statistics = os.path.join(scratch, "stats.%p")
        self.until = time.monotonic() + options.budget

    def left(self):
        return self.until - time.monotonic()

    def one(self, name):
        """A B A B...: rounds of the host alone and of semcache, as many as the program's budget allows."""
        try:
            command = self.languages.command(name)
        except Missing as reason:
            return {"verdict": "NOT RUN", "why": str(reason)}
        under = [self.options.semcache, "run", "--stats", self.statistics, *self.options.option, "--", *command]
        start, host, ours = time.monotonic(), [], []
        for _ in range(self.options.rounds):
            spent = time.monotonic() - start
            if host and spent + spent / len(host) > min(self.options.each, self.left() + spent):
                break
            host.append(run_once(command, max(1, min(self.options.each, self.left()))))
            if "failed" in host[-1]:
                break
            limit = min(4 * host[0]["process"] + 10, max(1, self.left()))
            ours.append(run_once(under, limit, self.statistics))
            if "failed" in ours[-1]:
                break
        return judge(host, ours)

    def run(self, names, report):
        rows = {}
        for name in names:
            row = {"verdict": "NOT RUN", "why": "no time left"} if self.left() < 5 else self.one(name)
            rows[name] = dict(row, group=PROGRAMS[name][0])
            report(name, rows[name])
            if self.options.json:
                with open(self.options.json, "w", encoding="utf-8") as file:
                    json.dump({"scale": self.options.scale, "programs": rows}, file, indent=1)
        return rows


def number(value, form, unit=1.0):
    return "" if value is None else format(value / unit, form)


COLUMNS = "program", "host s", "semcache s", "ratio", "calls on devices", "faults", "GB up", "GB down", "verdict"


def markdown(name, row):
    """The row of the table: seconds of the program's work, without its start and the making of data."""
    seen = row.get("counts") or {}
    ours = number(row.get("semcache"), ".3f") or ("> " + number(row["at_least"], ".1f") if row.get("at_least") else "")
    cells = (name, number(row.get("host"), ".3f"), ours, number(row.get("ratio"), ".2f"),
             number(seen.get("offloaded"), ".0f"), number(seen.get("faults"), ".0f"),
             number(seen.get("up"), ".2f", 1e9), number(seen.get("down"), ".2f", 1e9),
             row["verdict"] + (f": {row['why']}" if row["why"] else ""))
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "/") for cell in cells) + " |"


def choose(words, skipped):
    """Programs by name, group or language, in order of importance; all of them without words."""
    known = set(PROGRAMS).union(*(program[:2] for program in PROGRAMS.values()))
    for word in [*words, *skipped]:
        if word not in known:
            sys.exit(f"run.py: no program or group '{word}'; there are: {' '.join(sorted(known))}")
    matches = lambda name, chosen: {name, *PROGRAMS[name][:2]} & set(chosen)
    return [name for name in PROGRAMS if (not words or matches(name, words)) and not matches(name, skipped)]


def write_block(path, lines):
    """Replaces what stands between the marks of the generated block of a document."""
    begin, end = "<!-- bench/programs/run.py writes this -->", "<!-- until here -->"
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(begin + "\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([before + begin, *lines, end + rest.split(end)[1]]))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("semcache", help="the command, or the folder where it was built")
    add("program", nargs="*", help="names or groups; all without")
    add("--scale", default="full", choices=("full", "quick", "check"))
    add("--quick", dest="scale", action="store_const", const="quick", help="smaller problems")
    add("--skip", action="append", default=[], help="a program or group that does not run")
    add("--rounds", type=int, default=2, help="runs of each, host and semcache in turn")
    add("--budget", type=float, default=math.inf, help="seconds in all")
    add("--each", type=float, default=90, help="seconds for each program")
    add("--option", action="append", default=[], help="for semcache run, as --option=--device=emu:h200x8:1")
    add("--python", default=sys.executable)
    add("--cc", default=os.environ.get("CC", "cc"))
    add("--libraries", default="-lopenblas,-lblas", help="to link C programs with; the first that links")
    add("--json", help="a file for all figures")
    add("--document", help="a document whose generated block gets the table")
    add("--list", action="store_true", help="prints the names and ends")
    options = parser.parse_intermixed_args()
    if os.path.isdir(options.semcache):
        options.semcache = os.path.join(options.semcache, "tools/semcache")
    options.semcache = shutil.which(options.semcache) or sys.exit(f"run.py: there is no {options.semcache}")
    options.semcache = os.path.abspath(options.semcache)
    return options


def main():
    options = parse()
    names = choose(options.program, options.skip)
    if options.list:
        print("\n".join(names))
        return 0
    lines = ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join("---" for _ in COLUMNS) + " |"]
    print("\n".join(lines), flush=True)

    def report(name, row):
        lines.append(markdown(name, row))
        print(lines[-1], flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        rows = Corpus(options, scratch).run(names, report)
    if options.document:
        write_block(options.document, lines)
    verdicts = [row["verdict"] for row in rows.values()]
    print(f"{verdicts.count('ok')} ok, {verdicts.count('FAIL')} FAIL, {verdicts.count('NOT RUN')} not run", flush=True)
    return 1 if "FAIL" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: BSD-2-Clause
