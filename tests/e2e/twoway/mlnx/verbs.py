#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the header of another dialect: a header in which some structs are replaced.

usage: verbs.py HEADER STRUCTS OUTPUT
"""

import re
import sys

STRUCT = re.compile(r"^struct (\w+) \{\n.*?^\};\n", re.M | re.S)


def main(header, structs, output):
    with open(header, encoding="ascii") as file:
        text = file.read()
    with open(structs, encoding="ascii") as file:
        others = {found[1]: found[0] for found in STRUCT.finditer(file.read())}
    replaced = []

    def replace(found):
        replaced.append(found[1])
        return others[found[1]]

    text = STRUCT.sub(lambda found: replace(found) if found[1] in others else found[0], text)
    assert sorted(replaced) == sorted(others), f"{header} does not have each of these structs once: {sorted(others)}"
    with open(output, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
