# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Standard streams that are full or closed: lost output is an error, and no other file gets the
number of a closed stream."""

import subprocess

import pytest

# Each prints something, and ends with 0 or 1 when it can.
PRINTING = [["--help"], ["--version"], ["env"], ["doctor"], ["check", "sh"],
            ["check", "--json", "sh"], ["ps"], ["ps", "--json"], ["selftest", "--softhca"]]


def shell(command, *words):
    """Runs a shell command, in which "$@" are @words."""
    return subprocess.run(["sh", "-c", command, "sh", *map(str, words)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("where", [">/dev/full", ">&-"], ids=["full", "closed"])
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_lost_output_is_an_error(xrc_compat, words, where):
    done = shell(f'"$@" {where}', xrc_compat, *words)
    assert done.returncode == 125
    assert "standard output: " in done.stderr


def test_a_command_without_output_needs_no_standard_output(xrc_compat, tmp_path):
    for command in ('"$@" >/dev/full', '"$@" <&- >&- 2>&-'):
        assert shell(command, xrc_compat, "trace", "--json", "--output", tmp_path / "trace",
                     "true").returncode == 0


def test_a_program_is_traced_without_a_stream_for_the_trace(xrc_compat, tmp_path):
    done = shell('"$@" 2>&-', xrc_compat, "trace", "touch", tmp_path / "started")
    assert done.returncode == 125 and (tmp_path / "started").exists(), done


def test_a_report_that_is_lost_is_refused(xrc_compat):
    done = shell('"$@" >&-', xrc_compat, "report", "--output", "/dev/stdout")
    assert (done.returncode, done.stderr) == (
        125, "xrc-compat: cannot write the report to /dev/stdout: Bad file descriptor\n")


@pytest.mark.parametrize("words", [[], ["--softhca"]], ids=["run", "run --softhca"])
def test_the_program_inherits_closed_streams(xrc_compat, words, tmp_path):
    note = tmp_path / "open"
    look = 'for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && echo $fd >>"$1"; done; true'
    done = shell('"$@" <&- >&- 2>&-', xrc_compat, "run", *words, "--", "sh", "-c", look, "sh", note)
    assert done.returncode == 0
    assert not note.exists()
