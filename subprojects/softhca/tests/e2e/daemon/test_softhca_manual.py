# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The help and softhca(1) name every command, setting, event, fault and variable, with the right
numbers."""

import re

import pytest

import models


@pytest.fixture(scope="session")
def page(softhca_source):
    return (softhca_source / "softhca.1").read_text()


@pytest.fixture
def shown(run, softhca):
    """The help of the commands, in one."""
    return "".join(run([softhca, *words]).stdout for words in (["--help"], ["start", "--help"],
                                                               ["ctl", "--help"]))


@pytest.fixture
def ask(run, softhca):
    """ask(WORD...): what `softhca ctl` prints below a run."""
    def answer(*words):
        done = run([softhca, "run", "--", softhca, "ctl", *words])
        return done.stdout + done.stderr
    return answer


def words(text, macro):
    """The words of the lines of mdoc that begin with this macro."""
    return {
        word for line in re.findall(rf"^\.{macro} (.*)$", text, re.M)
        for word in re.findall(r"\w+", line)
    }


def typed(page):
    """Every name with an entry of its own, or marked as a word to type."""
    return words(page, r"(?:It |Nm |Op )?.*?\bCm")


def unnamed(names, text):
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def test_the_page_describes_each_setting(page, shown):
    settings = set(re.findall(r"^  --(\w+)=", shown, re.M))
    assert len(settings) > 15
    assert settings == words(page.split(".Ss Settings")[1].split(".Sh ")[0], "It Cm")


def test_status_prints_each_setting(shown, run, softhca):
    printed = run([softhca, "run", "--link=ethernet", "--", softhca, "status"]).stdout
    assert re.findall(r" *(\w+)=", printed) == re.findall(r"^  --(\w+)=", shown, re.M)
    assert ", 0 contexts, 0 files of rdma_cm\n" in printed and " link=ethernet " in printed


def test_limits_of_the_page_are_right(page, shown):
    """The defaults in the page are the program's."""
    flat, entries = (re.sub(r"\s+", " ", text) for text in (page, shown))
    for name in ("devices", "ports", "nap", "max_qp_wr", "max_sge", "max_cqe", "max_srq_wr",
                 "max_srq_sge", "max_qp_rd_atom", "max_qp_init_rd_atom"):
        defaults = re.findall(r"(?<![\w-])\d+(?= on a |\)$)",
                              re.search(rf" --{name}=N .*? default(.*?\)) ", entries).group(1))
        entry = re.search(rf"\.It Cm [\w ,]*\b{name}\b(.*?)(\.It|\.El)", flat).group(1)
        assert defaults and unnamed(defaults, entry) == []


def test_page_and_usage_name_each_command(page, shown, ask):
    commands = re.findall(r"^  (\w+) ", shown.split("Commands:")[1].split("\n\n")[0], re.M)
    control = ask("nonsense").split("there are:")[1].split()
    assert {"run", "ctl"} <= set(commands) and {"objects", "fault"} <= set(control)
    assert {*commands, *control} <= typed(page) and unnamed(control, shown) == []


def test_the_page_names_each_event(page, ask):
    events = ask("event", models.device(0), "nonsense").split("there are:")[1].split()
    assert len(events) > 15 and unnamed(events, page) == []


def test_page_and_usage_name_each_fault(page, shown, ask):
    kinds = re.findall(r"(\w+)=\S+ hits", ask("fault").splitlines()[0])
    assert len(kinds) == 3
    names = [*kinds, "seed", "command", "off", "any"]
    assert set(names) <= typed(page) and unnamed(names, shown.split("fault [DEVICE")[1]) == []


def test_the_page_names_each_variable(page, softhca_source):
    """Every variable that the code reads or sets by its name."""
    sources = [path for path in softhca_source.glob("**/*.c")
               if "tests" not in path.parts[len(softhca_source.parts):]]
    read = {name for path in sources
            for name in re.findall(r'(?:getenv|setenv)\("(\w+)"', path.read_text())}
    assert {"SOFTHCA_DIR", "LD_PRELOAD"} <= read <= words(page, "It Ev")


def test_the_page_names_each_exit_status(page, softhca_source):
    header = softhca_source / "cli" / "cli.h"
    statuses = set(re.findall(r"CLI_\w+ = (\d+)", header.read_text()))
    assert len(statuses) == 5
    assert unnamed(statuses, page.split(".Sh EXIT STATUS")[1].split(".Sh ")[0]) == []
