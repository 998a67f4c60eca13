#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes from symbols.tab the linker map, the symver header, the header of names in C, the list of
functions, the list of expected exports, or the symbols for programs to link against (for
gen_stub.py). Standard library only.

usage: gen_symbols.py map|symver|names|functions|exports|link symbols.tab OUTPUT CPU_FAMILY
"""

import collections
import json
import re
import sys

LICENCE = "SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only"
MARK = {"hidden": "@", "default": "@@"}
RETURNS = ("errno", "null", "minus1", "void", "loader")
UNSUPPORTED = ("ENOSYS", "EOPNOTSUPP", "-")
PORT = "port to: "
FIRST_NODE = "XRC_COMPAT_1.0"

Symbol = collections.namedtuple("Symbol",
                                "name node visibility returns unsupported arguments purpose port")


class TableError(Exception):
    """A wrong row of the table. The text names file, line and what is wrong."""


def read_row(line, where):
    """One row of the table. @where: "file:line" for messages."""
    wanted = len(Symbol._fields) - 1
    columns = line.split(None, wanted - 1)
    if len(columns) != wanted:
        raise TableError(f"{where}: {wanted} columns wanted, {len(columns)} found")
    symbol = Symbol(*columns, port="")
    if not re.fullmatch(r"[A-Za-z_]\w*", symbol.name):
        raise TableError(f"{where}: '{symbol.name}' is no C identifier")
    if symbol.visibility not in MARK:
        raise TableError(f"{where}: visibility '{symbol.visibility}' is not one of {', '.join(MARK)}")
    if symbol.returns not in RETURNS:
        raise TableError(
            f"{where}: return convention '{symbol.returns}' is not one of {', '.join(RETURNS)}")
    if symbol.unsupported not in UNSUPPORTED:
        raise TableError(
            f"{where}: errno '{symbol.unsupported}' is not one of {', '.join(UNSUPPORTED)}")
    if not re.fullmatch(r"-|[>=]?\w+(,[>=]?\w+)*", symbol.arguments):
        raise TableError(f"{where}: '{symbol.arguments}' are no arguments")
    return symbol


def more_of(symbol, text, where):
    """The row with the text of an indented line below it: "port to: ...", which may continue in
    further lines."""
    if not symbol.port and not text.startswith(PORT):
        raise TableError(f"{where}: '{PORT}' wanted below {symbol.name}")
    said = text[len(PORT):] if text.startswith(PORT) else text
    return symbol._replace(port=f"{symbol.port} {said}".strip())


def node_for(symbol, cpu):
    """The node on this architecture, None if the row is not for it."""
    if ":" not in symbol.node:
        return symbol.node
    return dict(pair.split(":") for pair in symbol.node.split(",")).get(cpu)


def read_table(path, cpu):
    """All rows for this architecture, in order. A symbol may stand in several nodes, but has one
    default at most."""
    symbols = []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if not line.strip() or line.startswith("#"):
                continue
            where = f"{path}:{number}"
            if line[0].isspace():
                if not symbols:
                    raise TableError(f"{where}: a row is wanted above it")
                symbols[-1] = more_of(symbols[-1], line.strip(), where)
                continue
            symbol = read_row(line.strip(), where)
            symbol = symbol._replace(node=node_for(symbol, cpu))
            for other in symbols:
                if other.name != symbol.name or None in (other.node, symbol.node):
                    continue
                if other.node == symbol.node or other.visibility == symbol.visibility == "default":
                    raise TableError(
                        f"{where}: {symbol.name} is there already, as {versioned(other)}")
            symbols.append(symbol)
    return [symbol for symbol in symbols if symbol.node]


def versioned(symbol):
    """As readelf prints it: name@node or name@@node."""
    return symbol.name + MARK[symbol.visibility] + symbol.node


def by(symbols, field):
    groups = collections.OrderedDict()
    for symbol in symbols:
        groups.setdefault(getattr(symbol, field), []).append(symbol)
    return groups


def linker_map(symbols):
    """Only the named symbols are exported: the first node makes all others local.

    A reference without a version binds to a library's first node, for example in a plugin that was
    not linked with libibverbs. It must go on to libibverbs, so no verb is in the first node.
    """
    text = f"# {LICENCE}\n# Made from symbols.tab.\n"
    nodes = by(symbols, "node")
    if FIRST_NODE in nodes:
        nodes.move_to_end(FIRST_NODE, last=False)
    for number, (node, members) in enumerate(nodes.items()):
        names = "".join(f"\t\t{member.name};\n" for member in members)
        local = "\tlocal: *;\n" if number == 0 else ""
        text += f"\n{node} {{\n\tglobal:\n{names}{local}}};\n"
    return text


def symver_header(symbols):
    """One SHIM_VERSIONS_<name> per function, expanded by SHIM_EXPORT in export.h."""
    text = f"/* {LICENCE} */\n/* The versions of every exported symbol, made from symbols.tab; for export.h only. */\n"
    text += "#ifndef ABI_SHIM_SYMVER_H\n#define ABI_SHIM_SYMVER_H\n\n"
    for name, members in by(symbols, "name").items():
        versions = " ".join(f'SHIM_VERSION({name}, {number}, "{versioned(member)}")'
                            for number, member in enumerate(members))
        text += f"#define SHIM_VERSIONS_{name} {versions}\n"
    verbs = [name for name in by(symbols, "name") if name.startswith("ibv_")]
    text += "\n/* Every exported verb. */\n#define SHIM_VERBS(X)"
    text += "".join(f" \\\n\tX({verb})" for verb in verbs)
    return text + "\n\n#endif\n"


def names_header(symbols):
    """The source has the exported name of a function, so that a search finds it. The compiler gets
    another name."""
    text = f"/* {LICENCE} */\n/* What the exported functions are called in C, made from symbols.tab; included after all headers of others. */\n"
    text += "#ifndef ABI_SHIM_NAMES_H\n#define ABI_SHIM_NAMES_H\n\n"
    text += "".join(f"#define {name} shim_{name}\n" for name in by(symbols, "name"))
    return text + "\n#endif\n"


def is_legacy(symbol):
    """Whether it is one of the functions that libibverbs no longer has."""
    return symbol.name.startswith("ibv_") and "_xrc_" in symbol.name


def functions_header(symbols):
    """X(name, how it returns, its errno for EOPNOTSUPP or 0, arguments, what to port to), and the
    names of the legacy functions."""
    text = f"/* {LICENCE} */\n/* Every function that is entered through the shim, made from symbols.tab; for verb.h. */\n"
    text += "#ifndef ABI_FUNCTIONS_H\n#define ABI_FUNCTIONS_H\n\n#define ABI_FUNCTIONS(X)"
    for symbol in symbols:
        if symbol.returns != "loader":
            arguments = symbol.arguments.replace("-", "")
            unsupported = symbol.unsupported.replace("-", "0")
            port = json.dumps(symbol.port, ensure_ascii=False)  # quotes as in C
            text += (
                f" \\\n\tX({symbol.name}, RETURNS_{symbol.returns.upper()}, {unsupported}, \"{arguments}\","
                f" {port})")
    text += "\n\n/* The functions that libibverbs no longer has. */\n#define ABI_LEGACY_FUNCTIONS(X)"
    text += "".join(f" \\\n\tX({symbol.name})" for symbol in symbols if is_legacy(symbol))
    return text + "\n\n#endif\n"


def expected_exports(symbols):
    return "".join(sorted(versioned(symbol) + "\n" for symbol in symbols))


def link_table(symbols):
    """Our verbs and functions in the form of ofed-symbols.tab. Programs link with libc and
    librdmacm for the other symbols."""
    rows = "".join(f"{symbol.name} {symbol.node}\n" for symbol in symbols
                   if symbol.returns != "loader" and not symbol.name.startswith("rdma_"))
    return f"# {LICENCE}\n# Made from symbols.tab.\n{rows}"


PRODUCTS = {
    "map": linker_map, "symver": symver_header, "names": names_header,
    "functions": functions_header, "exports": expected_exports, "link": link_table
}


def main(argv):
    if len(argv) != 5 or argv[1] not in PRODUCTS:
        print(re.search("usage.*", __doc__).group(), file=sys.stderr)
        return 2
    try:
        text = PRODUCTS[argv[1]](read_table(argv[2], argv[4]))
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    with open(argv[3], "w", encoding="utf-8") as output:
        output.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
