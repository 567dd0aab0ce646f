"""Compiled code that is kept in the user's cache folder, as Python keeps modules in __pycache__.

Parsing and rewriting the solvers of SciPy takes 0.3 s, for programs that never call one, too.
"""
import hashlib
import importlib.util
import marshal
import os
import sys


def stamp(file):
    known = os.stat(file)
    return file, known.st_size, known.st_mtime_ns


def place(key):
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "semcache", "python", hashlib.sha256(repr(key).encode()).hexdigest()[:32])


def read(path, key):
    """None: the file is absent, unreadable, or of other versions."""
    try:
        with open(path, "rb") as file:
            found, codes = marshal.load(file)
        return codes if found == key else None
    except (OSError, EOFError, ValueError, TypeError):
        return None


def write(path, key, codes):
    """As a whole or not at all: other processes may write the same file."""
    own = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(own, "wb") as file:
            marshal.dump((key, codes), file)
        os.replace(own, path)
    except OSError:  # no home, no room
        try:
            os.unlink(own)
        except OSError:
            pass


def get(source, maker, make):
    """make(), or what it has returned to an earlier process for the same files and the same Python."""
    key = (stamp(source), stamp(maker), importlib.util.MAGIC_NUMBER)
    path = place((source, importlib.util.MAGIC_NUMBER))  # a new version replaces the old one
    codes = read(path, key)
    if codes is None:
        codes = make()
        if not sys.dont_write_bytecode:
            write(path, key, codes)
    return codes
# SPDX-License-Identifier: BSD-2-Clause
