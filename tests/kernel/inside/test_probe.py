# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The driver accepts the adapters, and programs see its devices."""

import re

import pytest

from driver import DEVICES, run


@pytest.mark.parametrize("lid, name", enumerate(DEVICES, 1))
def test_each_port_is_active_with_its_lid_and_xrc(lid, name):
    done = run(["ibv_devinfo", "-v", "-d", name])
    assert done.returncode == 0, done.stdout + done.stderr
    attributes = dict(re.findall(r"^\s*(\w+):\s+(\S+)", done.stdout, re.M))
    assert (attributes["hca_id"], attributes["state"], attributes["port_lid"],
            attributes["link_layer"]) == (name, "PORT_ACTIVE", str(lid), "InfiniBand")
    assert re.search(r"^\s*XRC$", done.stdout, re.M)
