# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that do what the real clients do run unmodified under the shim, each LEGACY_REPEAT times
(once unless set).

They exit with 0 only if all messages arrived whole, and every verb gave the result that the real
client relied upon.
"""

import os
import re
import time

import pytest

REPEAT = int(os.environ.get("LEGACY_REPEAT") or 1)

# {program: its message without the shim}. The loader prints the message of a linked program. The
# program mvapich2-dlopen looks the verbs up, and prints its own.
MISSING = dict.fromkeys(
    ["qperf", "mvapich", "mvapich2", "gasnet", "openmpi", "portals4", "portals4-rdmacm"],
    "undefined symbol: ibv_open_xrc_domain, version IBVERBS_1.1")
MISSING["mvapich2-dlopen"] = "Error opening ibv_open_xrc_domain. Falling back."

# TWO_WAY programs have no receive QPs: both sides send on the same QPs.
TWO_WAY = ["qperf", "mvapich", "mvapich --hybrid", "mvapich --private"]
ONE_WAY = [
    "mvapich2", "mvapich2-dlopen", "gasnet", "gasnet-shutdown", "openmpi", "portals4",
    "portals4 --daemon", "portals4-rdmacm", "portals4-rdmacm --daemon"
]

# {how a client waits for completions: a setting of the emulated kernel}. With --strict=on the
# kernel refuses mask bits that Linux removes, so the shim must clear them. The real Open MPI waits
# for events only when it was built with progress threads.
MODES = {"--poll": "--strict=on", "--event": "--strict=off"}

SUMMARY = re.compile(r"^(.+): \d+ processes on 2 hosts, [1-9]\d* messages verified, all right$")


@pytest.fixture
def client(build_root, softhca, run, tmp_path, sanitizer_runtime):
    """client(command, option..., settings=[...], shim=True, **environment): runs it once, with
    files of its own."""

    def _client(command, *options, settings=("--devices=2",), shim=True, timeout=60, **environment):
        env = {"TMPDIR": str(tmp_path), "LEGACY_SECONDS": "30", **environment}
        if shim:
            shim = str(build_root / "shim" / "libxrc-compat.so.1")
            env["LD_PRELOAD"] = ":".join(filter(None, [shim, sanitizer_runtime]))
        name, *rest = command.split()
        program = build_root / "tests" / "legacy" / "clients" / name
        if not program.exists():
            pytest.skip(f"{name} was not built: no librdmacm here")
        return run([softhca, "run", *settings, "--", program, *rest, *options], timeout=timeout,
                   env=env)

    return _client


def verify(done, command):
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    found = SUMMARY.match(done.stdout)
    assert found and found.group(1) == command, done.stdout


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", TWO_WAY + ONE_WAY)
def test_runs_unmodified(client, command, mode):
    for _ in range(REPEAT):
        verify(client(command, mode, settings=("--devices=2", MODES[mode])), command)


@pytest.mark.any_model
@pytest.mark.parametrize("program", ["qperf", "openmpi", "mvapich-umad", "mvapich2-umad"])
def test_run_starts_the_clients(build_root, xrc_compat, run, tmp_path, program, sanitizer_runtime,
                                request):
    """Every MVAPICH was linked with libibumad.so.1, which the distribution does not have."""
    if "umad" in program:
        request.getfixturevalue("todays_libibumad")
    done = run(
        [xrc_compat, "run", "--softhca=2", "--", build_root / "tests/legacy/clients" / program],
        timeout=60,
        env={"TMPDIR": str(tmp_path), "LD_PRELOAD": sanitizer_runtime, "LD_LIBRARY_PATH": ""})
    verify(done, program.removesuffix("-umad"))


@pytest.mark.any_model
@pytest.mark.parametrize("command, message", MISSING.items())
def test_clients_need_xrc_compat(client, command, message):
    """They need functions that today's library lacks, so the runs above do test the shim."""
    done = client(command, shim=False)
    assert done.returncode == 1 and message in done.stderr


@pytest.mark.parametrize("command", ["qperf", "mvapich"])
def test_two_way_clients_fail_on_one_way_qps(client, command):
    """On one-way QPs nothing arrives, so each program fails at its deadline."""
    done = client(command, XRC_COMPAT_TWO_WAY="off", LEGACY_SECONDS="4")
    assert done.returncode == 1 and "FAILED" in done.stdout


@pytest.mark.any_model
@pytest.mark.parametrize("command", TWO_WAY + ONE_WAY)
def test_a_killed_process_ends_the_job(client, command):
    """Rank 1 kills itself after it has verified 7 messages. The job ends within 30 s, before its
    deadline of ten minutes."""
    before = time.monotonic()
    done = client(command, LEGACY_KILL="1:7", LEGACY_SECONDS="600")
    assert time.monotonic() - before < 30
    assert done.returncode == 1 and "rank 1 is killed, as told" in done.stderr
