# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The legacy contract, row by row: all rows, with messages where the adapter carries them."""

import os
import re
import threading

import pytest

import test_contract
from contract_rows import MODES, failures
from driver import CARRIES, DEVICES, PATCHED, TELLS_NO_PATH, run
from raise_event import NAMES, raise_event

# Two of `event` are about events of handles from ibv_open_qp, which get none (docs/upstream).
DEAF = 0 if PATCHED else 2

# All of `data` sends, and one of `ordinary`.
ROWS = dict(test_contract.ROWS)
if not CARRIES:
    del ROWS["data"]
    ROWS["ordinary"] -= 1

NO_PATH = "r.attr.ah_attr.dlid: got 0, want 1"


def raise_what_is_written(pipe):
    """A line without its end for each event, as tests/e2e/shim/rows_event.c writes them."""
    while True:
        for number, event in re.findall(r"[a-z]+ (\d+) (\d+)", os.read(pipe, 4096).decode()):
            raise_event(DEVICES[1], NAMES[int(event)], int(number))


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """Environment of the program: without messages events come by the adapter's register."""
    if CARRIES:
        return {}
    path = tmp_path_factory.mktemp("events") / "pipe"
    os.mkfifo(path)
    threading.Thread(target=raise_what_is_written, args=[os.open(path, os.O_RDWR)], daemon=True).start()
    return {"CONTRACT_EVENTS": str(path)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", ROWS)
def test_rows(xrc_compat, build_root, events, mode, group):
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    deaf = ["--without-opened-events"] if group == "event" and DEAF else []
    less = [] if CARRIES else ["--without-data"]
    done = run([xrc_compat, "run", "--", contract, f"--mode={mode}", *deaf, *less, group], env=events)
    found = failures(done, group, mode, ROWS[group] - (DEAF if deaf else 0))
    found = [line for line in found if not (TELLS_NO_PATH and line.endswith(NO_PATH))]
    assert not found, "\n".join(found)
