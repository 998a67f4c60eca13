# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What softhca(1) takes and refuses on its command line, and what it prints."""

import os

import pytest

from installed import need
from waiting import wait_for

pytestmark = pytest.mark.any_model


@pytest.mark.parametrize("argv, status, message", [
    ([], 125, "Commands:\n  run "),
    (["frobnicate"], 125, "unknown command 'frobnicate'\n         try: softhca --help\n"),
    (["help", "frobnicate"], 125, "unknown command 'frobnicate'"),
    (["run"], 125, "no program given"),
    (["run", "--devices=0", "true"], 125, "a number from 1 to 16"),
    (["run", "--devices=2x", "true"], 125, "a number from 1 to 16"),
    (["run", "--max_srq_wr=99999", "true"], 125, "a number from 1 to"),
    (["run", "--model=connectx5", "--max_sge=31", "true"], 125, "max_sge is at most 30 on a"),
    (["run", f"--trace={'x' * 300}", "true"], 125, "trace"),
    (["run", "--xrc=maybe", "true"], 125, "on or off"),
    (["run", "--nonsense=1", "true"], 125,
     "softhca: run: --nonsense=1: unknown option\n         try: softhca run --help\n"),
    (["run", "-d", "4", "true"], 125, "run: -d: unknown option"),
    (["run", "--dev=4", "true"], 125, "run: --dev=4: unknown option"),
    (["status", "--hel"], 125, "status: --hel: unknown option"),
    (["run", "--dev"], 125, "run: --dev: unknown option"),
    (["run", "--ne=1", "true"], 125, "run: --ne=1: unknown option"),
    (["run", "--devices"], 125, "run: --devices: its value is missing"),
    (["run", "--devices", "true"], 125, "a number from 1 to 16, not 'true'"),
    (["run", "--net=yes", "true"], 125, "run: --net=yes: it takes no value"),
    (["run", "--", "/nonexistent/program"], 127, "No such file"),
    (["run", "--", "/dev/null"], 126, "Permission denied"),
    (["run", "--trace=/nonexistent/file", "true"], 125, "/nonexistent/file"),
    (["start", "word"], 125, "start: word: unexpected argument"),
    (["start", "--net"], 125, "start: --net: unknown option"),
    (["status", "word"], 125, "status: word: unexpected argument"),
    (["stop", "--devices=2"], 125, "stop: --devices=2: unknown option"),
    (["ctl"], 125, "ctl: no command given"),
    (["status"], 1, "; 'softhca start' starts one\n"),
])
def test_error_messages(run, softhca, place, argv, status, message):
    done = run([softhca, *argv])
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    wait_for(lambda: not list(place.iterdir()), "empty directory")


@pytest.mark.parametrize("words, usage", [
    *((words, "COMMAND [") for words in ("--help", "-h", "help", "help --help")),
    *((words, "run [") for words in (
        "run --help", "help run", "run --devices=1 --help", "run --devices 1 --help", "run -h")),
    *((f"{command} --help", command) for command in ("start", "stop", "status", "ssh", "ctl")),
    *((f"ctl {words}", "ctl COMMAND [") for words in ("objects --help", "capture -h")),
])
def test_help_is_that_of_the_command_and_fits_80_columns(run, softhca, words, usage):
    done = run([softhca, *words.split()])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: softhca {usage}")
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", [
    "--devices 3 --ports=2", "--devices=3 --ports 2", "-devices 3 -ports=2"
])
def test_a_value_stands_behind_an_equals_sign_or_a_blank(run, softhca, place, words):
    done = run([softhca, "run", *words.split(), "--", softhca, "status"])
    assert (done.returncode, done.stderr) == (0, "") and "3 devices of 2 ports" in done.stdout


def test_options_behind_the_program_are_its_own(run, softhca, place):
    done = run([softhca, "run", "echo", "--help", "--devices=1"])
    assert (done.returncode, done.stdout) == (0, "--help --devices=1\n")


@pytest.mark.parametrize("where", [">/dev/full", ">&-"], ids=["full", "closed"])
def test_lost_output_is_an_error(run, softhca, where):
    commands = ["--help", "status", "ctl objects", "ctl counters"]
    script = "".join(f'"$0" {words} {where}; echo "status $?"\n' for words in commands)
    done = run([softhca, "run", "sh", "-c", script, softhca])
    assert done.stdout == "status 125\n" * len(commands)
    assert done.stderr.count("softhca: standard output: ") == len(commands)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(run, softhca, option):
    assert run([softhca, option]).stdout.split() == ["softhca", os.environ["SOFTHCA_TEST_VERSION"]]


def test_an_option_overrides_the_model_of_the_environment(run, softhca, place):
    need("ibv_devices")
    listed = run([softhca, "run", "--model=connectx5", "--", "ibv_devices"],
                 env={"SOFTHCA_MODEL": "connectx3"}).stdout
    assert "mlx5_0" in listed and "mlx4_0" not in listed
    done = run([softhca, "run", "--", "true"], env={"SOFTHCA_MODEL": "connectx9"})
    assert done.returncode == 125 and "connectx3 connectx5" in done.stderr
