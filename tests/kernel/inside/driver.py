# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Loads and removes the driver, lists the objects of its adapters, and runs programs."""

import collections
import contextlib
import os
import pathlib
import subprocess

import pytest

import connectx5.identity
import running
from connectx3 import identity
from connectx3.identity import ANSWER, ASK_OBJECT, XRC_SWITCH
from waiting import wait_for

KINDS, TARGETS = ("qp", "cq", "srq"), 3
NO_MORE = 0xffffffff

# Called as `softhca ctl event DEVICE NAME NUMBER` is.
RAISE = str(pathlib.Path(__file__).resolve().parent / "raise_event.py")

DRIVER = os.environ.get("XRC_LAB_DRIVER", "mlx4")
MODEL, DEVICE_ID = {"mlx4": ("connectx3", identity.DEVICE),
                    "mlx5": ("connectx5", connectx5.identity.DEVICE)}[DRIVER]
MODULES = [f"{DRIVER}_ib", "ib_uverbs", "rdma_ucm"]
MODULES_TO_UNLOAD = [f"{DRIVER}_ib", f"{DRIVER}_core"]
DEVICES = [f"{DRIVER}_0", f"{DRIVER}_1"]


def functions():
    """The PCI functions of the adapters, in the order of their names."""
    return sorted(path for path in pathlib.Path("/sys/bus/pci/devices").iterdir()
                  if int((path / "device").read_text(), 16) == DEVICE_ID)


def ask(config, kind, index):
    os.pwrite(config, (kind << 24 | index).to_bytes(4, "little"), ASK_OBJECT)
    return int.from_bytes(os.pread(config, 4, ANSWER), "little")


def numbers(kind):
    """{(adapter, number)} of the objects of this kind."""
    found = set()
    for adapter, path in enumerate(functions()):
        config = os.open(path / "config", os.O_RDWR)
        index = 0
        while (number := ask(config, kind, index)) != NO_MORE:
            found.add((adapter, number))
            index += 1
        os.close(config)
    return found


def objects():
    """The QPs, CQs and SRQs of the adapters, with the driver's own: {(adapter, kind, number)}."""
    return {(adapter, name, number) for kind, name in enumerate(KINDS)
            for adapter, number in numbers(kind)}


def targets():
    """Numbers of the XRC receive QPs."""
    return {number for _, number in numbers(TARGETS)}


def counts():
    """How many objects of each kind each adapter has. Numbers cannot be compared, because the
    driver's own objects get other numbers at each load."""
    return collections.Counter((adapter, kind) for adapter, kind, _ in objects())


def modprobe(name):
    subprocess.run(["modprobe", "-d", os.environ["XRC_LAB_KERNEL"], name], check=True)


def register_once(name):
    """Registers memory once. At the first registration mlx5_ib of Linux 6.12 creates a QP of its
    own. Here no test counts that QP."""
    subprocess.run(["ibv_rc_pingpong", "-d", name, "-p", "1", "127.0.0.1"], check=False,
                   timeout=200, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def load():
    for name in MODULES:
        modprobe(name)
    wait_for(lambda: len(list(pathlib.Path("/sys/class/infiniband").glob(f"{DRIVER}_*"))),
             "two devices", holds=lambda count: count == 2)
    for name in DEVICES:
        register_once(name)


def unload():
    for name in MODULES_TO_UNLOAD:
        subprocess.run(["rmmod", name], check=True, timeout=120)
    assert objects() == set(), "the driver leaked objects"


@pytest.fixture(scope="session", autouse=True)
def driver():
    """Loads the driver and waits for both adapters. At the end it must be possible to remove it."""
    subprocess.run(["busybox", "ifconfig", "lo", "127.0.0.1", "up"], check=True)
    os.environ["SOFTHCA_MODEL"] = MODEL
    load()
    yield
    unload()


@pytest.fixture(autouse=True)
def nothing_left(driver):
    before = counts()
    yield
    assert counts() - before == collections.Counter(), "the test leaked objects"


@contextlib.contextmanager
def without_xrc():
    """Adapters without XRC. The driver reads their limits when it is loaded, so it is reloaded."""
    switch_xrc(0)
    try:
        yield
    finally:
        switch_xrc(1)


def switch_xrc(value):
    unload()
    for path in functions():
        config = os.open(path / "config", os.O_RDWR)
        os.pwrite(config, value.to_bytes(4, "little"), XRC_SWITCH)
        os.close(config)
    load()


def run(argv, timeout=200, **kw):
    """Runs a program by running.py of softhca, with a longer timeout: the guest may be slow."""
    return running.run(argv, timeout, **kw)
