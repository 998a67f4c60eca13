# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line: help, version, wrong usage, and the table of environment variables."""

import os
import re
import shutil
import sys

import pytest

from commands import COMMANDS
from terminal import Terminal
from waiting import read_until


def table_of(source_root):
    header = (source_root / "tools" / "common" / "variables.h").read_text()
    return re.findall(r"^\tX\((\w+),", header, re.M)


# A program that executes its arguments with SIGCHLD ignored, as some of perl and Python do.
IGNORING = [
    sys.executable, "-c",
    "import os, signal, sys; signal.signal(17, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
]


@pytest.mark.parametrize("words, status", [(["check", "PROGRAM"], 1), (["run", "PROGRAM"], 5),
                                           (["trace", "PROGRAM"], 5),
                                           (["selftest", "--softhca=1"], 0)],
                         ids=lambda of: of[0] if isinstance(of, list) else None)
@pytest.mark.any_model
def test_commands_work_with_sigchld_ignored(run, xrc_compat, helpers, words, status):
    words = [helpers / "show-start" if word == "PROGRAM" else word for word in words]
    result = run([*IGNORING, xrc_compat, *words], env={"SHOW_START_EXIT": "5"}, timeout=60)
    assert result.returncode == status, result


def test_a_program_may_begin_with_a_dash_after_two_dashes(run, xrc_compat, tmp_path):
    shutil.copy("/bin/true", tmp_path / "-program")
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert run([xrc_compat, "check", "--", "-program"], env=env).returncode == 1
    assert run([xrc_compat, "check", "-program"], env=env).returncode == 125


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(run, xrc_compat, option):
    result = run([xrc_compat, option])
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
    assert re.findall(r"^  ([a-z][a-z-]*)  ", text.split("Environment:")[0], re.M) == COMMANDS


@pytest.mark.parametrize("words", [[], *([command] for command in COMMANDS)],
                         ids=lambda words: " ".join(words) or "xrc-compat")
def test_help_fits_80_columns(run, xrc_compat, words):
    text = run([xrc_compat, *words, "--help"]).stdout
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_check_prints_the_verdict_bold_and_breaks_no_word(xrc_compat, tmp_path):
    program = tmp_path / ("a-long-name-" * 8)
    shutil.copy("/bin/true", program)
    with Terminal([str(xrc_compat), "check", str(program)], 24, 80,
                  dict(os.environ, TERM="xterm", NO_COLOR="")) as terminal:
        text = read_until(terminal.ours, re.compile(rb"Verdict[^\n]*\n[^\n]*\n").search)
    assert "Verdict     \x1b[1m" in text
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r", "").splitlines()
    assert all(len(line) <= 80 or len(line.split()) == 1 for line in lines), lines


@pytest.mark.parametrize("word, meant", [("rum", "run"), ("docter", "doctor"),
                                         ("self-test", "selftest"), ("traces", "trace"),
                                         ("reprot", "report")])
def test_a_misspelt_command_gets_a_suggestion(run, xrc_compat, word, meant):
    result = run([xrc_compat, word])
    assert (result.returncode, result.stdout) == (125, "")
    assert f"there is no command '{word}'\n" in result.stderr and f"did you mean: xrc-compat {meant}\n" in result.stderr


@pytest.mark.parametrize("word",
                         ["x", "launch", "nonsense", "env-vars-of-the-library-and-of-the-emulator"])
def test_an_unknown_word_gets_no_suggestion(run, xrc_compat, word):
    assert "did you mean" not in run([xrc_compat, word]).stderr


def test_a_misspelt_option_gets_a_suggestion(run, xrc_compat):
    assert "trace: --ouput: unknown option; did you mean --output?\n" in run(
        [xrc_compat, "trace", "--ouput", "x", "true"]).stderr


KNOWN_MODELS = "model is not 'connectx9'; there are: connectx3 connectx5\n"


@pytest.mark.parametrize("command", [["run", "true"], ["trace", "true"], ["selftest"]],
                         ids=lambda command: command[0])
@pytest.mark.parametrize("words", [["--model", "connectx9"], ["--model=connectx9"]],
                         ids=["two words", "one word"])
def test_an_unknown_model_is_refused_with_the_known_ones(run, xrc_compat, command, words):
    name, *program = command
    result = run([xrc_compat, name, "--softhca=1", *words, *program])
    assert result.returncode == 125 and KNOWN_MODELS in result.stderr, result
    alone = run([xrc_compat, name, *words, *program])
    assert alone.returncode == 125 and KNOWN_MODELS in alone.stderr, alone


def test_a_report_on_an_unknown_model_has_the_known_ones(run, xrc_compat, tmp_path):
    result = run([xrc_compat, "report", "--softhca=1", "--model=connectx9"], cwd=tmp_path)
    [report] = tmp_path.iterdir()
    assert result.returncode == 0 and KNOWN_MODELS in report.read_text()


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["--nonsense"]])
def test_wrong_usage(run, xrc_compat, arguments):
    result = run([xrc_compat, *arguments])
    assert (result.returncode, result.stdout) == (125, "")
    assert "xrc-compat --help" in result.stderr


def test_a_message_holds_no_control_character(run, xrc_compat):
    assert "\x1b" not in run([xrc_compat, "\x1b[2J"]).stderr


@pytest.mark.parametrize("words", [
    *([command, "--nonsense"] for command in COMMANDS), ["ps", "-xyz"], ["trace", "--json", "-xyz"]
], ids=" ".join)
def test_every_command_names_an_unknown_option(run, xrc_compat, words):
    command, option = words[0], words[-1]
    result = run([xrc_compat, *words])
    assert (result.returncode, result.stdout) == (125, "")
    output = result.stderr.splitlines()
    assert output[0] == f"xrc-compat: {command}: {option}: unknown option"
    assert output[1].strip().startswith(f"usage: xrc-compat {command}")


@pytest.mark.parametrize("command, option", [
    ("check", "--device"),
    ("check", "--plugin"),
    ("ps", "-o"),
    ("trace", "--output"),
    ("run", "--model"),
    ("trace", "--model"),
    ("report", "--output"),
    ("selftest", "--device"),
    ("selftest", "--port"),
    ("selftest", "--connect"),
])
def test_a_missing_value_is_named(run, xrc_compat, command, option):
    result = run([xrc_compat, command, option])
    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr.startswith(f"xrc-compat: {command}: {option}: its value is missing\n")
    assert f"usage: xrc-compat {command}" in result.stderr


@pytest.mark.parametrize("words", [("check", "--device="), ("check", "--device", ""),
                                   ("ps", "-o", ""), ("check", "--plugin="), ("report", "--output="),
                                   ("report", "--output", ""), ("run", "--softhca", "--model=")])
def test_an_empty_value_is_missing(run, xrc_compat, words):
    result = run([xrc_compat, *words, "/bin/true"])
    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr.startswith(
        f"xrc-compat: {words[0]}: {[word for word in words if word][-1]}: its value is missing\n")


@pytest.mark.parametrize("words", COMMANDS + [
    "check program --help", "check --json --help", "selftest --softhca --listen", "gc --dry-run",
    "report program", "run --softhca", "trace --json", "trace --output file"
])
def test_help_may_follow_other_words_of_the_command(run, xrc_compat, words):
    result = run([xrc_compat, *words.split(), "--help"])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: xrc-compat {words.split()[0]}")


@pytest.mark.parametrize("words", [
    "run echo --help", "run -- echo --help", "trace echo --help",
    "trace --output /dev/null -- echo --help"
])
def test_help_behind_the_program_is_not_the_commands(run, xrc_compat, words):
    result = run([xrc_compat, *words.replace("echo", "/bin/echo").split()])
    assert result.returncode == 0 and "usage: xrc-compat" not in result.stdout + result.stderr
