#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes compile-time assertions from a reference dump of struct layouts. Standard library only.

usage: gen_layouts.py REFERENCE.json OUTPUT.h [STRUCT[=NAME]...]

Without STRUCTs all structs of the dump are asserted. NAME is the name of the struct where the
assertions are compiled. OUTPUT.h contains all ABIs of the dump and asserts the one that it is
compiled for. There is no dump of aarch64: its layouts are those of x86-64 up to the first mutex or
condition variable, whose sizes differ.
"""

import json
import re
import sys

LICENCE = "SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only"
CONDITION = {"x86_64": "defined(__x86_64__) && defined(__LP64__)", "i386": "defined(__i386__)",
             "aarch64": "defined(__aarch64__) && defined(__LP64__)"}
AS_FAR_AS_PTHREAD = {"aarch64": "x86_64"}
PTHREAD_FIELDS = ("mutex", "cond")


def read_reference(path):
    """{"provenance": text, "abi": {arch: {struct: {"size": n or [n, n], "fields": {name: [offset,
    size]}}}}}"""
    with open(path, encoding="utf-8") as dump:
        return json.load(dump)


def sizes(layout):
    """All sizes that a struct may have: more than one where a later release appended members."""
    return layout["size"] if isinstance(layout["size"], list) else [layout["size"]]


def assertions(name, layout):
    """C text that compiles if struct @name has exactly this layout."""
    if layout["size"]:
        allowed = " || ".join(f"sizeof(struct {name}) == {size}" for size in sizes(layout))
        yield f'_Static_assert({allowed}, "struct {name}: {" or ".join(map(str, sizes(layout)))} bytes");'
    for field, (offset, size) in layout["fields"].items():
        yield (f"_Static_assert(offsetof(struct {name}, {field}) == {offset} && "
               f'sizeof(((struct {name} *)0)->{field}) == {size},\n'
               f'\t       "{name}.{field}: {size} bytes at {offset}");')


def as_far_as_pthread(layout):
    """The fields before the first type of the C library, and then without the size of the
    struct."""
    first = min((layout["fields"][field][0]
                 for field in PTHREAD_FIELDS if field in layout["fields"]), default=None)
    if first is None:
        return layout
    return {
        "size": None,
        "fields": {field: at for field, at in layout["fields"].items() if at[0] < first}
    }


def every_abi(reference):
    """The ABIs of the dump, and those that follow from them."""
    yield from reference["abi"].items()
    for arch, like in AS_FAR_AS_PTHREAD.items():
        if like in reference["abi"]:
            yield arch, {
                struct: as_far_as_pthread(layout)
                for struct, layout in reference["abi"][like].items()
            }


def header(reference, names):
    """@names: {struct of the dump: its name in C}"""
    text = f"/* {LICENCE} */\n/* Made from a reference dump: {reference['provenance']}. */\n#include <stddef.h>\n"
    for number, (arch, structs) in enumerate(every_abi(reference)):
        text += f"\n#{'el' if number else ''}if {CONDITION[arch]}\n"
        for struct, name in names.items():
            text += "".join(line + "\n" for line in assertions(name, structs[struct]))
    return text + "\n#else\n#error no layouts are known for this ABI\n#endif\n"


def main(argv):
    if len(argv) < 3:
        print(re.search("usage.*", __doc__).group(), file=sys.stderr)
        return 2
    reference = read_reference(argv[1])
    known = next(iter(reference["abi"].values()))
    names = {}
    for pair in argv[3:] or known:
        struct, _, alias = pair.partition("=")
        names[struct] = alias or struct
    unknown = [struct for struct in names if struct not in known]
    if unknown:
        print(f"{argv[1]}: no struct {unknown[0]}", file=sys.stderr)
        return 1
    with open(argv[2], "w", encoding="utf-8") as output:
        output.write(header(reference, names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
