# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A peer that is killed during the traffic gives no answer any more, not even a refusal."""

import os
import pathlib

import pytest

pytestmark = pytest.mark.any_model

PROGRAM = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"]) / "softhca-dead-peer"
ROUNDS = 4

REQUESTS = [
    "send", "send-without-a-byte", "send-to-no-buffer", "write", "write-with-immediate", "read",
    "compare-and-swap", "fetch-and-add", "xrc-send", "xrc-write"
]


@pytest.mark.parametrize("arena", ["on", "off"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_no_answer(run, softhca, request_name, arena):
    done = run([softhca, "run", f"--arena={arena}", "--", PROGRAM, request_name, ROUNDS],
               timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
