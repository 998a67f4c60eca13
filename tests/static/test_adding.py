# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""docs/adding.md is true: its paths exist, and each exported function has an entry in shim/ and a
test."""

import os
import pathlib
import re
import sys

import pytest

import sources

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
# A verb that passes ordinary objects on enters in a static function: its name without ibv_, or one
# of these.
ENTERED_IN = {"ibv_create_qp": "create_legacy"}


def name_of(symbol):
    return symbol.name


def function(name, behind=""):
    """The definition of a function, with this text behind it."""
    return re.search(r"\n(?!\t)[^\n]*\b%s\([^\n]*\n(?:\t[^\n]*\n)*\{\n.*?\n\}\n%s" %
                     (name, re.escape(behind)), SHIM, re.S)


def passed(symbol):
    """The arguments that the shim is to hand over, by the table."""
    return [argument for argument in symbol.arguments.split(",") if not argument.startswith("=")]


def test_every_file_is_there():
    named = re.findall(r"`([\w.-]+/[\w./-]*)`", (ROOT / "docs" / "adding.md").read_text())
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("symbol", ENTERED, ids=name_of)
def test_entry(symbol):
    """The shim defines a function of that name. It, or the static one of ENTERED_IN, calls
    shim_enter() with its own VERB_ number."""
    entry = function(symbol.name, f"SHIM_EXPORT({symbol.name});\n")
    assert entry, "no entry in shim/"
    # A thread that waits there can be cancelled.
    if symbol.name == "ibv_get_async_event":
        return
    inside = function(ENTERED_IN.get(symbol.name, symbol.name.removeprefix("ibv_")))
    called = re.search(r"shim_enter\(&entry, VERB_%s, (NULL|ARGUMENTS\((.*?)\))\)" % symbol.name,
                       inside.group() if inside else entry.group())
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
    code = sources.without_strings(sources.without_comments(text_of(callers[symbol.name[:4]])))
    assert re.search(r"\b%s\(" % symbol.name, code)
