# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What readelf says about an ELF file. Symbols are "name@node" or "name@@node"."""

import re
import subprocess


def readelf(*args):
    return subprocess.run(["readelf", "-W", *map(str, args)], capture_output=True, text=True,
                          check=True).stdout


def dynamic_symbols(path):
    """(defined, undefined). Defined are only what other objects can bind to; version names
    themselves are left out."""
    defined, undefined = set(), set()
    for line in readelf("--dyn-syms", path).splitlines():
        columns = line.split()
        if len(columns) < 8 or not columns[0].rstrip(":").isdigit() or columns[4] == "LOCAL":
            continue
        symbol = columns[7]
        if columns[6] == "UND":
            undefined.add(symbol)
        elif not (columns[3] == "OBJECT" and columns[6] == "ABS"):
            defined.add(symbol)
    return defined, undefined


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))


def run_paths(path):
    return re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", readelf("-d", path))


def first_node(path):
    """The version node that a reference without a version takes: of index 2, for 1 is the library's
    own name."""
    return re.search(r"Index: 2 .*Name: (\S+)", readelf("-V", path))[1]
