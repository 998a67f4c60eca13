# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The help and softhca(1) name every command, setting, event, fault and variable, with the right
numbers."""

import re

import pytest

import models


@pytest.fixture(scope="session")
def page(source_root):
    return (source_root / "softhca" / "softhca.1").read_text()


@pytest.fixture
def shown(run, softhca):
    return run([softhca, "--help"]).stdout


def items(page):
    """Every name with an entry of its own, or marked as a word to type."""
    return {
        word for line in re.findall(r"^\.(?:It |Nm |Op )?.*?\bCm (.*)$", page, re.M)
        for word in re.findall(r"[\w]+", line)
    }


def ask(run, softhca, *words):
    return run([softhca, "run", "--", softhca, "ctl", *words]).stderr


def test_the_page_describes_each_setting(page, shown):
    settings = re.findall(r"^  --(\w+)=", shown, re.M)
    assert len(settings) > 15
    section = page.split(".Ss Settings")[1].split(".Sh ")[0]
    assert set(settings) == {
        word for line in re.findall(r"^\.It Cm (.*)$", section, re.M)
        for word in re.findall(r"\w+", line)
    }


def test_limits_of_the_page_are_right(page, shown):
    """The defaults in the page are the program's."""
    flat = re.sub(r"\s+", " ", page)
    for name in ("devices", "ports", "nap", "max_qp_wr", "max_sge", "max_cqe", "max_srq_wr",
                 "max_srq_sge", "max_qp_rd_atom", "max_qp_init_rd_atom"):
        defaults = re.findall(r"(?<![\w-])\d+(?= on a |\)$)",
                              re.search(rf"--{name}=N\n.*default(.*)", shown).group(1))
        entry = re.search(rf"\.It Cm [\w ,]*\b{name}\b(.*?)(\.It|\.El)", flat).group(1)
        assert defaults
        for default in defaults:
            assert re.search(rf"\b{default}\b", entry), name


def test_page_and_usage_name_each_command(page, shown, run, softhca):
    commands = re.findall(r"^  softhca (\w+)", shown, re.M)
    control = ask(run, softhca, "nonsense").split("there are:")[1].split()
    assert {"run", "ctl"} <= set(commands) and {"objects", "fault"} <= set(control)
    for word in [*commands, *control]:
        assert word in items(page), word
        assert re.search(rf"\b{word}\b", shown), word


def test_the_page_names_each_event(page, run, softhca):
    for name in ask(run, softhca, "event", models.device(0),
                    "nonsense").split("there are:")[1].split():
        assert re.search(rf"\b{name}\b", page), name


def test_page_and_usage_name_each_fault(page, shown, run, softhca):
    listed = run([softhca, "run", "--", softhca, "ctl", "fault"]).stdout
    kinds = re.findall(r"(\w+)=\S+ hits", listed.splitlines()[0])
    assert len(kinds) == 4
    for word in [*kinds, "seed", "command", "off", "any"]:
        assert word in items(page), word
        assert re.search(rf"\b{word}\b", shown.split("fault DEVICE")[1]), word


def test_the_page_names_each_variable(page, source_root):
    """Every variable that the code reads."""
    read = set()
    for path in set((source_root / "softhca").glob("**/*.c")) - set(
        (source_root / "softhca" / "tests").glob("**/*.c")):
        read |= set(re.findall(r'(?:getenv|setenv)\("(\w+)"', path.read_text()))
    assert {"SOFTHCA_DIR", "LD_PRELOAD"} <= read
    assert read <= set(re.findall(r"\w+", " ".join(re.findall(r"^\.It Ev (.*)$", page, re.M))))


def test_the_page_names_each_exit_status(page, source_root):
    statuses = set(
        re.findall(r"CLI_\w+ = (\d+)", (source_root / "softhca" / "cli" / "cli.h").read_text()))
    section = page.split(".Sh EXIT STATUS")[1].split(".Sh ")[0]
    assert len(statuses) == 6 and [s for s in statuses if not re.search(rf"\b{s}\b", section)] == []
