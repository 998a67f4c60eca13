# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Many processes create two-way QPs at once, while others take numbers in between."""

import pytest

import models

PROCESSES, PAIRS = 8, 50 # of many_processes.c


@pytest.fixture
def disturbed(program, trace):
    """disturbed(QPs before which a number is taken): the options of a run."""

    def _disturbed(gaps=None):
        preload = 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"'
        return {
            "settings": [trace.setting],
            "env": {"XRC_COMPAT_VERBOSE": "1"} if gaps is None else {"GAPS": str(gaps)},
            "through": ["sh", "-c", preload, program("libgaps.so")]
        }

    return _disturbed


def test_pairs_are_found_after_failed_attempts(rows, trace, disturbed):
    """Eight processes create fifty pairs each at once. The first three attempts of each fail, since
    another context takes the number between the two QPs."""
    rows(1, "two-way-many-processes", **disturbed(gaps=6))
    assert trace.commands()["CREATE_QP"] >= PROCESSES * (2 * PAIRS + 6 + 6)


def test_create_fails_after_64_attempts_without_neighbours(on_wire, trace, disturbed):
    """ibv_create_qp fails, one line is printed, and the library has destroyed its 128 QPs."""
    done = on_wire("kind-none", **disturbed())
    assert done.returncode == 1
    assert done.stdout.endswith(": ibv_create_qp: ENOMEM\n"), done.stdout
    lines = [line for line in done.stderr.splitlines() if "neighbouring" in line]
    assert len(lines) == 1 and models.device(0) in lines[0], done.stderr
    made = trace.commands()
    assert made["CREATE_QP"] == 64 * 4 and made["DESTROY_QP"] == 64 * 2
