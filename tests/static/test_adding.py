# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""docs/adding.md is true: its paths exist, and each exported function has an entry in shim/ and a
test."""

import os
import pathlib
import re
import sys

import pytest

import rules

ROOT = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])
sys.path.insert(0, str(ROOT / "abi"))
import gen_symbols  # noqa: E402

ROWS = {
    symbol.name: symbol for symbol in gen_symbols.read_table(ROOT / "abi" / "symbols.tab", "x86_64")
}
ENTERED = [symbol for symbol in ROWS.values() if symbol.returns != "loader"]


def text_of(pattern):
    return "\n".join(path.read_text() for path in sorted(ROOT.glob(pattern)))


SHIM = text_of("shim/*.c")


def name_of(symbol):
    return symbol.name


def passed(symbol):
    """The arguments that the shim is to hand over, by the table."""
    return [argument for argument in symbol.arguments.split(",") if not argument.startswith("=")]


def test_every_file_is_there():
    named = re.findall(
        r"`((?:abi|base|shim|compat|modern|table|two_way|man|docs|scripts|tests|tools|include|subprojects|bench)/[\w./-]*)`",
        (ROOT / "docs" / "adding.md").read_text())
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("symbol", ENTERED, ids=name_of)
def test_entry(symbol):
    """The shim defines a function of that name, which calls shim_enter() with its own VERB_
    number."""
    entry = re.search(
        r"\n[^\n\t]*\b%s\([^\n]*\n(?:\t[^\n]*\n)*\{\n.*?\n\}\nSHIM_EXPORT\(%s\);\n" %
        (symbol.name, symbol.name), SHIM, re.S)
    assert entry, "no entry in shim/"
    # A thread that waits there can be cancelled.
    if symbol.name == "ibv_get_async_event":
        return
    called = re.search(r"shim_enter\(&entry, VERB_%s, (NULL|ARGUMENTS\((.*?)\))\)" % symbol.name,
                       SHIM)
    assert called, "does not come in by shim_enter() under its own name"
    if symbol.arguments == "-":
        assert called.group(1) == "NULL", "the table has no arguments for the trace"
    else:
        assert len(called.group(2).split(",")) == len(passed(symbol)) <= 5


@pytest.mark.parametrize("symbol", ENTERED, ids=name_of)
def test_a_test_calls_the_function(symbol):
    callers = {
        "ibv_": "tests/e2e/shim/**/*.c", "rdma": "tests/**/*.c", "xrc_": "tests/recompile/*.c"
    }
    code = rules.without_strings(rules.without_comments(text_of(callers[symbol.name[:4]])))
    assert re.search(r"\b%s\(" % symbol.name, code)
