# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` lists the domains and registrations that a program has not ended. The end of
a device ends those of this device only."""

import pytest

pytestmark = pytest.mark.any_model


def test_the_end_of_a_device_ends_its_own_domains_and_registrations(trace, programs):
    result, document = trace(programs["end device"])
    assert result.returncode == 0, result
    first, _, last = [call for call in document["calls"]
                          if call["function"] == "ibv_open_xrc_domain"]
    created, _ = [call for call in document["calls"]
                  if call["function"] == "ibv_create_xrc_rcv_qp"]
    assert last["site"] != first["site"]
    assert [(row["what"], row["site"]) for row in document["left"]] == [
        ("domain", first["site"]), ("registration", created["site"]), ("domain", last["site"])]
    assert document["left"][0]["qp"] is None
    assert document["left"][1]["qp"] == int(created["result"].split()[-1], 0)
