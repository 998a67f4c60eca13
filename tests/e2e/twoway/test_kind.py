# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An XRC QP is two-way unless its program refers to ibv_create_xrc_rcv_qp or ibv_reg_xrc_rcv_qp.
For a one-way program the device holds no additional object."""

import collections
import json
import re

import pytest

ONE_WAY, TWO_WAY = 1, 2 # QPs that the device makes for one XRC QP


@pytest.fixture
def qps_made(on_wire, program, trace):
    """qps_made(program, words..., setting=XRC_COMPAT_TWO_WAY): (QPs created on the device,
    stderr)."""

    def _qps_made(name, *words, setting=None, verbose=False):
        env = {"XRC_COMPAT_VERBOSE": "1"} if verbose else {}
        if setting is not None:
            env["XRC_COMPAT_TWO_WAY"] = setting
        words = [re.sub("plugin=(.*)", lambda found: f"plugin={program(found[1])}", word)
                 for word in words]
        done = on_wire(name, *words, settings=[trace.setting], env=env)
        assert (done.returncode, done.stdout) == (0, "ok creates an XRC QP\n"), done.stderr
        return trace.commands()["CREATE_QP"], done.stderr

    return _qps_made


@pytest.mark.any_model
@pytest.mark.parametrize("name, words, want", [
    ("twoway-kind-none", [], TWO_WAY),
    ("twoway-kind-create", [], ONE_WAY),
    ("twoway-kind-reg", [], ONE_WAY),
    ("twoway-kind-none", ["plugin=libtwoway-plugin.so"], ONE_WAY),
    ("twoway-kind-late-create", [], ONE_WAY),
    ("twoway-kind-late-reg", [], ONE_WAY),
    ("twoway-kind-none", ["plugin=libtwoway-late-plugin.so"], ONE_WAY),
    ("twoway-kind-says", [], TWO_WAY),
    ("twoway-kind-none", ["dlsym=ibv_create_xrc_rcv_qp"], ONE_WAY),
    ("twoway-kind-none", ["dlsym=ibv_reg_xrc_rcv_qp"], ONE_WAY),
    ("twoway-kind-none", ["dlvsym=ibv_create_xrc_rcv_qp"], ONE_WAY),
    ("twoway-kind-none",
     ["dlsym=ibv_open_xrc_domain", "dlsym=ibv_create_xrc_srq", "dlsym=ibv_create_qp"], TWO_WAY),
])
def test_auto_chooses_by_the_functions_referred_to(qps_made, name, words, want):
    assert qps_made(name, *words) == (want, "")
    assert qps_made(name, *words, setting="auto")[0] == 2 * want, "both runs are in the trace"


@pytest.mark.any_model
@pytest.mark.parametrize("name, setting, want", [
    ("twoway-kind-none", "off", ONE_WAY),
    ("twoway-kind-none", "on", TWO_WAY),
    ("twoway-kind-create", "on", TWO_WAY),
    ("twoway-kind-create", "off", ONE_WAY),
    ("twoway-kind-create", "", ONE_WAY),
    ("twoway-kind-none", "", TWO_WAY),
])
def test_on_and_off_decide_and_an_empty_setting_is_auto(qps_made, name, setting, want):
    made, complaint = qps_made(name, setting=setting, verbose=True)
    assert made == want
    assert "XRC_COMPAT_TWO_WAY" not in complaint


@pytest.mark.any_model
@pytest.mark.parametrize("name, want", [("twoway-kind-none", TWO_WAY),
                                        ("twoway-kind-create", ONE_WAY)])
def test_an_unknown_setting_is_auto_and_is_reported_once_if_verbose(qps_made, name, want):
    assert qps_made(name, setting="nonsense") == (want, "")
    made, complaint = qps_made(name, setting="nonsense", verbose=True)
    assert made == 2 * want, "both runs are in the trace"
    lines = [line for line in complaint.splitlines() if "XRC_COMPAT_TWO_WAY" in line]
    assert len(lines) == 1, complaint
    assert re.fullmatch(
        r"xrc-compat\[\d+\]: XRC_COMPAT_TWO_WAY=nonsense is none of auto, on, off: taken as auto",
        lines[0])


def test_one_free_qp_is_too_few_for_a_pair(on_wire):
    """A device with one free QP refuses an XRC QP; a device with two creates it."""
    done = on_wire("twoway-kind-none", settings=["--max_qp=1"])
    assert "FAIL creates an XRC QP" in done.stdout and done.returncode == 1
    done = on_wire("twoway-kind-none", settings=["--max_qp=2"])
    assert (done.returncode, done.stdout) == (0, "ok creates an XRC QP\n")


def test_a_one_way_program_creates_no_additional_object(on_wire, trace):
    """The device has the objects that one_way.c creates, and no others."""
    done = on_wire("twoway-one-way", settings=[trace.setting])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ok uses XRC one way\n"), done.stdout
    objects = json.loads(re.search(r"^{.*}$", done.stdout, re.M | re.S)[0])
    present = collections.Counter(
        thing["type"] for context in objects["contexts"] for thing in context["objects"])
    assert present == {"pd": 1, "cq": 1, "mr": 1, "xrcd": 1, "srq": 1, "qp": 4}
    commands = trace.commands()
    assert commands["CREATE_QP"] == commands["DESTROY_QP"] == 4 and "OPEN_QP" not in commands


def test_a_receive_qp_keeps_its_number(rows):
    rows(1, "twoway-number")
