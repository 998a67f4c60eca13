# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Adapters whose ports are Ethernet: RoCE."""

import ipaddress
import re

import pytest

import models
from installed import need

ETHERNET = "--link=ethernet"
VERSIONS = {"connectx3": ["RoCE v1"], "connectx5": ["RoCE v1", "RoCE v2"]}
TYPES = {"RoCE v1": "IB/RoCE v1", "RoCE v2": "RoCE v2"}  # as the kernel has them in sysfs


def output(below, *argv, settings=(ETHERNET,), env=None):
    need(str(argv[0]))
    return below(settings, *argv, env=env).stdout


def test_each_case_holds(passes):
    """GID tables as the library reads them, refused address vectors and handles, and the header
    before a datagram."""
    passes([ETHERNET], "ethernet")


def test_ibv_devinfo(below):
    out = output(below, "ibv_devinfo", "-v", "-d", models.device(1))
    facts = dict(
        re.findall(r"^\s*(link_layer|max_mtu|active_mtu|port_lid|sm_lid|pkey_tbl_len|gid_tbl_len):\s+(\S+)", out,
                   re.M))
    assert facts == {
        "link_layer": "Ethernet", "max_mtu": "4096", "active_mtu": "1024", "port_lid": "0",
        "sm_lid": "0", "pkey_tbl_len": "1", "gid_tbl_len": "16"
    }
    gids = re.findall(r"GID\[ *\d\]:\s+(\S+), (RoCE v\d)", out)
    versions = VERSIONS[models.model()]
    assert [version for _, version in gids] == 3 * versions
    # rdma-core prints those of RoCE v1 as numbers only.
    ipv4, ipv6 = (ipaddress.ip_address(gids[i * len(versions)][0]) for i in (1, 2))
    assert str(ipv4.ipv4_mapped) == "198.18.1.1" and str(ipv6) == "fd00::c612:101"


@pytest.mark.any_model
def test_device_tree(below):
    """The device tree is as tools expect it. On InfiniBand there are no network interfaces."""
    tree = f"/sys/class/infiniband/{models.device(0)}/ports/1"
    versions = VERSIONS[models.model()]
    ipv4, last = len(versions), 2 * len(versions) - 1
    read = f"cd {tree}; grep -H . link_layer lid sm_lid gids/{ipv4} gids/6 gid_attrs/*/{last}"
    assert output(below, "sh", "-c", read).split("\n")[:-1] == [
        "link_layer:Ethernet", "lid:0x0", "sm_lid:0x0",
        f"gids/{ipv4}:0000:0000:0000:0000:0000:ffff:c612:0001",
        "gids/6:0000:0000:0000:0000:0000:0000:0000:0000", f"gid_attrs/ndevs/{last}:lo",
        f"gid_attrs/types/{last}:{TYPES[versions[-1]]}"
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
    "ibv_rc_pingpong -n 50 -g 0", "ibv_rc_pingpong -n 50 -g 1", "ibv_ud_pingpong -n 50 -g 2",
    "ibv_xsrq_pingpong -g 2"
])
def test_pingpong(pair, words):
    pair(words.split(), settings=[ETHERNET])


def test_perftest(pair):
    pair("ib_send_bw -c UD -n 200 -s 1024 -x 1 -F".split(), settings=[ETHERNET])
