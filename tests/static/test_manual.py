# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The manual pages: correct markup, and nothing that a user can call, type or set is left out."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from commands import COMMANDS

MAN = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "man"
PAGES = sorted([*MAN.glob("*.[0-9]"), MAN.parent / "subprojects" / "softhca" / "softhca.1"])


def text_of(name):
    return (MAN / name).read_text()


def lint(path):
    """mandoc's complaints, without those about pages that this machine's index does not list."""
    result = subprocess.run(["mandoc", "-Tlint", "-W", "style", path], capture_output=True,
                            text=True, timeout=30)
    return [
        line for line in (result.stdout + result.stderr).splitlines() if
        not re.search(r"referenced manual not found|mandoc\.db|operating system explicitly", line)
    ]


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_markup(page):
    assert lint(page) == []


def exported(build_root):
    output = subprocess.run(
        ["readelf", "-W", "--dyn-syms", build_root / "shim" / "libxrc-compat.so.1"],
        capture_output=True, text=True, check=True, timeout=30).stdout
    # "ibv_x@IBVERBS_1.1" without "UND" in front: defined here.
    return sorted(
        set(re.findall(r"(?:FUNC|IFUNC)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+\d+ (\w+)@", output)))


def test_every_legacy_function_has_its_page(build_root):
    functions = [name for name in exported(build_root) if "xrc" in name and name.startswith("ibv_")]
    assert len(functions) == 8
    for name in functions:
        [page] = [page for page in map(text_of, MAN.glob("ibv_*.3")) if f".Fo {name}\n" in page]
        assert re.search(rf"^\.Nm {name}\b", page, re.M)
        for section in ("RETURN VALUES", "ERRORS", "TODAY'S VERBS", "DIFFERENCES"):
            assert f".Sh {section}\n" in page, f"{name}.3 has no section {section}"


def test_the_manual_lists_exactly_the_replaced_verbs(build_root):
    listed = re.findall(r"^\.Fn (ibv_\w+)", text_of("xrc-compat.7"), re.M)
    assert sorted(listed) == [
        name for name in exported(build_root) if name.startswith("ibv_") and "xrc" not in name
    ]


def test_every_command_is_documented():
    page = text_of("xrc-compat.1")
    assert [c for c in COMMANDS
            if f".Nm\n.Cm {c}\n" not in page or f".It Cm {c}\n" not in page] == []


def flags_of(markup):
    """What the markup calls flags: ".Fl -json" is --json, ".Fl o" is -o."""
    return {f"-{flag}" for flag in re.findall(r"\bFl (-?\w[\w-]*)", markup)}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_and_the_page_have_the_same_options(run, xrc_compat, command):
    """What the --help of the command explains, the synopsis and the entries of xrc-compat(1)."""
    page = text_of("xrc-compat.1")
    forms = re.findall(rf"^\.Nm\n\.Cm {command}\n(.*?)(?=^\.Nm|^\.Sh)", page, re.M | re.S)
    [entry] = re.findall(rf"^\.It Cm {command}\n(.*?)(?=^\.It Cm|^\.It Fl h |^\.Sh)", page,
                         re.M | re.S)
    text = run([xrc_compat, command, "--help"]).stdout
    options = set(re.findall(r"^  (--?[a-z][\w-]*)", text.split("\nColumns:")[0], re.M))
    assert re.search(rf"\nExample:\n  .*xrc-compat {command}\b", text)
    assert flags_of("".join(forms)) - {"--"} == options
    assert flags_of("\n".join(re.findall(r"^\.It Fl .*$", entry, re.M))) == options


def test_every_member_of_json_is_documented(source_root):
    """Chrome's trace events (events.c) are not ours to document. `ps` names its columns itself."""
    sources = "".join(path.read_text() for path in (source_root / "tools").rglob("*.c")
                      if path.name != "events.c")
    members = set(re.findall(
        r"\b(?:json_(?:open|string|number|bool)|print_value|print_list|print_reasons)\([&\w>.-]+,\s+\"(\w+)\"",
        sources))
    assert {"checks", "became", "needs", "exit_status"} <= members
    [section] = re.findall(r"^\.Sh JSON\n(.*?)^\.Sh ", text_of("xrc-compat.1"), re.M | re.S)
    documented = re.findall(r"\w+", " ".join(re.findall(r"^\.(?:It )?Li (.*)$", section, re.M)))
    assert sorted(members - set(documented)) == []


def test_every_exit_status_is_documented(source_root):
    sources = "".join((source_root / "tools" / name).read_text()
                      for name in ("text/command.h", "check/check_decide.c"))
    statuses = re.findall(r'(?:TOOL_EXIT_\w+ =|\[VERDICT_\w+\] = { "[^"]*",) (\d+)', sources)
    assert "125" in statuses and "5" in statuses
    documented = re.findall(
        r"\d+", " ".join(re.findall(r"^\.It (\d+(?: , \d+)*)$", text_of("xrc-compat.1"), re.M)))
    assert [s for s in statuses if s not in documented] == []
