# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that send: the emulator's own tests, legacy clients, two-way QPs, rdma-core's pingpongs,
perftest."""

import pytest

import test_pair
from driver import DEVICES, QUERY_LACKS_XRC_PATH, RAISE, run
from installed import need
from running import free_port
from servers import LISTENING

SECONDS = "300"

PAIR = LISTENING + r"""
first=$1 second=$2 port=$3; shift 3
"$@" -d $first -p $port & server=$!
listening $port $server
"$@" -d $second -p $port 127.0.0.1; client=$?
wait $server; server=$?
echo "server $server, client $client"
[ $server = 0 ] && [ $client = 0 ]
"""


def passes(done):
    assert done.returncode == 0, done.stdout + done.stderr


def pair(*argv):
    need(argv[0])
    passes(run(["bash", "-c", PAIR, "pair", *DEVICES, free_port(), *argv]))


@pytest.mark.parametrize("mode", [["-n", "200"], ["-n", "200", "-e"]], ids=["poll", "event"])
@pytest.mark.parametrize("program", ["rc", "uc", "ud", "srq", "xsrq"])
def test_a_pingpong_passes_between_both_adapters(program, mode):
    pair(f"ibv_{program}_pingpong", *mode)


@pytest.mark.parametrize("argv", [
    ["ib_send_lat", "-F", "-c", "XRC", "-n", "100"],
    ["ib_send_bw", "-F", "-c", "UD", "-n", "100"],
    ["ib_write_bw", "-F", "-c", "XRC", "-n", "100"],
    ["ib_read_bw", "-F", "-c", "XRC", "-n", "100"],
    ["ib_atomic_bw", "-F", "-c", "XRC", "-n", "100"],
], ids=lambda argv: "-".join(argv))
def test_perftest_passes_between_both_adapters(argv):
    pair(*argv)


def test_all_operations(build_root):
    """softhca's own test of all operations. Its other tests are about the adapter, not the kernel."""
    passes(run([build_root / "softhca" / "tests" / "e2e" / "softhca-data-path"]))


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
    if QUERY_LACKS_XRC_PATH and name == "openmpi":
        assert "ibv_query_xrc_rcv_qp with mask 0 gives LID 0" in done.stderr, done.stdout + done.stderr
        pytest.skip("this kernel's mlx4_ib returns no path of XRC QPs")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.endswith(", all right\n"), done.stdout


def two_way(xrc_compat, build_root, name, *words):
    """The lines of a program that prints one for each case and fails if one failed."""
    done = run([xrc_compat, "run", "--", build_root / "tests" / "e2e" / "twoway" / name, *words],
               env={"SOFTHCA_TEST_COMMAND": RAISE, "SOFTHCA_DIR": ""})
    lines = done.stdout.splitlines()
    bad = [line for line in lines if not line.startswith("ok ")]
    others = [line for line in bad if not (QUERY_LACKS_XRC_PATH and ": attr.ah_attr." in line)]
    assert not others and not done.stderr, "\n".join(others) + done.stderr
    assert lines and done.returncode == (1 if bad else 0)
    return lines


@pytest.mark.parametrize("options", [[], ["--events"]], ids=["poll", "event"])
@pytest.mark.parametrize("dialect", ["ofed", "mlnx"])
def test_two_way_exchange(xrc_compat, build_root, dialect, options):
    assert len(two_way(xrc_compat, build_root, f"exchange-{dialect}", *options)) == 28


@pytest.mark.parametrize("group", test_pair.ROWS)
def test_two_way_rows(xrc_compat, build_root, group):
    assert len(two_way(xrc_compat, build_root, "twoway-pair", group)) == test_pair.ROWS[group]


def test_many_create_two_way_qps_at_once(xrc_compat, build_root):
    """The driver numbers QPs in sequence, so both halves of a pair get neighbouring numbers."""
    done = run([xrc_compat, "run", "--", build_root / "tests" / "e2e" / "twoway" / "twoway-crowd"])
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
