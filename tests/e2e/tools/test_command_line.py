# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line: help, version, wrong usage, and the table of environment variables."""

import re

import pytest

from commands import COMMANDS


def table_of(source_root):
    header = (source_root / "tools" / "common" / "variables.h").read_text()
    return re.findall(r"^\tX\((\w+),", header, re.M)


def test_version(run, xrc_compat):
    result = run([xrc_compat, "--version"])
    assert result.returncode == 0
    assert re.fullmatch(r"xrc-compat \d+\.\d+\.\d+\n", result.stdout)


@pytest.mark.parametrize("arguments", [["--help"], ["env-vars"]])
def test_every_environment_variable_is_printed(run, xrc_compat, source_root, arguments):
    result = run([xrc_compat, *arguments])
    assert (result.returncode, result.stderr) == (0, "")
    names = table_of(source_root)
    assert len(names) >= 5
    assert re.findall(r"^  ([A-Z_]+)$", result.stdout, re.M) == names


def test_help_names_every_command(run, xrc_compat):
    text = run([xrc_compat, "--help"]).stdout
    assert "run [--softhca[=DEVICES] [--model=NAME]]" in text and "env-vars" in text


def test_help_of_run(run, xrc_compat):
    result = run([xrc_compat, "run", "--help"])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("usage: xrc-compat run")


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["--nonsense"]])
def test_wrong_usage(run, xrc_compat, arguments):
    result = run([xrc_compat, *arguments])
    assert (result.returncode, result.stdout) == (125, "")
    assert "xrc-compat --help" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_the_word_that_it_does_not_take(run, xrc_compat, command):
    result = run([xrc_compat, command, "--nonsense"])
    assert (result.returncode, result.stdout) == (125, "")
    said = result.stderr.splitlines()
    assert said[0] == f"xrc-compat: {command}: --nonsense: unknown option"
    assert said[1].strip().startswith(f"usage: xrc-compat {command}")


@pytest.mark.parametrize("command, option", [
    ("check", "--device"), ("check", "--plugin"), ("ps", "-o"), ("trace", "--output"), ("trace", "--porting-report"), ("run", "--model"),
    ("report", "--output"), ("selftest", "--device"), ("selftest", "--port"), ("selftest", "--connect"),
])
def test_a_missing_value_is_named(run, xrc_compat, command, option):
    result = run([xrc_compat, command, option])
    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr.startswith(f"xrc-compat: {command}: {option}: its value is missing\n")


@pytest.mark.parametrize("words", [("check", "--device="), ("check", "--device", ""), ("check", "--plugin="), ("report", "--output="),
                                   ("report", "--output", ""), ("run", "--softhca", "--model=")])
def test_an_empty_value_is_missing(run, xrc_compat, words):
    result = run([xrc_compat, *words, "/bin/true"])
    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr.startswith(f"xrc-compat: {words[0]}: {[word for word in words if word][-1]}: its value is missing\n")


@pytest.mark.parametrize("words", COMMANDS + ["check program --help", "check --json --help", "selftest --softhca --listen", "gc --dry-run",
                                              "report program", "run --softhca", "trace --json", "trace --output file"])
def test_help_of_every_command(run, xrc_compat, words):
    """Wherever it stands among the words that are the command's."""
    result = run([xrc_compat, *words.split(), "--help"])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: xrc-compat {words.split()[0]}")


@pytest.mark.parametrize("words", ["run echo --help", "run -- echo --help", "trace echo --help", "trace --output /dev/null -- echo --help"])
def test_the_words_of_a_program_are_its_own(run, xrc_compat, words):
    result = run([xrc_compat, *words.replace("echo", "/bin/echo").split()])
    assert result.returncode == 0 and "usage: xrc-compat" not in result.stdout + result.stderr
