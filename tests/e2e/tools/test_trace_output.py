# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Where `xrc-compat trace` writes. On the way there no record or line is lost, cut or mixed with
the program's own output."""

import os
import re
import socket
import subprocess

import pytest

from check_workshop import compile_c

pytestmark = pytest.mark.any_model


@pytest.mark.parametrize(
    "parent", ["/tmp", "/nonexistent", "/nonexistent" * 20, "relative"])
def test_no_temporary_file_is_left(traced, parent):
    socket = traced("--", "sh", "-c", "echo $XRC_COMPAT_TRACE", TMPDIR=parent).stdout.strip()
    assert socket.startswith("/tmp/xrc-trace-") and not os.path.exists(os.path.dirname(socket))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_trace_to_a_standard_stream_does_not_overwrite_what_the_program_writes(
        run, xrc_compat, programs, stream, tmp_path):
    script = f'"$0" trace --softhca=2 --output=/dev/{stream} -- sh -c "$1" "$2" >log 2>&1'
    lines = "for i in 1 2 3; do echo begin $i; done; $0; for i in 1 2 3; do echo end $i; done"
    done = run(["sh", "-c", script, xrc_compat, lines, programs["cluster"]], timeout=60,
               cwd=tmp_path)
    text = (tmp_path / "log").read_text()
    assert done.returncode == 0, text
    assert re.findall("^(?:begin|end) [1-3]$", text, re.M) == [
        f"{word} {i}" for word in ("begin", "end") for i in "123"]
    assert re.search(r"ibv_open_xrc_domain\(", text) and "\0" not in text


# Makes as many calls as its argument says while a timer interrupts it, if there is another argument
# while the command is stopped.
CALLS = """
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
int ibv_unreg_xrc_rcv_qp(void *domain, unsigned number);
static void tick(int number) { (void)number; }
int main(int c, char **v)
{
	struct sigaction action = { .sa_handler = tick };
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	if (c > 2 && !fork()) { usleep(300000); kill(atoi(v[2]), SIGCONT); _exit(0); }
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	if (c > 2) kill(atoi(v[2]), SIGSTOP);
	for (int i = atoi(v[1]); i; i--) ibv_unreg_xrc_rcv_qp(NULL, 1);
	return 0;
}
"""


@pytest.fixture
def caller(build_root, tmp_path):
    """caller(folder): a program of CALLS there."""
    return lambda folder=".": compile_c(tmp_path / folder / "caller", CALLS,
                                        build_root / "abi" / "link" / "libibverbs.so")


def test_a_signal_handler_without_sa_restart_costs_no_record(trace, caller):
    """The command does not read for a while, so that each call waits until there is room again."""
    result, document = trace("sh", "-c", 'exec "$0" 1000 $PPID', caller(), options=())
    assert result.returncode == 0 and len(document["calls"]) == 1000


def test_a_long_path_of_the_program_is_not_cut(trace, caller):
    program = caller("/".join(["long" * 50] * 3))
    _, document = trace(program, "1", options=())
    [call] = document["calls"]
    assert call["backtrace"][-1]["module"] == str(program)


@pytest.mark.parametrize("words", [["trace", "--", "CALLER", "3"], ["nonsense"]], ids=" ".join)
def test_each_line_on_standard_error_is_one_write(xrc_compat, caller, words):
    """The program's own output must not fall into it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    words = [caller() if word == "CALLER" else word for word in words]
    with ours, theirs, subprocess.Popen([xrc_compat, *words], stderr=theirs) as command:
        theirs.close()
        writes = list(iter(lambda: ours.recv(1 << 16), b""))
    assert command.returncode == (125 if words == ["nonsense"] else 0)
    assert len(writes) > 1 and all(re.fullmatch(b"\n?[^\n]+\n", line) for line in writes), writes


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_full_output_file_is_an_error(run, xrc_compat, programs, form):
    script = '"$@" >/dev/full'
    result = run(["sh", "-c", script, "sh", xrc_compat, "trace", "--softhca=2", *form, "--output",
                  "/dev/stdout", "--", "sh", "-c", "$0 >&2", programs["cluster"]], timeout=90)
    assert result.returncode == 125
    assert "xrc-compat: cannot write the trace to /dev/stdout: " in result.stderr
