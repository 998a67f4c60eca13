# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The events that each side of a connection gets: rejected, unreachable, disconnected. Also if the
peer is killed."""

import errno
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

import pytest

import models
from emulator import THERE
from installed import need
from running import kills

pytestmark = pytest.mark.any_model

TALK = pathlib.Path(os.environ["RDMACM_TEST_PROGRAMS"]) / "rdmacm-talk"
KILLS = kills(12)
PORT = 7000
RESOLVED = ["ADDR_RESOLVED 0", "ROUTE_RESOLVED 0"]


@pytest.fixture
def talk(daemon):
    """talk(words, host) -> a program that is killed after a minute, which ends each read of it."""
    started = []

    def _talk(words, host):
        process = daemon.start([TALK, *words], host, stdin=subprocess.PIPE)
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        started.append((process, watchdog))
        return process

    yield _talk
    for process, watchdog in started:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def listen(talk):
    """listen(how, ...) -> a program that listens, on the second adapter by default."""

    def _listen(*how, address=THERE, host=1):
        process = talk(["listen", address, PORT, *how], host)
        assert process.stdout.readline() == "listening\n"
        return process

    return _listen


@pytest.fixture
def connector(talk):
    """connector() -> a program that connects from the first adapter."""
    return lambda: talk(["connect", THERE, PORT], 0)


def lines(process):
    return process.stdout.read().splitlines()


def read_until(process, line):
    while (got := process.stdout.readline().rstrip("\n")) != line:
        assert got, f"ended before {line}"


def test_the_backlog_counts_unread_requests_only(listen, connector):
    """The backlog is 1. A request that the listener has read no longer counts, even if it has no
    answer. So three clients wait at the same time."""
    server, clients = listen("hold", "1"), []
    for _ in range(3):
        clients.append(connector())
        read_until(server, "CONNECT_REQUEST 0 hello")
    assert not [client for client in clients if client.poll() is not None]


def test_any_and_loopback_addresses_are_of_one_host(talk, listen, connector):
    """Both hosts listen on the same port. Each address leads to its own host's listener only."""
    listen(address="0.0.0.0", host=0)
    assert lines(connector()) == [*RESOLVED, "REJECTED 8"]
    listen("reject", address="0.0.0.0")
    for client in (connector(), talk(["connect", "127.0.0.1", PORT], 1)):
        assert lines(client) == [*RESOLVED, "REJECTED 28 go away"]


NOT_HERE = "rdma_bind_addr: Cannot assign requested address"


@pytest.mark.parametrize("settings, address, host, line", [
    ([], THERE, 1, "listening"),
    ([], THERE, None, "listening"),
    ([], THERE, 0, NOT_HERE),
    ([], THERE, 9, "softhca: SOFTHCA_HOST is the name of an adapter, as mlx4_0, not 'mlx4_9'"),
    (["--address=192.0.2.9"], "192.0.3.9", 1, "listening"),
    (["--address=192.0.2.9"], THERE, 1, NOT_HERE),
])
def test_a_program_has_only_the_addresses_of_its_host(talk, address, host, line):
    assert talk(["listen", address, PORT], host).stdout.readline() == f"{models.named(line)}\n"


def test_a_full_backlog_rejects_the_next_request(daemon, listen, connector):
    listen("deaf", "2")
    waiting = [connector(), connector()]
    daemon.until(lambda now: sum(i["connection"] == "REQ_RCVD" for i in now["cm_ids"]) == 2,
                 "two requests")
    assert lines(connector()) == [*RESOLVED, "REJECTED 28"]
    assert all(process.poll() is None for process in waiting)


SOON = ["--cm_timeout=300"]


@pytest.mark.parametrize("settings", [SOON])
def test_a_late_answer_makes_both_sides_unreachable(listen, connector):
    """The client gives up before it gets an answer, so the server gets no reply."""
    server = listen("late")
    assert lines(connector()) == [*RESOLVED, f"UNREACHABLE {-errno.ETIMEDOUT}"]
    server.stdin.close()
    read_until(server, f"UNREACHABLE {-errno.ETIMEDOUT}")


@pytest.mark.parametrize("settings, device", [(SOON, 0), (SOON, 1)])
def test_a_port_that_is_down_makes_the_peer_unreachable(daemon, listen, connector, device):
    listen("accept")
    daemon.ask("ctl", "port", models.device(device), "1", "down")
    assert lines(connector()) == [*RESOLVED, f"UNREACHABLE {-errno.ETIMEDOUT}"]


# An id's timeout: long enough to take the port down, and to answer.
LATER = ["--cm_timeout=3000"]


@pytest.mark.parametrize("settings, device", [(LATER, 0), (LATER, 1)])
def test_no_answer_passes_a_port_that_is_down(daemon, listen, connector, device):
    server, client = listen("late"), connector()
    read_until(server, "CONNECT_REQUEST 0 hello")
    daemon.ask("ctl", "port", models.device(device), "1", "down")
    server.stdin.close()
    assert lines(client) == [*RESOLVED, f"UNREACHABLE {-errno.ETIMEDOUT}"]
    read_until(server, f"UNREACHABLE {-errno.ETIMEDOUT}")


@pytest.mark.parametrize("settings", [LATER])
def test_no_rejection_passes_a_port_that_is_down(daemon, listen, connector):
    server, client = listen("hold"), connector()
    read_until(server, "CONNECT_REQUEST 0 hello")
    daemon.ask("ctl", "port", models.device(1), "1", "down")
    server.kill()
    assert lines(client) == [*RESOLVED, f"UNREACHABLE {-errno.ETIMEDOUT}"]


def test_no_end_passes_a_port_that_is_down(daemon, listen, connector):
    server, client = listen("accept"), connector()
    read_until(client, "ESTABLISHED 0 welcome")
    daemon.ask("ctl", "port", models.device(1), "1", "down")
    server.kill()
    daemon.until(lambda now: [i["connection"] for i in now["cm_ids"]] == ["ESTABLISHED"],
                 "the end of the server's ids")


# ---- killed peers ----

def test_a_killed_peer_disconnects(listen, connector):
    server, client, second = listen("accept"), connector(), connector()
    for process in (client, second):
        read_until(process, "ESTABLISHED 0 welcome")
    client.kill()
    read_until(server, "DISCONNECTED 0")
    server.kill()
    assert lines(second) == ["DISCONNECTED 0"]


@pytest.mark.parametrize("how", ["hold", "deaf"])
def test_a_server_killed_before_it_answers_rejects(daemon, listen, connector, how):
    server, client = listen(how), connector()
    daemon.until(lambda now: any(i["connection"] == "REQ_RCVD" for i in now["cm_ids"]), "request")
    server.kill()
    assert lines(client) == [*RESOLVED, "REJECTED 28"]


def test_a_killed_clients_request_is_withdrawn(daemon, listen, connector):
    """The killed client's request is gone, and the next client is served."""
    server, client = listen("hold"), connector()
    read_until(server, "CONNECT_REQUEST 0 hello")
    client.kill()
    daemon.until(lambda now: not any(i["connection"] == "REQ_SENT" for i in now["cm_ids"]),
                 "end of the request")
    assert connector().stdout.readline() == "ADDR_RESOLVED 0\n"
    read_until(server, "CONNECT_REQUEST 0 hello")


CONNECTED = ("REP_SENT", "REP_RCVD", "ESTABLISHED")


def connected(ids, pid):
    return any(i["pid"] == pid and i["connection"] in CONNECTED for i in ids)


def kill_one_of_two(daemon, finish, dice, in_traffic):
    """The surviving side ends by itself, except a server that had no client yet."""
    server = daemon.start(["rping", "-s", "-a", THERE, "-C", "1000000"], host=1)
    daemon.until_listening()
    client = daemon.start(["rping", "-c", "-a", THERE, "-C", "1000000"], host=0)
    victim, other = dice.sample((server, client), 2)
    if in_traffic:
        daemon.until(lambda now: connected(now["cm_ids"], server.pid), "connection")
    time.sleep(dice.uniform(0, 0.1))
    stays = other is server and not connected(daemon.ids(), server.pid)
    victim.kill()
    if stays:
        other.kill()
    status, said = finish(victim)
    assert status == -signal.SIGKILL, said
    status, said = finish(other)
    assert status >= 0 or stays, said
    daemon.until_empty()


def test_a_program_killed_at_any_moment_leaves_nothing(daemon, finish):
    """The daemon keeps nothing of the killed programs, and does not grow."""
    need("rping")
    dice = random.Random(7)
    for number in range(3 + KILLS // 10):
        kill_one_of_two(daemon, finish, dice, number % 2)
    descriptors, memory = daemon.descriptors(), daemon.memory()
    for number in range(KILLS):
        kill_one_of_two(daemon, finish, dice, number % 2)
    # The connection of the last question may not be closed yet.
    daemon.until_given_back(descriptors)
    assert daemon.memory() <= memory + daemon.slack(2048)
