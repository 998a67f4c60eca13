# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Adapters whose ports are Ethernet: RoCE."""

import re

import pytest

import models
from installed import need

ETHERNET = "--link=ethernet"


def output(below, *argv, settings=(ETHERNET,), env=None):
    need(str(argv[0]))
    return below(settings, *argv, env=env).stdout


@pytest.mark.any_model
def test_each_case_holds(passes):
    """GID tables as the library reads them, refused address vectors and handles, and the header
    before a datagram."""
    passes([ETHERNET], "ethernet")


def test_ibv_devinfo(below):
    out = output(below, "ibv_devinfo", "-v", "-d", models.device(1))
    facts = dict(
        re.findall(r"^\s*(link_layer|port_lid|sm_lid|pkey_tbl_len|gid_tbl_len):\s+(\S+)", out,
                   re.M))
    assert facts == {
        "link_layer": "Ethernet", "port_lid": "0", "sm_lid": "0", "pkey_tbl_len": "1",
        "gid_tbl_len": "16"
    }
    gids = re.findall(r"GID\[ *\d\]:\s+(\S+), RoCE v", out)
    assert len(gids) == 6 and gids[3] == "::ffff:198.18.1.1" and gids[5] == "fd00::c612:101"


@pytest.mark.any_model
def test_device_tree(below):
    """The device tree is as tools expect it. On InfiniBand there are no network interfaces."""
    tree = f"/sys/class/infiniband/{models.device(0)}/ports/1"
    read = f"cd {tree}; grep -H . link_layer lid sm_lid gids/2 gids/6 gid_attrs/*/[23]"
    assert output(below, "sh", "-c", read).split("\n")[:-1] == [
        "link_layer:Ethernet", "lid:0x0", "sm_lid:0x0",
        "gids/2:0000:0000:0000:0000:0000:ffff:c612:0001",
        "gids/6:0000:0000:0000:0000:0000:0000:0000:0000", "gid_attrs/ndevs/2:lo",
        "gid_attrs/ndevs/3:lo", "gid_attrs/types/2:IB/RoCE v1", "gid_attrs/types/3:RoCE v2"
    ]
    read = f"cd {tree}; cat link_layer lid gid_attrs/types/0 pkeys/0 pkeys/127; ls gids | wc -l; ls gid_attrs"
    assert output(below, "sh", "-c", read, settings=()).split("\n")[:-1] == [
        "InfiniBand", "0x1", "IB/RoCE v1", "0xffff", "0x0000", "16", "types"]


@pytest.mark.any_model
def test_link_layer_from_the_environment(run, softhca, below):
    env = {"SOFTHCA_LINK": "ethernet"}
    assert "Ethernet" in output(below, "ibv_devinfo", settings=(), env=env)
    assert "InfiniBand" in output(below, "ibv_devinfo", settings=("--link=infiniband", ), env=env)
    done = run([softhca, "run", "--link=tokenring", "--", "true"])
    assert done.returncode and "link is ethernet or infiniband, not 'tokenring'" in done.stderr


@pytest.mark.parametrize("words", [
    "ibv_rc_pingpong -n 50 -g 0", "ibv_rc_pingpong -n 50 -g 1", "ibv_ud_pingpong -n 50 -g 3",
    "ibv_xsrq_pingpong -g 2"
])
def test_pingpong(pair, words):
    pair(words.split(), settings=[ETHERNET])


def test_perftest(pair):
    pair("ib_send_bw -c UD -n 200 -s 2048 -x 3 -F".split(), settings=[ETHERNET])
