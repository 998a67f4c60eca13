# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The lab's module, loaded and unloaded; and programs run on its devices."""

import contextlib
import os
import pathlib
import subprocess

import pytest

import running

DEBUG = pathlib.Path("/sys/kernel/debug/xrc_lab")
# And what programs that also run on the emulated HCA call it (tests/models.py).
PROVIDERS = {"mlx4": "connectx3", "mlx5": "connectx5"}


def objects():
    """One line per object that the devices have now: "mlx4_0 qp 0x800041 123"."""
    return (DEBUG / "objects").read_text(encoding="utf-8").splitlines()


@contextlib.contextmanager
def devices(model, **settings):
    """Two devices. When they go, no object may be left, and the module must be free to go."""
    words = [f"{name}={value}" for name, value in dict(settings, model=model).items()]
    os.environ["SOFTHCA_MODEL"] = PROVIDERS[model]
    subprocess.run(["insmod", os.environ["XRC_LAB_MODULE"], *words], check=True)
    try:
        yield
        assert objects() == [], "left when no program is there any more"
    finally:
        subprocess.run(["rmmod", "xrc_lab"], check=True)


@pytest.fixture(scope="session")
def build_root():
    return pathlib.Path(os.environ["XRC_COMPAT_BUILD_ROOT"])


@pytest.fixture(scope="session")
def xrc_compat(build_root):
    return build_root / "tools" / "xrc-compat"


@pytest.fixture(params=PROVIDERS)
def provider(request):
    return request.param


@pytest.fixture
def hca(provider):
    with devices(provider):
        yield provider


def run(argv, timeout=300, **kw):
    """As everywhere, but the guest may be many times slower than the machine."""
    return running.run(argv, timeout, **kw)
