# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Machines of namespaces, with and without daemons that have met."""

import pytest

from installed import need_fabric
from machines import Machine, Network, start_daemons


@pytest.fixture
def build(softhca, in_memory):
    """build(COUNT, **kw): machines without daemons. The list has all of them."""
    need_fabric(softhca)
    networks = []

    def new(count, **kw):
        network = Network(in_memory, **kw)
        networks.append(network)
        made = [Machine(network, place, softhca, in_memory) for place in range(count)]
        # As in hostfiles of MPI, an address may be followed by words, which softhca ignores.
        more = " slots=4", ":8 # rack:3"
        network.list.write_text("# ours\n" + "".join(f"{m.address}{more[m.place % 2]}\n"
                                                     for m in made))
        return made
    yield new
    for network in networks:
        network.end()


@pytest.fixture
def machines(build, settings):
    """Two machines with daemons that have met."""
    made = build(2)
    start_daemons(made, *settings)
    return made
