# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""docs/adding.md is true: every row of each table has what the page says a row has."""

import os
import pathlib
import re
import sys

import pytest

import rules
from commands import COMMANDS

ROOT = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])
sys.path.insert(0, str(ROOT / "abi"))
import gen_symbols  # noqa: E402

ROWS = {
    symbol.name: symbol for symbol in gen_symbols.read_table(ROOT / "abi" / "symbols.tab", "x86_64")
}
ENTERED = [symbol for symbol in ROWS.values() if symbol.returns != "loader"]
LEGACY = [symbol for symbol in ENTERED if gen_symbols.is_legacy(symbol)]
TRACED = [symbol for symbol in ENTERED if symbol.arguments != "-"]


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
        r"`((?:abi|shim|compat|modern|man|docs|tests|tools|include|softhca|bench)/[\w./-]*)`",
        (ROOT / "docs" / "adding.md").read_text())
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_example_is_the_code():
    example = re.search(r"\n       int ibv_reg_xrc_rcv_qp.*?\n       SHIM_EXPORT[^\n]*\n",
                        (ROOT / "docs" / "adding.md").read_text(), re.S).group()
    code = "\n".join(re.sub(r" {8}", "\t", line[7:]) for line in example.strip("\n").split("\n"))
    assert code in SHIM


@pytest.mark.parametrize("symbol", ENTERED, ids=name_of)
def test_entry(symbol):
    """The shim defines a function of that name, which calls shim_enter() with its own VERB_
    number."""
    entry = re.search(
        r"\n[^\n\t]*\b%s\([^\n]*\n(?:\t[^\n]*\n)*\{\n.*?\n\}\nSHIM_EXPORT\(%s\);\n" %
        (symbol.name, symbol.name), SHIM, re.S)
    assert entry, "no entry in shim/"
    # A thread that waits there can be cancelled, or leave by longjmp().
    if symbol.name == "ibv_get_async_event":
        assert "shim_ready()" in entry.group() and "shim_enter" not in entry.group()
        return
    called = re.search(r"shim_enter\(&entry, VERB_%s, (NULL|ARGUMENTS\((.*?)\))\)" % symbol.name,
                       SHIM)
    assert called, "does not come in by shim_enter() under its own name"
    if symbol.arguments == "-":
        assert called.group(1) == "NULL", "the table has no arguments for the trace"
    else:
        assert len(called.group(2).split(",")) == len(passed(symbol)) <= 5


@pytest.mark.parametrize("symbol", TRACED, ids=name_of)
def test_a_traced_function_names_the_modern_verb(symbol):
    assert symbol.port.startswith("ibv_"), "no 'port to:' in the table"


@pytest.mark.parametrize("symbol", LEGACY, ids=name_of)
def test_manual_contract_and_prototype(symbol):
    page = ROOT / "man" / f"{symbol.name}.3"
    assert page.exists() and f"'{symbol.name}.3'" in (ROOT / "man" / "meson.build").read_text()
    assert symbol.name in (ROOT / "docs" / "contract.md").read_text()
    assert re.search(r"\b%s\(" % symbol.name,
                     (ROOT / "include" / "ofed" / "infiniband" / "verbs.h").read_text())


@pytest.mark.parametrize("symbol", ENTERED, ids=name_of)
def test_a_test_calls_the_function(symbol):
    folders = {
        "ibv_": "tests/e2e/shim/**/*.c", "rdma": "tests/**/*.c", "xrc_": "tests/recompile/*.c"
    }
    code = rules.without_strings(rules.without_comments(text_of(folders[symbol.name[:4]])))
    assert re.search(r"\b%s\(" % symbol.name, code)


def names_in(path, struct_end):
    """The names that a table of C begins its rows with, up to its end."""
    return set(
        re.findall(r'\{ "(\w+)",', (ROOT / path).read_text().split(struct_end)[1].split("};")[0]))


def test_the_table_has_every_name_that_the_trace_shows():
    wanted = {
        argument.lstrip(">=") for symbol in TRACED for argument in symbol.arguments.split(",")
    }
    shown = names_in("tools/trace/library/describe.c", "} showers[] = {")
    assert shown and shown <= wanted


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command):
    name = "command_" + command.replace("-", "_")
    for path in ("tools/common/common.h", "tools/main.c"):
        assert re.search(r"\b%s\b" % name, (ROOT / path).read_text())
    assert re.search(r"^const struct command %s = " % name, text_of("tools/*/*.c"), re.M)
    assert re.search(r"^\.It Cm %s\b" % re.escape(command),
                     (ROOT / "man" / "xrc-compat.1").read_text(), re.M)
    assert re.search(r'"%s"' % re.escape(command), text_of("tests/e2e/tools/*.py"))


MODELS = re.findall(
    r"&(\w+)",
    (ROOT / "softhca" / "model" / "model.c").read_text().split("models[] = {")[1].split("}")[0])


@pytest.mark.parametrize("adapter", MODELS)
def test_adapter_model(adapter):
    assert (ROOT / "softhca" / "model" / f"{adapter}.c").exists()
    assert f"model/{adapter}.c" in (ROOT / "softhca" / "bin" / "meson.build").read_text()
    for path in ("tests/models.py", "softhca/softhca.1", "tools/common/variables.h"):
        assert adapter in (ROOT / path).read_text(), path
