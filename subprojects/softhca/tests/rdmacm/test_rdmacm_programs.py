# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The distribution's own programs over librdmacm, unmodified, between two adapters.
SOFTHCA_TEST_REPEAT (default 1): how often each must pass in a row."""

import subprocess

import pytest

from emulator import HERE, THERE
from installed import need, need_xclient, rdma_core_release
from running import REPEAT

pytestmark = pytest.mark.any_model

# server, client; {there} is the server's address, {here} the client's own.
PROGRAMS = {
    "rping": ("rping -s -a {there} -C 10 -V", "rping -c -a {there} -I {here} -C 10 -V"),
    "ucmatose": ("ucmatose -b {there} -c 4 -C 10", "ucmatose -s {there} -b {here} -c 4 -C 10"),
    "udaddy": ("udaddy -b {there} -c 4 -C 10", "udaddy -s {there} -b {here} -c 4 -C 10"),
    "rdma_server": ("rdma_server -s {there}", "rdma_client -s {there}"),
    "rdma_xserver-rc": ("rdma_xserver -c r", "rdma_xclient -s {there} -c r"),
    "rdma_xserver-xrc": ("rdma_xserver -c x", "rdma_xclient -s {there} -c x"),
    "rstream": ("rstream -b {there} -S 64 -C 100", "rstream -s {there} -S 64 -C 100"),
    "rstream-async": (
        "rstream -b {there} -S 64 -C 100 -T a", "rstream -s {there} -S 64 -C 100 -T a"),
}

# {program: permitted exit statuses of its client, if not only 0}
ENDS = {
    # It takes POLLHUP (16) for a failure even with POLLIN, though the data can be read then: after
    # the server has sent everything and closed.
    "rstream-async": {0, 16},
}


TWO_ADAPTERS = ([], (1, 0), HERE, THERE)
RUNS = [(name, *TWO_ADAPTERS) for name in PROGRAMS] + [
    (name, *where) for where, names in (
        # Over the loopback address, on one adapter.
        (([], (None, None), "127.0.0.1", "127.0.0.1"), ["rping", "udaddy", "rdma_xserver-xrc"]),
        # The GIDs of the connection are those of the IP addresses.
        ((["--link=ethernet"], (1, 0), HERE, THERE), ["rping", "udaddy", "rdma_xserver-xrc"]),
        (([], (1, 0), f"fd00::{HERE}", f"fd00::{THERE}"), ["rping", "rdma_server"]),
        # From the second port of one adapter to the second one of the other.
        ((["--ports=2", "--address=192.0.2.1"], (1, 0), "192.0.2.2", "192.0.3.2"),
         ["rping", "udaddy"]),
    ) for name in names
]


def words(line, here=HERE, there=THERE):
    return line.format(here=here, there=there).split()


@pytest.mark.parametrize("name, settings, hosts, here, there", RUNS)
def test_both_programs_succeed(daemon, finish, name, hosts, here, there):
    """@hosts are the server's and the client's."""
    need(PROGRAMS[name][0].split()[0])
    need_xclient(PROGRAMS[name][1])
    for _ in range(REPEAT):
        server = daemon.start(words(PROGRAMS[name][0], here, there), host=hosts[0])
        daemon.until_listening()
        client = daemon.start(words(PROGRAMS[name][1], here, there), host=hosts[1])
        results = finish(client), finish(server)
        assert results[0][0] in ENDS.get(name, {0}) and results[1][0] == 0, results
        daemon.until_empty()


# Waits before rshutdown(), until the peer has read what was sent.
LATE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int rshutdown(int socket, int how)
{
	int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "rshutdown");

	usleep(200000);
	return next(socket, how);
}
"""


def test_rstream_async_ends_well_if_its_peer_closes_late(daemon, finish, tmp_path):
    """So the status 16 above is rstream's own, and not a lost message."""
    need("rstream", "gcc")
    library = tmp_path / "late.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library, "-ldl"], input=LATE,
                   text=True, check=True)
    server, client = PROGRAMS["rstream-async"]
    preload = ["env", f"LD_PRELOAD={daemon.preload}:{library}"]
    server = daemon.start([*preload, *words(server)], host=1)
    daemon.until_listening()
    client = daemon.start(words(client), host=0)
    results = finish(client), finish(server)
    assert [status for status, _ in results] == [0, 0], results


# Of these only the client ends: rping -P runs until it is killed (rping(1)), and so does the cmtime
# of rdma-core before release 52. From there on both sides of cmtime use TCP, too.
SERVERS = {
    "rping": ("rping -s -a {there} -P", "rping -c -a {there} -I {here} -C 10 -V"),
    "cmtime": ("cmtime -b {there} -c 4", "cmtime -s {there} -c 4"),
}


@pytest.mark.parametrize("name", SERVERS)
def test_the_client_of_a_lasting_server_ends(daemon, finish, name):
    need(name)
    if name == "cmtime" and rdma_core_release() >= 52:
        pytest.skip("this cmtime wants the addresses of adapters for TCP, too")
    server = daemon.start(words(SERVERS[name][0]), host=1)
    daemon.until_listening()
    status, output = finish(daemon.start(words(SERVERS[name][1]), host=0))
    server.kill()
    finish(server)
    assert status == 0, output
    daemon.until_empty()


# Groups of mckey: by IPv4, by IPv6, in the port space of IP over InfiniBand, and by a GID.
GROUPS = {
    "ipv4": "-m 239.0.0.7", "ipv6": "-m ff0e::7", "ipoib": "-m 239.0.0.7 -p 0x0002",
    "gid": "-M ff12:4001:ffff::77 -b {own}"
}


def mckey(daemon, line, host, *more):
    own = (HERE, THERE)[host]
    return daemon.start(["mckey", *line.format(own=own).split(), *more], host=host)


def attached(now):
    return sum(o.get("groups", 0) for context in now["contexts"] for o in context["objects"])


def test_each_listener_of_a_group_gets_the_messages(daemon, finish):
    """For each group one listener beside the sender, and one on the other adapter. The senders
    start last, since a message without a listener is lost."""
    need("mckey")
    listeners = [mckey(daemon, line, host) for line in GROUPS.values() for host in (0, 1)]
    daemon.until(lambda now: attached(now) == len(listeners), "listeners")
    senders = [mckey(daemon, line, 0, "-s") for line in GROUPS.values()]
    for process in senders + listeners:
        status, output = finish(process, 60)
        assert status == 0 and "data transfers complete" in output, output
    daemon.until_empty()


@pytest.mark.parametrize("settings", [["--link=ethernet"]])
def test_a_group_of_ipv6_keeps_its_address_on_ethernet(daemon, finish):
    need("mckey")
    status, output = finish(daemon.start("mckey -s -m ff0e::1:2:3 -C 1".split(), host=0))
    assert status == 0 and "joined dgid: ff0e::1:2:3 mlid 0x0 " in output, output


@pytest.mark.parametrize("settings", [["--link=ethernet"]])
def test_ethernet_has_no_group_without_an_address(daemon, finish):
    """As there is no subnet manager that would give it one."""
    need("mckey")
    status, output = finish(daemon.start(f"mckey -s -m 0.0.0.0 -b {HERE} -C 1".split(), host=0))
    assert status and "Invalid argument" in output, output
