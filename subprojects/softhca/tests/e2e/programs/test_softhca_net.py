# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca run --net`: programs that use real sockets beside rdma_cm find the adapters' addresses
on an interface."""

import os
import sys

import pytest

from installed import need

pytestmark = pytest.mark.any_model

REFUSED = "--net: this system allows you no network namespace of your own"

# The server is ready once it has bound its port of UDP, 7174.
UDPONG = """
udpong -b {server} >/dev/null & server=$!
until grep -q :1C06 /proc/net/udp /proc/net/udp6; do kill -0 $server || exit; sleep 0.02; done
udpong -s {server} -C 5 -S 64 && kill $server
"""

BIND = """
import os, socket, sys
for address in sys.argv[1:]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    socket.socket(family, socket.SOCK_DGRAM).bind((address, 0))
for address in ("198.18.0.2", "198.18.2.1"):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind((address, 0))
        sys.exit(address + " is here, too")
    except OSError:
        pass
print(os.getuid(), os.getgid())
"""


@pytest.fixture(params=["as it is", "without CAP_SYS_ADMIN"])
def net(run, softhca, request):
    """net(ARGUMENT...): runs that in a namespace. Of an ordinary user both are the same: a user
    namespace is made as well. The test is skipped where unshare(1) is refused one, too."""
    prefix = []
    if request.param != "as it is":
        need("setpriv")
        prefix = ["setpriv", "--bounding-set", "-sys_admin"] if os.geteuid() == 0 else []

    def start(*words):
        done = run([*prefix, softhca, "run", "--net", *words], timeout=60)
        if REFUSED in done.stderr and run([*prefix, "unshare", "-Urn", "true"]).returncode:
            pytest.skip(done.stderr.strip())
        return done
    return start


def test_the_interface_has_the_addresses_of_the_ports(net):
    """The interface has the addresses of the ports and no others, and the user is the same."""
    has_ipv6 = os.path.exists("/proc/sys/net/ipv6/conf/lo")
    words = ["127.0.0.1", "198.18.0.1", "198.18.1.1"]
    done = net("--devices=2", "--", sys.executable, "-c", BIND, *words,
               *(["::1", "fd00::198.18.1.1"] if has_ipv6 else []))
    assert (done.returncode, done.stdout.split()) == (0, [str(os.getuid()), str(os.getgid())]), done


def test_udpong(net):
    need("udpong")
    done = net("--", "sh", "-c", UDPONG.format(server="198.18.1.1"))
    assert done.returncode == 0 and "custom" in done.stdout, done


def test_objects_from_inside(net, softhca):
    """The daemon is outside of the namespace, and still answers. Verbs work as without --net."""
    need("ibv_devices")
    done = net("--devices=2", "--", "sh", "-c", f"ibv_devices && {softhca} ctl objects")
    assert done.returncode == 0 and "_1" in done.stdout and '"contexts":' in done.stdout, done


def test_run_fails_where_no_namespace_is_allowed(run, softhca):
    """If the kernel allows no namespace, run says so and starts nothing."""
    need("unshare")
    if run(["unshare", "-Ur", "true"]).returncode != 0:
        pytest.skip("this system allows no user namespaces")
    forbid = "echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_net_namespaces"
    done = run(["unshare", "-Ur", "sh", "-c", f"{forbid} && {softhca} run --net -- echo started"])
    assert (done.returncode, done.stdout) == (125, "") and REFUSED in done.stderr, done
