# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""README.md and docs/: every link leads somewhere, every page is found from README.md, every test
that is named exists."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import sources
from commands import COMMANDS, options_of, usage_of

ROOT = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])
SOFTHCA = ROOT / "subprojects" / "softhca"
PAGES = sorted(path for _, path in sources.files(ROOT, "*.md"))
SETTINGS = set(
    re.findall(r'^\t(?:\{ "|LIMIT_OF\()(\w+)',
               (SOFTHCA / "machine" / "settings.c").read_text(), re.M))
SOFTHCA_COMMANDS = set(
    re.findall(r'^\t\{ "(\w+)", cli_', (SOFTHCA / "cli" / "main.c").read_text(), re.M))
OF_LINUX = {"scripts/checkpatch.pl", "scripts/get_maintainer.pl"}
# A block of code, a line of one that is indented, or a command in a sentence.
BLOCK = re.compile(r"^```.*?^```|^ {4}[^\n]*|`xrc-compat [^`]*`", re.M | re.S)


def links(page):
    return [
        link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text())
        if not link.startswith(("http", "#"))
    ]


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []
    for link, anchor in re.findall(r"\]\(([^)\s#]*)#([^)\s]+)\)", page.read_text()):
        assert anchor in anchors(page.parent / link if link else page), f"{link}#{anchor}"


def test_every_page_is_found_from_the_readme():
    found, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        found.add(page)
        ahead += [target for target in ((page.parent / link).resolve() for link in links(page))
                  if target.suffix == ".md" and target not in found]
    assert {page for page in PAGES if page not in found} == set()


@pytest.mark.parametrize("page, purpose", [("docs/install.md", "all"),
                                           ("docs/32-bit.md", "i386")])
@pytest.mark.parametrize("manager, column", [("apt-get", 3), ("dnf", 4), ("zypper", 5)])
def test_packages_are_those_that_the_scripts_install(page, purpose, manager, column):
    table = subprocess.check_output(["sh", "-c", ". scripts/deps.sh; deps_table"], cwd=ROOT,
                                    text=True, timeout=30)
    rows = [line.split("|") for line in table.splitlines()]
    wanted = {name for row in rows if row[0] == purpose for name in row[column].split()}
    named = re.search(rf"`{manager} install ([^`]+)`", (ROOT / page).read_text())[1].split()
    assert wanted and sorted(named) == sorted(wanted)


def tests_of(build_root, kind="tests"):
    return json.loads((build_root / "meson-info" / f"intro-{kind}.json").read_text())


def test_what_a_client_forces_has_code_and_a_test(build_root):
    titles = {test["name"] for test in tests_of(build_root)}
    rows = [line.split("|") for line in (ROOT / "docs" / "clients.md").read_text().splitlines()
            if line.startswith("|") and line.count("|") == 5 and "`" in line.split("|")[4]]
    assert len(rows) > 20
    for _, what, _, code, test, _ in rows:
        assert all((ROOT / path).exists() for path in re.findall("`([^`]+)`", code)), what
        assert set(re.findall("`([^`]+)`", test)) <= titles, what


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page):
    text = page.read_text()
    blocks = "\n".join(BLOCK.findall(text))
    assert set(re.findall(r"\bxrc-compat ([a-z][\w-]*)", blocks)) <= set(COMMANDS)
    assert set(re.findall(r"\bsofthca ([a-z][\w-]*)", blocks)) <= SOFTHCA_COMMANDS
    for name in re.findall(r"(?<![\w/])(?:docs|packaging|scripts|tests)/[\w./-]*\w", blocks):
        assert (ROOT / name).exists() or name in OF_LINUX
    for command, words in re.findall(r"xrc-compat ([a-z][\w-]*)((?: +(?!-- )[^\s`|;]+)*)", text):
        if command in COMMANDS:
            # Options of the program that is run are its own.
            ours = words if command not in ("run", "trace", "env") else re.match(
                r"(?: +(?:-\S*|\[\S*))*", words).group()
            assert options_of(ours) <= options_of(usage_of(command)), f"xrc-compat {command}{words}"
    for name in re.findall(r"\./(run-\w+)", text):
        assert (ROOT / name).exists()
    for settings in re.findall(r"softhca (?:run|start)((?: +--\w+=\S+)+)", text):
        assert set(re.findall(r"--(\w+)=", settings)) <= SETTINGS | {"hosts"}, settings
    for name in re.findall(r"man -l (\S+?)[`,;)\s]", text):
        assert (ROOT / name).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tests_exist(page, build_root):
    """Each test, benchmark or suite that a page tells the reader to run is one of this build."""
    tests = tests_of(build_root) + tests_of(build_root, "benchmarks")
    calls = re.findall(r"(?:meson test|run-tests) ([^`\n]*)", page.read_text())
    names = {
        name for call in calls if "--kernel" not in call for name in re.findall(r'"([^"]+)"', call)
    }
    assert names <= {test["name"] for test in tests}
    suites = {suite for call in calls for suite in re.findall(r"--suite (\w+)", call)}
    assert suites <= {suite.rpartition(":")[2] for test in tests for suite in test["suite"]}


def test_the_picture_of_the_rooms_is_that_of_the_sources(source_root):
    drawn = subprocess.run([source_root / "scripts" / "draw-rooms"], stdout=subprocess.PIPE,
                           text=True, check=True, timeout=60).stdout
    assert drawn == (source_root / "docs" / "rooms.svg").read_text(), (
        "scripts/draw-rooms >docs/rooms.svg")
