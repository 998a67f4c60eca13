#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes from a table of symbols the stub of an old library, which is a C file and its linker
map. Standard library only.

usage: gen_stub.py TABLE OUTPUT.c OUTPUT.map
"""

import os
import re
import sys

LICENCE = "SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only"


def read_table(path):
    """[(symbol, [node, ...])], the default node last."""
    with open(path, encoding="utf-8") as table:
        rows = [line.split() for line in table if line.strip() and not line.startswith("#")]
    for row in rows:
        if len(row) != 2:
            sys.exit(f"{path}: symbol and nodes wanted, found: {' '.join(row)}")
    return [(symbol, nodes.split(",")) for symbol, nodes in rows]


def source(rows, table):
    text = f"/* {LICENCE} */\n/* To be linked against, never to be loaded: made from {table}. */\n"
    text += "#include <stdlib.h>\n"
    for symbol, nodes in rows:
        for number, node in enumerate(nodes):
            mark = "@@" if number == len(nodes) - 1 else "@"
            name = f"stub{number}_{symbol}"
            text += f'\n__asm__(".symver {name}, {symbol}{mark}{node}");\n'
            text += f'__attribute__((used, visibility("default"), noreturn)) void {name}(void);\n'
            text += f"void {name}(void)\n{{\n\tabort();\n}}\n"
    return text


def linker_map(rows, table):
    """Each node inherits from the one before it in the order of their names."""
    nodes = sorted({node for _, members in rows for node in members})
    text = f"# {LICENCE}\n# Made from {table}.\n"
    for number, node in enumerate(nodes):
        names = "".join(f"\t\t{symbol};\n" for symbol, members in rows if node in members)
        tail = f" {nodes[number - 1]}" if number else ""
        local = "" if number else "\tlocal: *;\n"
        text += f"\n{node} {{\n\tglobal:\n{names}{local}}}{tail};\n"
    return text


def main(argv):
    if len(argv) != 4:
        print(re.search("usage.*", __doc__).group(), file=sys.stderr)
        return 2
    rows, table = read_table(argv[1]), os.path.basename(argv[1])
    for path, text in ((argv[2], source(rows, table)), (argv[3], linker_map(rows, table))):
        with open(path, "w", encoding="utf-8") as output:
            output.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
