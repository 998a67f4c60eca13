# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An XRC QP is two-way unless its program refers to ibv_create_xrc_rcv_qp or ibv_reg_xrc_rcv_qp.
For a one-way program the device holds no additional object."""

import re

import pytest

ONE_WAY, TWO_WAY = 1, 2 # QPs that the device makes for one XRC QP


@pytest.fixture
def qps_made(on_wire, program, trace):
    """qps_made(program, words..., setting=XRC_COMPAT_TWO_WAY): (QPs created on the device, the
    lines that the library prints behind its banner)."""

    def _qps_made(name, *words, setting=None):
        env = {"XRC_COMPAT_VERBOSE": "1"}
        if setting is not None:
            env["XRC_COMPAT_TWO_WAY"] = setting
        words = [re.sub("plugin=(.*)", lambda found: f"plugin={program(found[1])}", word)
                 for word in words]
        done = on_wire(name, *words, settings=[trace.setting], env=env)
        assert (done.returncode, done.stdout) == (0, "ok creates an XRC QP\n"), done.stderr
        complaints = [line for line in done.stderr.splitlines() if ": version " not in line]
        return trace.commands()["CREATE_QP"], complaints

    return _qps_made


@pytest.mark.any_model
@pytest.mark.parametrize("name, words, want", [
    ("kind-none", [], TWO_WAY),
    ("kind-create", [], ONE_WAY),
    ("kind-reg", [], ONE_WAY),
    # A plugin counts only if it also brings the first domain.
    ("kind-none", ["plugin=libkind-plugin.so"], TWO_WAY),
    ("kind-host", ["plugin=libkind-one-way.so"], ONE_WAY),
    ("kind-host", ["plugin=libkind-two-way.so"], TWO_WAY),
    ("kind-late", [], ONE_WAY),
    ("kind-says", [], TWO_WAY),
    ("kind-none", ["dlsym=ibv_reg_xrc_rcv_qp"], ONE_WAY),
    ("kind-none", ["dlvsym=ibv_create_xrc_rcv_qp"], ONE_WAY),
    ("kind-none",
     ["dlsym=ibv_open_xrc_domain", "dlsym=ibv_create_xrc_srq", "dlsym=ibv_create_qp"], TWO_WAY),
])
def test_auto_chooses_by_the_functions_referred_to(qps_made, name, words, want):
    assert qps_made(name, *words) == (want, [])


@pytest.mark.any_model
@pytest.mark.parametrize("name, setting, want", [
    ("kind-none", "off", ONE_WAY),
    ("kind-create", "on", TWO_WAY),
    ("kind-create", "auto", ONE_WAY),
    ("kind-none", "", TWO_WAY),
])
def test_on_and_off_decide_and_an_empty_setting_is_auto(qps_made, name, setting, want):
    assert qps_made(name, setting=setting) == (want, [])


@pytest.mark.any_model
def test_an_unknown_setting_is_auto_and_is_reported_once(qps_made):
    made, [complaint] = qps_made("kind-create", setting="nonsense")
    assert made == ONE_WAY
    assert re.fullmatch(
        r"xrc-compat\[\d+\]: XRC_COMPAT_TWO_WAY=nonsense is none of auto, on, off: taken as auto",
        complaint)


def test_one_free_qp_is_too_few_for_a_pair(on_wire):
    """A device with one free QP refuses an XRC QP; a device with two creates it."""
    done = on_wire("kind-none", settings=["--max_qp=1"])
    assert "FAIL creates an XRC QP" in done.stdout and done.returncode == 1
    done = on_wire("kind-none", settings=["--max_qp=2"])
    assert (done.returncode, done.stdout) == (0, "ok creates an XRC QP\n")


def test_a_one_way_program_creates_no_additional_object(rows, trace):
    """The device has the objects that the program creates, and no others."""
    rows(1, "one-way", "sends to itself", settings=[trace.setting])
    commands = trace.commands()
    made = {command: count for command, count in commands.items()
            if re.match("ALLOC|CREATE|OPEN|REG", command)}
    assert made == {
        "ALLOC_PD": 1, "CREATE_CQ": 1, "REG_MR": 1, "OPEN_XRCD": 1, "CREATE_XSRQ": 1, "CREATE_QP": 3
    }
    assert commands["DESTROY_QP"] == 3


def test_a_receive_qp_keeps_its_number(rows):
    rows(1, "one-way", "keeps its number")
