#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The released ABI of libxrc-compat.so.1: a line for each exported function, for each of our
structs and each member of one."""

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

USAGE = """usage: tests/abi/released.py BUILD/shim/libxrc-compat.so.1
Records the library's ABI in released-x86_64.abi or released-i386.abi."""
HERE = pathlib.Path(__file__).parent
MACHINES = {3: "i386", 62: "x86_64"}
LICENCE = "# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only: the ABI of libxrc-compat.so.1, recorded by released.py\n"
# Types of today's rdma-core and of libc. test_headers.py compares the parts on which old binaries
# rely.
NOT_OURS = re.compile(r"_?(compat_)?(ibv_|verbs_)|(__)?pthread_")
KINDS = {"class-decl": "struct", "union-decl": "union", "enum-decl": "enum"}


def record_for(library):
    """The record for the machine (e_machine) of this library; None if there is none."""
    machine = MACHINES.get(int.from_bytes(pathlib.Path(library).read_bytes()[18:20], "little"))
    return HERE / f"released-{machine}.abi" if machine else None


def load(library):
    return record_for(library).read_text(encoding="utf-8").removeprefix(LICENCE).splitlines()


def symbol_name(symbol):
    at = "@@" if symbol.get("is-default-version") == "yes" else "@"
    return symbol.get("name") + (at + symbol.get("version") if symbol.get("version") else "")


def abidw(library):
    """What abidw of libabigail says about a library, as XML."""
    return subprocess.run(["abidw", "--no-show-locs", library], capture_output=True, text=True,
                          check=True, timeout=60).stdout


class Corpus:
    """The XML of abidw. describe() gives the lines of the record."""

    def __init__(self, text):
        self.root = xml.etree.ElementTree.fromstring(text)
        self.types = {}
        for element in self.root.iter():
            # abidw may list a type twice, as a declaration and as a definition.
            if "id" in element.attrib and (element.get("id") not in self.types or len(element)):
                self.types[element.get("id")] = element
        self.ours = {}

    def describe(self):
        lines = [f"{symbol}: {self.prototype(function)}" for symbol, function in self.functions()]
        described = set()
        while set(self.ours) - described:
            for name in set(self.ours) - described:
                described.add(name)
                lines += self.members(name, self.ours[name])
        return sorted(lines)

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
        if element.tag == "array-type-def":
            return self.name(target) + "".join(f"[{part.get('length')}]"
                                               for part in element.findall("subrange"))
        if element.tag == "function-type":
            return self.prototype(element)
        if element.tag not in KINDS:
            return element.get("name")
        name = f"{KINDS[element.tag]} {element.get('name')}"
        if element.get("is-anonymous") == "yes":
            return f"{KINDS[element.tag]} {{ {'; '.join(self.parts(element))} }}"
        if not NOT_OURS.match(element.get("name")) and element.get("is-declaration-only") != "yes":
            self.ours[name] = element
        return name

    def parts(self, element):
        """The members, or the values of an enum."""
        for value in element.findall("enumerator"):
            yield f"{value.get('name')} = {value.get('value')}"
        for member in element.findall("data-member"):
            variable = member.find("var-decl")
            yield f"{variable.get('name')} at {int(member.get('layout-offset-in-bits', 0)) // 8}: {self.name(variable.get('type-id'))}"

    def members(self, name, element):
        size = [f"{name}: {int(element.get('size-in-bits')) // 8} bytes"
                ] if element.get("size-in-bits") else []
        return size + [f"{name}: {part}" for part in self.parts(element)]


def describe(library):
    return Corpus(abidw(library)).describe()


def missing_lines(recorded, library):
    """The recorded lines that this library does not have. Additional functions and members break
    no program."""
    return sorted(set(recorded) - set(describe(library)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(USAGE)
    record = record_for(sys.argv[1])
    if not record:
        sys.exit(f"{sys.argv[1]}: there is no record for this machine")
    record.write_text(LICENCE + "\n".join(describe(sys.argv[1])) + "\n", encoding="utf-8")
