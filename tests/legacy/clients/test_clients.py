# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs with the habits of the real clients, each several times (LEGACY_REPEAT, 2 unless set), as they would be run.

They verify what they receive, and every result that the real client relied upon; all of that is behind their status 0.
"""

import os
import re
import time

import pytest

REPEAT = int(os.environ.get("LEGACY_REPEAT") or 2)

# In the old library's time it was linked against; what is found by dlopen says something else when it is missing.
MISSING = "undefined symbol: ibv_open_xrc_domain, version IBVERBS_1.1"
FALLBACK = "Error opening ibv_open_xrc_domain. Falling back."

# These have no receive QPs: on their QPs both sides send.
TWO_WAY = ["qperf", "mvapich", "mvapich --hybrid", "mvapich --private"]
ONE_WAY = ["mvapich2", "mvapich2-dlopen", "gasnet", "gasnet-shutdown", "openmpi", "portals4", "portals4 --daemon",
           "portals4-rdmacm", "portals4-rdmacm --daemon"]

# Open MPI can be told to wait for events too: it was built with progress threads then.
MODES = ["--poll", "--event"]

SUMMARY = re.compile(r"^(.+): (\d+) processes on 2 hosts, (\d+) messages verified, all right$")


@pytest.fixture
def client(build_root, softhca, run, tmp_path, sanitizer_runtime):
    """client(command, [option], settings=[...], shim=True, **environment): one run of a program, files apart."""

    def _client(command, *options, settings=("--devices=2",), shim=True, timeout=60, **environment):
        env = {"TMPDIR": str(tmp_path), "LEGACY_SECONDS": "30", **environment}
        if shim:
            shim = str(build_root / "shim" / "libxrc-compat.so.1")
            env["LD_PRELOAD"] = ":".join(filter(None, [shim, sanitizer_runtime]))
        name, *rest = command.split()
        program = build_root / "tests" / "legacy" / "clients" / name
        if not program.exists():
            pytest.skip(f"{name} was not built: no librdmacm here")
        return run([softhca, "run", *settings, "--", program, *rest, *options], timeout=timeout, env=env)

    return _client


def verify(done, command):
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    found = SUMMARY.match(done.stdout)
    assert found and found.group(1) == command, done.stdout
    assert int(found.group(3)) > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", TWO_WAY + ONE_WAY)
def test_runs_unmodified(client, command, mode):
    for _ in range(REPEAT):
        verify(client(command, mode), command)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", TWO_WAY + ONE_WAY)
def test_runs_without_ibv_open_qp(client, command, mode):
    """As on qedr: one process has the receive QP, the others are registered with it all the same."""
    for _ in range(REPEAT):
        verify(client(command, mode, settings=("--devices=2", "--open_qp=off")), command)


@pytest.mark.parametrize("command", TWO_WAY + ONE_WAY)
def test_needs_no_kindness_of_the_kernel(client, command):
    """Nothing is left to the kernel that drops attribute bits it does not like."""
    verify(client(command, settings=("--devices=2", "--strict=on")), command)


@pytest.mark.parametrize("command", ["qperf", "openmpi"])
def test_the_launcher_runs_them(build_root, xrc_compat, run, tmp_path, command, sanitizer_runtime):
    program = build_root / "tests" / "legacy" / "clients" / command
    done = run([xrc_compat, "run", "--softhca=2", "--", program], timeout=60,
               env={"TMPDIR": str(tmp_path), "LD_PRELOAD": sanitizer_runtime})
    verify(done, command)


@pytest.mark.parametrize("command", ["qperf", "mvapich", "mvapich2", "gasnet", "openmpi", "portals4", "portals4-rdmacm"])
def test_linked_ones_need_xrc_compat(client, command):
    """They refer to what today's library lacks: so the runs above show something."""
    done = client(command, shim=False, LEGACY_SECONDS="5")
    assert done.returncode == 1 and MISSING in done.stderr


def test_dlopen_falls_back_without_xrc_compat(client):
    done = client("mvapich2-dlopen", shim=False, LEGACY_SECONDS="5")
    assert done.returncode == 1 and FALLBACK in done.stderr


@pytest.mark.parametrize("command", ["qperf", "mvapich"])
def test_two_way_ones_need_pairs(client, command):
    """With QPs that only send nothing arrives: the programs do not take silence for success, nor wait for ever."""
    done = client(command, XRC_COMPAT_TWO_WAY="off", LEGACY_SECONDS="4")
    assert done.returncode == 1 and "FAILED" in done.stdout


@pytest.mark.parametrize("command", TWO_WAY + ONE_WAY)
def test_nobody_waits_for_the_dead(client, command):
    """One process is killed in the middle; the job ends at once, long before the time that is allowed."""
    started = time.monotonic()
    done = client(command, LEGACY_KILL="1:7")
    assert done.returncode == 1 and "rank 1 is killed, as told" in done.stderr
    assert time.monotonic() - started < 15
