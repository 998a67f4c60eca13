# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line: help, version, completion, wrong usage, and the table of environment
variables."""

import os
import re
import shlex
import shutil

import pytest

from commands import COMMANDS, usage_of
from facts import IGNORING_CHILDREN


def table_of(source_root):
    header = (source_root / "tools" / "job" / "variables.h").read_text()
    return re.findall(r"^\tX\((\w+),", header, re.M)


@pytest.mark.parametrize("words, status", [(["check", "PROGRAM"], 1), (["run", "PROGRAM"], 5),
                                           (["trace", "PROGRAM"], 5),
                                           (["selftest", "--softhca=1"], 0)],
                         ids=lambda of: of[0] if isinstance(of, list) else None)
@pytest.mark.any_model
def test_commands_work_with_sigchld_ignored(run, xrc_compat, helpers, words, status):
    words = [helpers / "show-start" if word == "PROGRAM" else word for word in words]
    result = run([*IGNORING_CHILDREN, xrc_compat, *words], env={"SHOW_START_EXIT": "5"}, timeout=60)
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


def test_every_environment_variable_is_printed_with_its_default(run, xrc_compat, source_root):
    result = run([xrc_compat, "--help"])
    assert (result.returncode, result.stderr) == (0, "")
    names = table_of(source_root)
    assert len(names) >= 5
    assert re.findall(r"^  ([A-Z_]+)$", result.stdout, re.M) == names
    assert len(re.findall(r"^        default: +\S", result.stdout, re.M)) == len(names)


def test_help_names_every_command(run, xrc_compat):
    text = run([xrc_compat, "--help"]).stdout
    assert re.findall(r"^  ([a-z][a-z-]*)  ", text.split("Environment:")[0], re.M) == COMMANDS


@pytest.mark.parametrize("words", COMMANDS + [
    "", "check program --help", "check --json --help", "gc --dry-run", "run --softhca",
    "run --softhca 2", "trace --output file"
])
def test_help_may_follow_other_words_and_fits_80_columns(run, xrc_compat, words):
    result = run([xrc_compat, *words.split(), "--help"])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: xrc-compat {words.split(' ')[0]}".rstrip())
    assert [line for line in result.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", ["help", "-h", *(f"help {command}" for command in COMMANDS),
                                   *(f"{command} -h" for command in COMMANDS)])
def test_help_is_also_a_word(run, xrc_compat, words):
    [command] = set(words.split()) - {"help", "-h"} or {""}
    result = run([xrc_compat, *words.split()])
    assert result.returncode == 0
    assert result.stdout == run([xrc_compat, *command.split(), "--help"]).stdout


def test_without_words_the_commands_are_listed(run, xrc_compat):
    result = run([xrc_compat])
    assert (result.returncode, result.stdout) == (125, "")
    assert re.findall(r"^  ([a-z-]+)  ", result.stderr, re.M) == COMMANDS


@pytest.mark.parametrize("words", ["--softhca 1", "--softhca=1", "-softhca 1"])
def test_a_value_stands_behind_an_equals_sign_or_a_blank(run, xrc_compat, words):
    """Also a value that may be left out."""
    result = run([xrc_compat, "run", *words.split(), "--", "ibv_devices"])
    assert result.returncode == 0 and len(re.findall(r"mlx\d_\d", result.stdout)) == 1, result


@pytest.mark.parametrize("words", ["run echo --help", "trace --output /dev/stderr -- echo --help"])
def test_help_behind_the_program_is_not_the_commands(run, xrc_compat, words):
    result = run([xrc_compat, *words.replace("echo", "/bin/echo").split()])
    assert result.returncode == 0 and "usage: xrc-compat" not in result.stdout + result.stderr


@pytest.mark.any_model
def test_every_word_that_was_released_is_taken(run, xrc_compat, softhca, source_root):
    """An option, a column, a variable or a command of 1.0.0 that goes breaks scripts
    (docs/release.md)."""
    released = (source_root / "tests" / "e2e" / "tools" / "released.words").read_text().splitlines()[1:]
    programs = {"xrc-compat": xrc_compat, "softhca": softhca}
    for command, words in (line.split(":") for line in released):
        program, *name = command.split()
        result = run([programs[program], *name, "--help"])
        assert result.returncode == 0, command
        taken = set(re.findall(r"^  ([-\w]+)", result.stdout, re.M))
        assert set(words.split()) - taken == set(), command
    assert len(released) >= 15


# ---- completion ----

FOLDERS = {"xrc-compat": "tools", "softhca": "subprojects/softhca"}


@pytest.fixture
def complete(run, softhca, source_root, build_root):
    """complete(word..., of=command): what bash offers for the last of the words."""

    def _complete(*words, of="xrc-compat", before=""):
        script = (
            f"{before}\nPATH=$1:$2:$PATH; source {source_root}/{FOLDERS[of]}/completion/{of}; COMP_WORDS=({of} {' '.join(map(repr, words))}); "
            f"COMP_CWORD={len(words)}; _{of.replace('-', '_')} {of}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        result = run(["bash", "-c", script, "bash", build_root / "tools", softhca.parent])
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout.split()

    return _complete


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_offers_the_options_that_the_help_names(complete, command):
    options = {option for option in usage_of(command).split() if option.startswith("--")}
    assert set(complete(command, "--")) == options | {"--help"}


def test_bash_offers_commands_and_programs_and_completes_a_beginning(complete):
    assert sorted(complete("")) == sorted(COMMANDS + ["help", "--help", "--version"])
    assert sorted(complete("help", "")) == sorted(COMMANDS)
    assert complete("help", "do") == ["doctor"]
    assert complete("do") == ["doctor"]
    assert complete("check", "--j") == ["--json"]
    assert "ls" in complete("run", "ls") and "ls" in complete("env", "l")
    assert "ls" in complete("run", "--softhca", "l") and "ls" in complete("trace", "--", "l")
    assert {"while", "cd", "source"} & {*complete("env", ""), *complete("run", "")} == set()
    for of in FOLDERS:
        assert "ls" in complete("run", "l", of=of, before="alias ls='ls --color' ll='ls -l'")
        assert "ll" not in complete("run", "l", of=of, before="alias ls='ls --color' ll='ls -l'")
        assert {"echo", "test"} <= {*complete("run", "", of=of)}


@pytest.mark.parametrize("words, offered", [
    (["run", "--model", ""], ["connectx3", "connectx5"]), (["run", "--model", "="], ["connectx3", "connectx5"]),
    (["selftest", "--model", "=", "connectx5"], ["connectx5"]), (["env", "--shell", ""], ["csh", "sh"]),
    (["run", "--softhca", "=", ""], []), (["ps", "-o", ""], []),
])
def test_bash_offers_the_values_of_an_option(complete, words, offered):
    assert sorted(complete(*words)) == offered


@pytest.mark.parametrize("words, offered", [
    ([""], {"run", "ctl", "--help"}), (["run", "--n"], {"--net", "--nap"}), (["start", "--xrc", "="], {"on", "off"}),
    (["run", "--model", ""], {"connectx3", "connectx5"}), (["ctl", ""], {"objects", "fault"}),
    (["ctl", "capture", "--s"], {"--stop", "--snap"}), (["run", "l"], {"ls"}), (["start", "--n"], {"--nap"}), (["run", "--net", "--", "l"], {"ls"}),
])
def test_bash_completes_softhca(complete, words, offered):
    found = set(complete(*words, of="softhca"))
    assert found >= offered and "--ports" not in found and "while" not in found


@pytest.mark.parametrize("words", [
    "softhca run --machines ho", "softhca run --machines = ho", "softhca run /bin/ls ho",
    "softhca ctl capture ho",
    "softhca run -- ls ho", "softhca run --net --xrc = on --devices 2 ls -l ho",
    "xrc-compat trace --output ho", "xrc-compat run --machines = ho", "xrc-compat check --plugin ho",
    "xrc-compat run /bin/ls ho", "xrc-compat trace -- ls ho", "xrc-compat run --softhca 2 ls ho",
    "xrc-compat run --summary --softhca = 2 --model connectx3 ls -l ho",
    "xrc-compat env --shell sh mpirun ho",
])
def test_bash_completes_files(complete, tmp_path, monkeypatch, words):
    """Beside them hostname is a command."""
    (tmp_path / "hosts").touch()
    monkeypatch.chdir(tmp_path)
    command, *rest = words.split()
    assert complete(*rest, of=command) == ["hosts"]


def test_bash_offers_no_option_to_a_command_of_ssh(complete):
    assert complete("ssh", "-", of="softhca") == ["--help"]
    assert complete("ssh", "mlx4-1", "-", of="softhca") == []


def test_bash_offers_no_file_for_a_number_or_an_address(complete, tmp_path, monkeypatch):
    (tmp_path / "hosts").touch()
    monkeypatch.chdir(tmp_path)
    for option in ("--devices", "--address", "--port"):
        assert complete("start", option, "", of="softhca") == []
    assert complete("ctl", "capture", "--snap", "=", of="softhca") == []
    assert complete("ctl", "capture", "--snap", "", of="softhca") == []
    assert complete("ctl", "./[", "--", of="softhca") == []
    assert complete("run", "--", "--", of="softhca") == complete("run", "--", "--") == []


@pytest.mark.parametrize("words, offered", [
    (["run", "ls", "--"], []), (["trace", "--", "ls", "--j"], []), (["env", "mpirun", "--"], []),
    (["run", "ls", "--model", ""], ["hosts"]), (["check", "ls", "--j"], ["--json"]),
    (["check", "ls", "l"], []),
])
def test_bash_offers_the_options_behind_a_program_only_of_check_and_report(
        complete, tmp_path, monkeypatch, words, offered):
    (tmp_path / "hosts").touch()
    monkeypatch.chdir(tmp_path)
    assert complete(*words) == offered


# ---- wrong usage ----


# The message begins with it, and the usage follows.
@pytest.mark.parametrize("words, says", [
    ("trace --ouput x true", "trace: --ouput: unknown or ambiguous option"),
    ("check true --ouput", "check: --ouput: unknown or ambiguous option"),
    *((f"{command} --nonsense", f"{command}: --nonsense: unknown or ambiguous option")
      for command in COMMANDS),
    ("run --s /bin/true", "run: --s: unknown or ambiguous option"),
    ("trace --json -xyz", "trace: -xyz: unknown or ambiguous option"),
    ("check --device", "check: --device: its value is missing"),
    ("ps -o", "ps: -o: its value is missing"),
    ("check --device= PROGRAM", "check: --device: its value is missing"),
    ("check --device '' PROGRAM", "check: --device: its value is missing"),
])
def test_an_unknown_option_and_a_missing_value_get_the_usage(run, xrc_compat, words, says):
    result = run([xrc_compat, *shlex.split(words.replace("PROGRAM", "/bin/true"))])
    assert (result.returncode, result.stdout) == (125, ""), result
    assert result.stderr.startswith(f"xrc-compat: {says}\n")
    assert f"usage: xrc-compat {words.split()[0]}" in result.stderr


@pytest.mark.parametrize("words, says", [
    ("rum", "there is no command 'rum'\n            try: xrc-compat --help\n"),
    ("help rum", "there is no command 'rum'\n"),
    # The wrong value, or the wrong number of words.
    ("ps -o PID,NONSENSE", "there is no column 'NONSENSE'"),
    ("ps --json=yes", "ps: --json=yes: it takes no value"),
    ("env --shell=/usr/bin/fish", "env: --shell=/usr/bin/fish: neither sh nor csh"),
    ("selftest --actor --json", "selftest: --actor goes neither with --json nor with --remote"),
    ("selftest --actor --remote=ssh", "selftest: --actor goes neither with --json"),
    ("ps nonsense", "ps: nonsense: unexpected argument"),
    ("check", "usage: xrc-compat check"),
    ("check ls cat", "usage: xrc-compat check"),
    ("run --", "usage: xrc-compat run"),
    ("run --softhca= true", "usage: xrc-compat run"),
    *((f"{words}", "devices is a number from 1 to 16, not '0'\n") for words in (
        "run --softhca=0 true", "trace --softhca 0 true", "selftest --softhca=0")),
    ("run --softhca=17 true", "devices is a number from 1 to 16, not '17'\n"),
    ("run --softhca=two true", "devices is a number from 1 to 16, not 'two'\n"),
    ("trace --json", "usage: xrc-compat trace"),
    ("report one two", "usage: xrc-compat report"),
    ("report --output /nonexistent/file", "/nonexistent/file"),
    ("trace --output /nonexistent/%% -- echo ran", "the trace to /nonexistent/%: No such"),
    *((f"{words} --model=connectx9 true", "'connectx9'; there are: connectx3 connectx5\n")
      for words in ("run", "trace")),
    ("selftest --softhca --model connectx9", "'connectx9'; there are: connectx3 connectx5\n"),
])
def test_wrong_usage_is_status_125_and_named(run, xrc_compat, words, says):
    result = run([xrc_compat, *shlex.split(words)])
    assert (result.returncode, result.stdout) == (125, ""), result
    assert says in result.stderr


def test_an_unknown_word_is_printed_safely(run, xrc_compat):
    errors = run([xrc_compat, "\x1b[2J"]).stderr
    assert errors and "\x1b" not in errors
