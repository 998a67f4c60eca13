# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Bash completion offers every command and option that the help names, and nothing else."""

import pytest

from commands import COMMANDS, usage_of


def offered(run, source_root, build_root, *words):
    """What bash offers for the last of @words."""
    script = (
        f"PATH=$1:$PATH; source {source_root}/tools/completion/xrc-compat; COMP_WORDS=(xrc-compat {' '.join(repr(w) for w in words)}); "
        f"COMP_CWORD={len(words)}; _xrc_compat xrc-compat; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    result = run(["bash", "-c", script, "bash", build_root / "tools"])
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.fixture
def complete(run, source_root, build_root):
    return lambda *words: offered(run, source_root, build_root, *words)


def test_commands(complete):
    assert sorted(complete("")) == sorted(COMMANDS + ["--help", "--version"])


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_each_command(complete, command):
    assert set(complete(
        command,
        "--")) == {option
                   for option in usage_of(command).split() if option.startswith("--")} | {"--help"}


def test_a_beginning_is_completed(complete):
    assert complete("do") == ["doctor"]
    assert complete("check", "--j") == ["--json"]


def test_programs_are_offered(complete):
    assert "ls" in complete("run", "ls")
