# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Requests to a peer that is killed during the traffic get no answer, not even a refusal."""

import pytest

from built import PROGRAMS

pytestmark = pytest.mark.any_model

ROUNDS = 4

REQUESTS = [
    "send", "send-without-a-byte", "send-to-no-buffer", "write", "write-with-immediate", "read",
    "compare-and-swap", "fetch-and-add", "xrc-send", "xrc-write"
]


@pytest.mark.parametrize("arena", ["on", "off"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_no_answer(below, request_name, arena):
    below([f"--arena={arena}"], PROGRAMS / "softhca-dead-peer", request_name, ROUNDS)
