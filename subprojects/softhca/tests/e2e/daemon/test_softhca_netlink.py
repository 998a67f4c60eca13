# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""rdma(8) asks the kernel by netlink. It shows the devices, links and objects that softhca itself
lists."""

import json
import re

import pytest

import models
from built import holding, sharing
from emulator import THERE
from installed import need
from pairs import pair_command

pytestmark = pytest.mark.any_model

# What rdma(8) calls the number of an object. The kernel numbers MRs apart from their keys.
NUMBERS = {"qp": "lqpn", "cq": "cqn", "pd": "pdn", "srq": "srqn"}


@pytest.fixture
def rdma(run, daemon):
    need("rdma")

    def ask(*words):
        done = run(["rdma", "-j", *words])
        if "Unknown parameter" in done.stderr:
            pytest.skip(f"this release of iproute2 has no rdma {' '.join(words)}")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return json.loads(done.stdout or "[]")
    return ask


@pytest.fixture
def holder(daemon):
    """A program with objects of every kind. 400 QPs have an SRQ: too many for one message."""
    with holding(daemon, "400") as program:
        yield program


def test_rdma_lists_each_device(run, daemon, rdma):
    need("ibv_devinfo")
    devices = rdma("dev")
    assert [(d["ifindex"], d["ifname"], d["node_type"])
            for d in devices] == [(i, models.device(i), "ca") for i in (0, 1)]
    told = dict(re.findall(r"(\w+):\s+(\S+)", run(["ibv_devinfo", "-d", models.device(1)]).stdout))
    assert (devices[1]["fw"], devices[1]["node_guid"], devices[1]["sys_image_guid"]) == (
        told["fw_ver"], told["node_guid"], told["sys_image_guid"])
    assert [d["ifname"] for d in rdma("dev", "show", models.device(1))] == [models.device(1)]
    done = run(["rdma", "dev", "show", models.device(9)])
    assert done.returncode != 0 and models.device(9) in done.stderr


@pytest.mark.parametrize("settings", [["--ports=2"]])
def test_rdma_shows_the_state_of_each_port(daemon, rdma):
    daemon.ask("ctl", "port", models.device(1), "2", "down")
    ports = daemon.directory / "sys/class/infiniband" / models.device(1) / "ports"
    assert [(ports / port / "state").read_text() for port in "12"] == ["4: ACTIVE\n", "1: DOWN\n"]
    links = rdma("link", "show")
    assert [(link["ifname"], link["port"], link["lid"], link["sm_lid"])
            for link in links] == [(models.device(0), 1, 1, 1), (models.device(0), 2, 2, 1),
                                   (models.device(1), 1, 3, 1), (models.device(1), 2, 4, 1)]
    assert [link["state"] for link in links] == ["ACTIVE", "ACTIVE", "ACTIVE", "DOWN"]
    assert {link["subnet_prefix"] for link in links} == {"fe80:0000:0000:0000"}
    assert [link["port"] for link in rdma("link", "show", f"{models.device(1)}/2")] == [2]


def test_rdma_res_lists_the_objects_that_softhca_lists(daemon, rdma, holder):
    listed = [(c["device"], c["pid"], o) for c in daemon.objects()["contexts"]
              for o in c["objects"]]
    summary = {device["ifname"]: device for device in rdma("res")}
    for kind in (*NUMBERS, "mr"):
        there = [(device, pid, kind in NUMBERS and o["number"]) for device, pid, o in listed
                 if o["type"] == kind]
        shown = [(o["ifname"], o["pid"], kind in NUMBERS and o[NUMBERS[kind]])
                 for o in rdma("res", "show", kind)]
        assert sorted(shown) == sorted(there)
        for device in summary:
            assert summary[device][kind] == sum(at == device for at, _, _ in there)
    assert summary[models.device(0)]["ctx"] == 1


def test_rdma_res_shows_each_qp_with_its_state_and_peer(daemon, rdma, holder):
    there = {o["number"]: (o["state"], o["dest_qp_num"], "softhca-hold")
             for c in daemon.objects()["contexts"] for o in c["objects"] if o["type"] == "qp"}
    reported = rdma("res", "show", "qp")
    assert len(reported) > 300 and {qp["type"] for qp in reported} == {"RC", "XRC_TGT"}
    assert {qp["lqpn"]: (qp["state"], qp.get("rqpn", 0), qp["comm"]) for qp in reported} == there
    assert all("path-mig-state" in qp for qp in reported)
    assert [qp["state"] for qp in reported if "port" in qp] == ["RTS", "RTS"]


def test_rdma_res_shows_the_qps_of_an_srq(daemon, rdma, holder):
    """Successive numbers are one range."""
    [ranges] = [srq["lqpn"] for srq in rdma("res", "show", "srq") if srq["type"] == "BASIC"]
    ends = [tuple(map(int, part.split("-"))) for part in ranges]
    shown = [number for end in ends for number in range(end[0], end[-1] + 1)]
    there = {qp["lqpn"] for qp in rdma("res", "show", "qp")}
    assert len(shown) == 400 and set(shown) <= there


def test_an_opened_handle_is_no_qp(daemon, rdma):
    with sharing(daemon) as (creator, number):
        assert [(qp["lqpn"], qp["pid"])
                for qp in rdma("res", "show", "qp")] == [(number, creator.pid)]
        assert sum(device["qp"] for device in rdma("res")) == 1


def test_a_qp_stays_in_the_list_when_its_creator_ends(daemon, rdma):
    with sharing(daemon) as (creator, number):
        creator.kill()
        daemon.until(lambda qps: [qp["lqpn"] for qp in qps if qp["pid"] != creator.pid] == [number],
                     "QP of the other process", lambda: rdma("res", "show", "qp"))
        assert sum(device["qp"] for device in rdma("res")) == 1


def test_rdma_res_shows_the_ends_of_a_connection_on_their_adapters(daemon, rdma):
    """A listener and both ends of a connection, each on its adapter."""
    need("rping")
    words = ["-a", THERE, "-C", "1000000"]
    with daemon.start(["rping", "-s", *words], host=1) as server:
        daemon.until_listening()
        with daemon.start(["rping", "-c", *words], host=0) as client:
            daemon.until(
                lambda now: sum(i["connection"] == "ESTABLISHED" for i in now["cm_ids"]) == 2,
                "connection")
            reported = {(i["ifname"], i["pid"], i["state"]): i for i in rdma("res", "show", "cm_id")}
            qps = {qp["lqpn"] for qp in rdma("res", "show", "qp") if qp["pid"] == client.pid}
            counts = {device["ifname"]: device["cm_id"] for device in rdma("res")}
            client.kill()
        server.kill()
    here, there = models.device(0), models.device(1)
    assert counts == {here: 1, there: 2} and reported.keys() == {
        (there, server.pid, "LISTEN"), (there, server.pid, "CONNECT"), (here, client.pid, "CONNECT")}
    listener, ours = (reported[end] for end in ((there, server.pid, "LISTEN"),
                                                (here, client.pid, "CONNECT")))
    assert listener["ps"] == "TCP" and listener["src-addr"] == "198.18.1.1:7174"
    assert ours["qp-type"] == "RC" and ours["dst-addr"] == "198.18.1.1:7174"
    assert ours["lqpn"] in qps


def test_rdma_system_shares_the_network_namespaces(run, daemon):
    need("rdma")
    assert run(["rdma", "system"]).stdout.startswith("netns shared")


@pytest.mark.parametrize("settings", [["--ports=2"]])
def test_rdma_statistic_counts_by_port(run, daemon, rdma):
    """The counters of the ports. A QP has none until one is bound to it, which is refused."""
    zero = {"sent": 0, "sent_bytes": 0, "received": 0, "received_bytes": 0, "errors": 0}
    assert run(pair_command(["ibv_rc_pingpong", "-n", "50", "-s", "100"])).returncode == 0
    busy = {"sent": 50, "sent_bytes": 5000, "received": 50, "received_bytes": 5000, "errors": 0}
    assert rdma("statistic") == [{
        "ifname": models.device(i), "port": port, **(zero if port == 2 else busy)
    } for i in (0, 1) for port in (1, 2)]
    assert rdma("statistic", "show", "link",
                f"{models.device(1)}/2") == [{"ifname": models.device(1), "port": 2, **zero}]
    assert rdma("statistic", "qp", "show") == []
    refused = run(
        ["rdma", "statistic", "qp", "set", "link", f"{models.device(0)}/1", "auto", "type", "on"])
    assert refused.returncode != 0 and "not supported" in refused.stderr
