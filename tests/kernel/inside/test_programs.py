# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that send: legacy clients and two-way QPs."""

import pytest

import test_pair
from driver import RAISE, run

SECONDS = "300"

CLIENTS = [
    "qperf", "mvapich", "mvapich --hybrid", "mvapich --private", "mvapich2", "mvapich2-dlopen",
    "gasnet", "gasnet --shutdown", "openmpi"
]


@pytest.mark.parametrize("mode", ["--poll", "--event"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_legacy_client_passes(build_root, tmp_path, client, mode):
    name, *words = client.split()
    done = run(
        [build_root / "tests" / "legacy" / "clients" / name, *words, mode], env={
            "LD_PRELOAD": str(build_root / "shim" / "libxrc-compat.so.1"), "TMPDIR": str(tmp_path),
            "LEGACY_SECONDS": SECONDS
        })
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.endswith(", all right\n"), done.stdout


def two_way(xrc_compat, build_root, name, *words):
    """The lines of a program that prints one for each case and fails if one failed, without
    those of skipped rows."""
    done = run([xrc_compat, "run", "--", build_root / "tests" / "e2e" / "xrc_qps" / name, *words],
               env={"SOFTHCA_TEST_COMMAND": RAISE, "SOFTHCA_DIR": ""})
    lines = [line for line in done.stdout.splitlines() if not line.startswith("skip ")]
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert lines and all(line.startswith("ok ") for line in lines), done.stdout
    return lines


@pytest.mark.parametrize("options", [[], ["--events"]], ids=["poll", "event"])
@pytest.mark.parametrize("dialect", ["ofed", "mlnx"])
def test_a_two_way_exchange_passes(xrc_compat, build_root, dialect, options):
    assert len(two_way(xrc_compat, build_root, f"exchange-{dialect}", *options)) == 26


@pytest.mark.parametrize("group", test_pair.ROWS)
def test_the_two_way_rows_hold(xrc_compat, build_root, group):
    assert len(two_way(xrc_compat, build_root, "two-way-pair", group)) == test_pair.ROWS[group]


def test_two_way_qps_can_be_created_at_once(xrc_compat, build_root):
    """The driver numbers QPs in sequence, so both halves of a pair get neighbouring numbers."""
    assert len(two_way(xrc_compat, build_root, "two-way-many-processes")) == 1
