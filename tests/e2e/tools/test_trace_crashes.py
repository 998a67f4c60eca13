# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` shows the threads that a signal kills, and leaves other signals alone."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from installed import need
from waiting import wait_for

pytestmark = pytest.mark.any_model


@pytest.mark.usefixtures("own_crashes")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_crash_in_a_legacy_call_is_shown_with_its_stack(xrc_compat, softhca, helpers, tmp_path,
                                                          form, by_libdw):
    need("addr2line")
    output = tmp_path / "trace"
    words = [softhca, "run", "--devices=1", "--", xrc_compat, "trace", "--output", output,
             *(["--json"] if form == "json" else []), "--", helpers / "hang-in-call",
             tmp_path / "domain"]
    done = subprocess.run(words, input="crash\n", stdout=subprocess.PIPE, text=True, timeout=60,
                          check=False)
    assert done.returncode == 128 + signal.SIGSEGV
    call = "ibv_modify_xrc_rcv_qp"
    if form == "json":
        document = json.loads(output.read_text())
        [crash] = document["crashes"]
        assert (crash["signal"], crash["pid"]) == (signal.SIGSEGV, crash["tid"])
        assert crash["call"] == call
        assert ["crash", "main"] == [frame["symbol"] for frame in crash["backtrace"]
                                     if frame["module"].endswith("/hang-in-call")][:2]
        assert document["calls"][-1]["function"] == "ibv_create_xrc_rcv_qp"
    else:
        before, after = output.read_text().split(" dies by signal 11 (Segmentation fault) in ")
        assert after.startswith(call + ":\n        #0 ") and " crash (hang_in_call.c:" in after
        assert "ibv_create_xrc_rcv_qp(" in before


# The program gets the number $0 in its PID namespace.
NUMBERED = 'echo $(($0 - 1)) >/proc/sys/kernel/ns_last_pid && "$@"; exit $?'


def test_no_process_is_taken_for_one_of_another_pid_namespace(run, xrc_compat, softhca, helpers,
                                                              tmp_path, own_crashes):
    """Another process has the program's number here."""
    unshare = ["unshare", *(["--map-root-user"] if os.geteuid() else []), "--pid", "--fork",
               "--mount-proc", "--kill-child", "sh", "-c", NUMBERED]
    if run([*unshare, "2000", "true"]).returncode != 0:
        pytest.skip("no PID namespaces here")
    output = tmp_path / "trace"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(["cat"], **pipes) as other:
        words = [softhca, "run", "--devices=1", "--", xrc_compat, "trace", "--output", output,
                 "--json", "--", *unshare, str(other.pid), helpers / "hang-in-call",
                 tmp_path / "domain"]
        with subprocess.Popen(words, **pipes) as traced:
            traced.stdout.readline()
            wait_for(lambda: "ibv_create_xrc_rcv_qp" in output.read_text(), "the call")
            status = pathlib.Path(f"/proc/{other.pid}/status").read_text()
            traced.communicate("\n", timeout=60)
        other.stdin.close()
    assert "TracerPid:\t0\n" in status
    assert {call["pid"] for call in json.loads(output.read_text())["calls"]} == {other.pid}


HANDLES_SIGNALS = """trap 'echo caught' USR1; kill -USR1 $$; kill -WINCH $$
(sleep 0.2; kill -CONT $$) & kill -STOP $$; kill -TERM $$"""


def test_signals_that_the_program_handles_are_no_crashes(trace):
    result, document = trace("sh", "-c", HANDLES_SIGNALS, options=())
    assert (result.returncode, result.stdout) == (128 + signal.SIGTERM, "caught\n")
    assert [crash["signal"] for crash in document["crashes"]] == [signal.SIGTERM]
    assert document["crashes"][0]["call"] is None


def test_a_process_whose_parent_has_ended_is_watched(trace, tmp_path):
    """The program ends when that process has."""
    script = """mkfifo "$0"; (sh -c 'sleep 0.3; kill -TERM $$' >"$0" &); read line <"$0"; true"""
    _, document = trace("sh", "-c", script, tmp_path / "end", options=())
    assert [crash["signal"] for crash in document["crashes"]] == [signal.SIGTERM]


@pytest.mark.parametrize("debugger", [
    ["strace", "-f", "-qq", "-o", "/dev/null"], ["gdb", "-batch", "-nx", "-ex", "run", "--args"]
], ids=["strace", "gdb"])
def test_a_program_may_debug_its_own_children(trace, programs, debugger):
    need(debugger[0])
    if "SOFTHCA_TEST_SANITIZE" in os.environ:
        pytest.skip("debuggers crash with a sanitizer's runtime preloaded")
    result, document = trace(*debugger, programs["cluster"], "-n", 2)
    assert result.returncode == 0 and document["crashes"] == [], result
    assert [call["function"] for call in document["calls"]].count("ibv_unreg_xrc_rcv_qp") == 2
