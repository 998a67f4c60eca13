# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Bash completion offers every command and option that the help names, and nothing else."""

import re

import pytest


def complete(run, source_root, *words):
    """What bash offers for the last of @words."""
    script = (f"source {source_root}/tools/completion/xrc-compat; COMP_WORDS=(xrc-compat {' '.join(repr(w) for w in words)}); "
              f"COMP_CWORD={len(words)}; _xrc_compat; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    result = run(["bash", "-c", script])
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.fixture
def help_text(run, xrc_compat):
    return run([xrc_compat, "--help"]).stdout.split("Environment:")[0]


def test_commands(run, source_root, help_text):
    commands = re.findall(r"^  ([a-z][a-z-]*)", help_text, re.M)
    assert sorted(complete(run, source_root, "")) == sorted(commands + ["--help", "--version"])


def test_options_of_each_command(run, source_root, help_text):
    for command, synopsis in re.findall(r"^  ([a-z][a-z-]*)(.*)$", help_text, re.M):
        options = set(re.findall(r"--[a-z][a-z-]*", synopsis))
        if command != "env-vars":
            assert set(complete(run, source_root, command, "--")) == options | {"--help"}, command


def test_a_beginning_is_completed(run, source_root):
    assert complete(run, source_root, "do") == ["doctor"]
    assert complete(run, source_root, "check", "--j") == ["--json"]


def test_programs_are_offered(run, source_root):
    assert "ls" in complete(run, source_root, "run", "ls")
