# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""
rdma-core's own tests, by pyverbs: all that can run pass, and what does not run has its reason in a
table. The tests are those that the distribution installs with python3-pyverbs.
SOFTHCA_TEST_PYVERBS=20 runs them 20 times in a row.
"""

import gzip
import json
import os
import pathlib
import re

import pytest

import models

INSTALLED = pathlib.Path("/usr/share/doc/rdma-core/tests")
RUNNER = pathlib.Path(__file__).with_name("pyverbs_runner.py")
TIMES = int(os.environ.get("SOFTHCA_TEST_PYVERBS", "1"))

# {reason that a test gives for not running: why it is right here}. "As libmlx4" or "as libmlx5": the
# test does not run on real adapters with that library, either.
SKIPPED = {
    r"over non EFA device": "about another vendor's adapter",
    r"Ethernet link layer|net interface|RoCE|No supported port":
        "about Ethernet, and the ports are InfiniBand",
    r"huge pages|cuda-python|scapy|Crypto login|renderD|dmabuf|PCI device|FDs file|No PHC":
        "needs what the machine has not, or what is told to the tests",
    r"ODP|No ODP caps":
        "as the ConnectX-3; the ConnectX-5 pages in on demand, the emulated one does not",
    r"Extended QP|QP with extended attrs|QP without extended attrs":
        "as libmlx4, which knows only some of them, and libmlx5, which has no "
        "atomic write",
    r"Extended CQ|Device caps doesn't support":
        "no CQ that ignores overruns, no compressed or padded completions, no real-time "
        "stamps",
    r"CC PD|CC_DMA_BOUNCE|DMA Handle|FLUSH_GLOBAL|query_port_speed": "newer than these adapters",
    r"SRQ resize": "as libmlx4 and libmlx5",
    r"Create MW|[Mm]emory [Ww]indow": "no memory windows",
    r"Device memory|Tag matching|DCI caps|Mkey|DV QP|LAG|schedule elements|reserved QP|real time":
        "libmlx5 asks for it by ioctl, which the adapter's "
        "descriptor does not have",
}
ON_MLX4 = {
    r"over non MLX5 device|not an MLX5 device": "about another model's adapter",
    r"Parent Domain": "as libmlx4",
}

# Modules and tests that need the ioctl interface and do not ask before whether it is there. Most
# are about libmlx5's own verbs.
NEED_IOCTL = {
    "test_dmah", "test_mlx5_cq", "test_mlx5_dc", "test_mlx5_devx", "test_mlx5_dm_ops",
    "test_mlx5_dr", "test_mlx5_flow", "test_mlx5_mkey", "test_mlx5_pp", "test_mlx5_query_port",
    "test_mlx5_timestamp", "test_mlx5_uar", "test_mlx5_var", "test_query_port_speed",
    "test_shared_pd"
}

# Some tests make a CQ of the largest size. Those of the adapters take 256 and 512 MB, which libmlx5
# fills.
FEWER_COMPLETIONS = "--max_cqe=65535"

# The least number of passing tests. The tests choose some cases at random, so more may pass.
PASS = {"connectx3": 55, "connectx5": 85}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    pytest.importorskip("pyverbs", reason="python3-pyverbs is not installed")
    if not INSTALLED.is_dir():
        pytest.skip(
            f"{INSTALLED} was not found: the distribution's tests were not installed with "
            "python3-pyverbs"
        )
    path = tmp_path_factory.mktemp("pyverbs") / "tests"
    path.mkdir()
    for file in INSTALLED.iterdir():
        data = file.read_bytes()
        (path / file.name.removesuffix(".gz")
         ).write_bytes(gzip.decompress(data) if file.suffix == ".gz" else data)
    return path


def unexplained(skipped):
    known = [*SKIPPED, *(ON_MLX4 if models.driver() == "mlx4" else [])]
    return sorted(
        {reason for _, reason in skipped if not any(re.search(each, reason) for each in known)})


def test_pyverbs(run, softhca, directory):
    for _ in range(TIMES):
        done = run([
            softhca, "run", "--devices=1", FEWER_COMPLETIONS, "--", "/usr/bin/python3", RUNNER,
            directory, models.device(0)
        ], timeout=240)
        lines = done.stdout.splitlines()
        assert lines and lines[-1].startswith("{"), done.stdout + done.stderr
        result = json.loads(lines[-1])
        passed = result["ran"] - len(result["skipped"]) - len(result["errors"])
        print(f"{models.device(0)}: {passed} of {result['ran']} pass, "
              f"{len(result['skipped'])} are skipped, {len(result['errors'])} need ioctl()")
        assert [
            error for error in result["errors"]
            if not NEED_IOCTL & set(error[0].split(".")) or models.driver() == "mlx4"
        ] == []
        assert unexplained(result["skipped"]) == []
        assert passed >= PASS[models.model()]
