# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca run --net`: programs that use real sockets beside rdma_cm find the adapters' addresses
on an interface. Tools find the interface of each RoCE port."""

import json
import os
import re
import sys

import pytest

import models
from emulator import HERE, THERE
from installed import need

pytestmark = pytest.mark.any_model

REFUSED = "--net: this system allows you no network namespace of your own"

# The server is ready once it has bound its port of UDP, 7174.
UDPONG = """
udpong -b {server} >/dev/null & server=$!
until grep -q :1C06 /proc/net/udp /proc/net/udp6; do kill -0 $server || exit; sleep 0.02; done
udpong -s {server} -C 5 -S 64; client=$?
kill $server && exit $client
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


@pytest.mark.parametrize("link", ["infiniband", "ethernet"])
def test_the_interfaces_have_the_addresses_of_the_ports(net, link):
    """The interfaces have the addresses of the ports and no others, and the user is the same."""
    has_ipv6 = os.path.exists("/proc/sys/net/ipv6/conf/lo")
    words = ["127.0.0.1", HERE, THERE]
    done = net(f"--link={link}", "--devices=2", "--", sys.executable, "-c", BIND, *words,
               *(["::1", f"fd00::{THERE}"] if has_ipv6 else []))
    assert (done.returncode, done.stdout.split()) == (0, [str(os.getuid()), str(os.getgid())]), done


def test_udpong(net):
    need("udpong")
    done = net("--", "sh", "-c", UDPONG.format(server=THERE))
    assert done.returncode == 0 and "custom" in done.stdout, done


# ---- interfaces of RoCE ports ----

# JSON of rdma(8), of ip(8), and of the second port of the second adapter.
LOOK = """
rdma -j link
ip -j addr
{softhca} ctl port {adapter} 2 down
cd /sys/class/net/eth3
python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' \
    $(ls /sys/class/net) $(readlink -f $PWD/device) $(ls device/net device/infiniband) \
    $(cat /sys/class/net/lo/type address ifindex dev_port dev_id carrier operstate device/device) \
    $(cat device/infiniband/{adapter}/ports/2/gid_attrs/ndevs/*)
"""


@pytest.fixture
def need_interfaces(run):
    """Skips the test where the kernel has none of the kinds of interface that need no device."""
    need("rdma", "ip", "unshare")
    if not any(run(["unshare", "-Urn", "ip", "link", "add", "type", kind]).returncode == 0
               for kind in ("dummy", "ifb")):
        pytest.skip("this kernel has no interface of the kinds dummy and ifb, or allows none")


@pytest.mark.on_model("connectx3", "connectx5")
def test_tools_find_the_interface_of_each_port(net, softhca, need_interfaces):
    """From the adapter to its interfaces and back, as ibdev2netdev and show_gids look for them."""
    adapter = models.device(1)
    done = net("--link=ethernet", "--ports=2", "--", "sh", "-c",
               LOOK.format(softhca=softhca, adapter=adapter))
    assert (done.returncode, done.stderr) == (0, ""), done
    links, interfaces, seen = json.loads(re.sub(r"\]\s*\[", "],[", f"[{done.stdout}]"))
    there = {i["ifname"]: i for i in interfaces}
    ports = [(models.device(i // 2), i % 2 + 1, f"eth{i}") for i in range(4)]
    assert [(link["ifname"], link["port"], link["netdev"]) for link in links] == ports
    assert [link["netdev_index"] for link in links] == [there[name]["ifindex"] for *_, name in ports]
    addresses = [(a["local"], a["prefixlen"]) for a in there["eth3"]["addr_info"]]
    assert addresses[0] == ("198.18.1.2", 16)
    gids = 3 * (2 if models.model() == "connectx5" else 1)
    assert seen == [
        "eth0", "eth1", "eth2", "eth3", "lo", "/sys/devices/pci5000:00/5000:00:01.0",
        "device/infiniband:", adapter, "device/net:", "eth2", "eth3", "772",
        there["eth3"]["address"], str(there["eth3"]["ifindex"]), "1", "0x1", "0", "down",
        {"connectx3": "0x1003", "connectx5": "0x1017"}[models.model()], *gids * ["eth3"]
    ]


def test_the_link_local_gid_is_the_interfaces_address(net, need_interfaces):
    """The kernel makes that address from the interface's Ethernet address."""
    if not os.path.exists("/proc/sys/net/ipv6/conf/lo"):
        pytest.skip("the kernel has no IPv6")
    done = net("--link=ethernet", "--", "python3", "-c", """
import ipaddress, pathlib, socket, sys
gid = pathlib.Path(f"/sys/class/infiniband/{sys.argv[1]}/ports/1/gids/0").read_text()
with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as ours:
    ours.bind((str(ipaddress.ip_address(gid.strip())), 0, 0, socket.if_nametoindex("eth1")))
""", models.device(1))
    assert done.returncode == 0, done


SHOW = ["--", "sh", "-c", "rdma link && ls /sys/class/net"]


def must_show_the_machines_interfaces(done):
    assert done.stdout.count("LINK_UP") == 2 and "netdev" not in done.stdout, done
    assert done.stdout.splitlines()[2:] == sorted(os.listdir("/sys/class/net"))


def test_ports_of_infiniband_have_no_interface(net):
    need("rdma")
    must_show_the_machines_interfaces(net(*SHOW))


def test_ports_of_roce_have_no_interface_without_net(run, softhca):
    need("rdma")
    must_show_the_machines_interfaces(run([softhca, "run", "--link=ethernet", *SHOW]))


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
