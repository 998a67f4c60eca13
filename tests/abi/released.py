#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The released functions of libxrc-compat.so.1: a line for each, with node, arguments and types.
The layouts of the structs are in abi/reference/.

usage: tests/abi/released.py BUILD/shim/libxrc-compat.so.1
Records the library's functions in released.abi.
"""

import argparse
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

RECORD = pathlib.Path(__file__).with_name("released.abi")
# By e_machine: the nodes of dlsym and dlvsym that only this machine has.
NODES = {3: ("GLIBC_2.0", "GLIBC_2.1"), 62: ("GLIBC_2.2.5",)}
KINDS = {"class-decl": "struct", "union-decl": "union", "enum-decl": "enum"}


def machine_of(library):
    """e_machine; None if nothing is recorded for this machine."""
    machine = int.from_bytes(pathlib.Path(library).read_bytes()[18:20], "little")
    return machine if machine in NODES else None


def load(machine):
    """(lines that hold on this machine, lines of other machines)"""
    others = tuple(f"@{node}" for other in NODES if other != machine for node in NODES[other])
    lines = RECORD.read_text(encoding="utf-8").splitlines()[1:]
    elsewhere = [line for line in lines if line.split(":")[0].endswith(others)]
    return [line for line in lines if line not in elsewhere], elsewhere


def symbol_name(symbol):
    at = "@@" if symbol.get("is-default-version") == "yes" else "@"
    return symbol.get("name") + (at + symbol.get("version") if symbol.get("version") else "")


class Corpus:
    """What abidw of libabigail says about a library. describe() gives the lines of the record."""

    def __init__(self, library):
        text = subprocess.run(["abidw", "--no-show-locs", library], capture_output=True, text=True,
                              check=True, timeout=60).stdout
        self.root = xml.etree.ElementTree.fromstring(text)
        self.types = {element.get("id"): element for element in self.root.iter()}

    def describe(self):
        return sorted(f"{symbol}: {self.prototype(function)}"
                      for symbol, function in self.functions())

    def functions(self):
        """(symbol, its declaration). Only one of the symbols of an address has the declaration."""
        declared = {
            function.get("elf-symbol-id"): function for function in self.root.iter("function-decl")
        }
        groups = [[symbol_name(symbol), *filter(None, symbol.get("alias", "").split(","))]
                  for symbol in self.root.find("elf-function-symbols")]
        for name, *_ in groups:
            yield name, next(declared[same] for group in groups if name in group for same in group
                             if same in declared)

    def prototype(self, function):
        arguments = [self.name(parameter.get("type-id")) if parameter.get("type-id") else "..."
                     for parameter in function.findall("parameter")]
        return f"{self.name(function.find('return').get('type-id'))} ({', '.join(arguments)})"

    def name(self, type_id):
        element = self.types[type_id]
        target = element.get("type-id")
        if element.tag == "typedef-decl":
            return self.name(target)
        if element.tag == "pointer-type-def":
            return self.name(target) + " *"
        if element.tag == "qualified-type-def":
            const = "const " if element.get("const") == "yes" else ""
            return const + self.name(target)
        if element.tag == "function-type":
            return self.prototype(element)
        kind = KINDS.get(element.tag)
        return f"{kind} {element.get('name')}" if kind else element.get("name")


def missing_lines(recorded, library):
    """The recorded lines that this library does not have. Additional functions break no
    program."""
    return sorted(set(recorded) - set(Corpus(library).describe()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("library")
    given = parser.parse_args().library
    if not machine_of(given):
        sys.exit(f"{given}: there is no record for this machine")
    licence = RECORD.read_text(encoding="utf-8").splitlines()[:1]
    found = Corpus(given).describe() + load(machine_of(given))[1]
    RECORD.write_text("\n".join(licence + sorted(found)) + "\n", encoding="utf-8")
