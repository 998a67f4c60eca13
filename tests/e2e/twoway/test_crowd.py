# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Many processes create two-way QPs at once, and are killed."""

import os
import random
import signal
import subprocess
import time

import models

KILLS = 12
PAIRS = 8 * 50 # of crowd.c


def test_pairs_are_found_after_failed_attempts(rows, program, trace):
    """Eight processes create fifty pairs each at once, and other programs take numbers in between.
    So the library creates more QPs than two per pair."""
    runs, made, end = 0, 0, time.monotonic() + 30
    # On a busy machine the crowd may end before the other programs run. Then it starts again.
    while made == runs * 2 * PAIRS and time.monotonic() < end:
        rows(9, "twoway-crowd", *[program("twoway-disturber")] * 2, settings=[trace.setting])
        runs += 1
        made = sum(commands["CREATE_QP"] for commands in trace.of_processes()
                   if "OPEN_XRCD" in commands)
    assert made > runs * 2 * PAIRS, "no attempt failed"


def test_create_fails_after_64_attempts_without_neighbours(on_wire, program, trace):
    """Another context takes the number between the two QPs of each attempt. After 64 attempts
    ibv_create_qp fails, one line is printed, and the library has destroyed its 128 QPs."""
    through = ["sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"', program("libtwoway-gaps.so")]
    done = on_wire("twoway-kind-none", settings=[trace.setting], env={"XRC_COMPAT_VERBOSE": "1"},
                   through=through)
    assert done.returncode == 1
    assert done.stdout.endswith(": ibv_create_qp: ENOMEM\n"), done.stdout
    lines = [line for line in done.stderr.splitlines() if "neighbouring" in line]
    assert len(lines) == 1 and models.device(0) in lines[0], done.stderr
    made = trace.commands()
    assert made["CREATE_QP"] == 64 * 4 and made["DESTROY_QP"] == 64 * 2


PAIR = {"XRC_SEND", "XRC_RECV"}


def qp_types(daemon):
    return {
        thing["qp_type"]
        for context in daemon.objects()["contexts"]
        for thing in context["objects"] if thing["type"] == "qp"
    }


def test_killed_programs_leave_nothing(daemon, xrc_compat, program):
    rng = random.Random(20080204)
    seen, killed, end = set(), 0, time.monotonic() + 30
    while killed < KILLS or (seen != PAIR and time.monotonic() < end):
        killed += 1
        proc = subprocess.Popen(
            [xrc_compat, "run", "--", program("exchange-ofed")], stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        proc.stdout.readline()
        # The first line says that the QPs are connected. On a busy machine each program may have
        # ended at its random moment. Then this stops the next programs at once.
        if killed <= KILLS:
            time.sleep(rng.random() * 0.05)
        os.killpg(proc.pid, signal.SIGSTOP)
        seen |= qp_types(daemon)
        os.killpg(proc.pid, signal.SIGKILL)
        proc.wait()
        proc.stdout.close()
        daemon.until_empty()
    assert seen == PAIR, "no program was killed while it had a two-way QP"
