# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs get two-way QPs if they refer to certain functions. For other programs the device holds
no extra object."""

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
        plugins = {
            f"plugin={kind.upper()}": f"plugin={program(library)}"
            for kind, library in (("plugin", "libtwoway-plugin.so"), ("late",
                                                                      "libtwoway-late-plugin.so"))
        }
        words = [plugins.get(word, word) for word in words]
        done = on_wire(name, *words, settings=[trace.setting], env=env)
        assert (done.returncode, done.stdout) == (0, "ok creates an XRC QP\n"), done.stderr
        return trace.commands()["CREATE_QP"], done.stderr

    return _qps_made


@pytest.mark.any_model
@pytest.mark.parametrize("name, words, want", [
    ("twoway-kind-none", [], TWO_WAY),
    ("twoway-kind-create", [], ONE_WAY),
    ("twoway-kind-reg", [], ONE_WAY),
    ("twoway-kind-none", ["plugin=PLUGIN"], ONE_WAY),
    ("twoway-kind-late-create", [], ONE_WAY),
    ("twoway-kind-late-reg", [], ONE_WAY),
    ("twoway-kind-none", ["plugin=LATE"], ONE_WAY),
    ("twoway-kind-says", [], TWO_WAY),
    ("twoway-kind-none", ["dlsym=ibv_create_xrc_rcv_qp"], ONE_WAY),
    ("twoway-kind-none", ["dlsym=ibv_reg_xrc_rcv_qp"], ONE_WAY),
    ("twoway-kind-none", ["dlvsym=ibv_create_xrc_rcv_qp"], ONE_WAY),
    ("twoway-kind-none",
     ["dlsym=ibv_open_xrc_domain", "dlsym=ibv_create_xrc_srq", "dlsym=ibv_create_qp"], TWO_WAY),
])
def test_auto_chooses_by_the_imported_functions(qps_made, name, words, want):
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
def test_the_setting_overrides_auto(qps_made, name, setting, want):
    made, complaint = qps_made(name, setting=setting, verbose=True)
    assert made == want
    assert "XRC_COMPAT_TWO_WAY" not in complaint


@pytest.mark.any_model
@pytest.mark.parametrize("name, want", [("twoway-kind-none", TWO_WAY),
                                        ("twoway-kind-create", ONE_WAY)])
def test_an_unknown_setting_is_reported_once_and_taken_as_auto(qps_made, name, want):
    made, complaint = qps_made(name, setting="nonsense", verbose=True)
    assert made == want
    lines = [line for line in complaint.splitlines() if "XRC_COMPAT_TWO_WAY" in line]
    assert len(lines) == 1, complaint
    assert re.fullmatch(
        r"xrc-compat\[\d+\]: XRC_COMPAT_TWO_WAY=nonsense is none of auto, on, off: taken as auto",
        lines[0])


@pytest.mark.any_model
def test_an_unknown_setting_is_not_reported_unless_verbose(qps_made):
    assert qps_made("twoway-kind-none", setting="nonsense") == (TWO_WAY, "")


def test_one_free_qp_is_too_few_for_a_pair(on_wire):
    """A device with one free QP refuses an XRC QP; a device with two creates it."""
    done = on_wire("twoway-kind-none", settings=["--max_qp=1"])
    assert "FAIL creates an XRC QP" in done.stdout and done.returncode == 1
    done = on_wire("twoway-kind-none", settings=["--max_qp=2"])
    assert (done.returncode, done.stdout) == (0, "ok creates an XRC QP\n")


def created_and_present(output):
    """(numbers of objects that the program created, numbers of objects that the devices had), by
    type."""
    created = {
        word: int(count) for word, count in re.findall(r"^created (\w+) (\d+)$", output, re.M)
    }
    objects = json.loads(re.search(r"^{.*}$", output, re.M | re.S)[0])
    present = collections.Counter(
        thing["type"] for context in objects["contexts"] for thing in context["objects"])
    return created, dict(present)


def test_a_one_way_program_creates_no_additional_object(on_wire, trace):
    done = on_wire("twoway-one-way", settings=[trace.setting])
    assert done.stdout.startswith(
        "ok uses XRC one way\nok the provider's own functions\n"), done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    created, present = created_and_present(done.stdout)
    assert present == created
    commands = trace.commands()
    assert commands["CREATE_QP"] == created["qp"] and "OPEN_QP" not in commands
    assert commands["DESTROY_QP"] == created["qp"]


def test_a_receive_qp_keeps_its_number(rows):
    rows(1, "twoway-number")
