# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace --perfetto` writes events that a viewer of traces reads, also if something is
killed."""

import json
import os
import signal
import subprocess
import xml.etree.ElementTree

import pytest

from waiting import wait_for

pytestmark = pytest.mark.any_model

CREATE, REGISTER, UNREGISTER = (f"ibv_{verb}_xrc_rcv_qp" for verb in ("create", "reg", "unreg"))


def read(path):
    """Chrome's array format: only the last bracket may be missing."""
    text = path.read_text().rstrip()
    return json.loads(text if text.endswith("\n]") else text + "\n]")


@pytest.fixture
def cluster(traced, programs, tmp_path):
    """(events of a run of the cluster, the path of their file)"""
    file = tmp_path / "events"
    result = traced("--softhca=2", "--perfetto", file, "--", programs["cluster"], "-n", "3")
    assert (result.returncode, result.stderr) == (0, ""), result
    return read(file), file


def end_of(event):
    return event["ts"] + event["dur"]


def slice_at(events, arrow):
    """The legacy call that is under way at an end of an arrow."""
    [found] = [
        event for event in events if event["ph"] == "X" and event["cat"] == "legacy" and
        event["tid"] == arrow["tid"] and event["ts"] <= arrow["ts"] <= end_of(event)
    ]
    return found


def test_the_modern_verbs_are_inside_their_legacy_call(cluster):
    events, _ = cluster
    slices = [event for event in events if event["ph"] == "X"]
    legacy = [event for event in slices if event["cat"] == "legacy"]
    modern = [event for event in slices if event["cat"] == "modern"]
    assert modern and len(legacy) + len(modern) == len(slices)
    for verb in modern:
        assert [call for call in legacy if call["tid"] == verb["tid"] and
                call["ts"] <= verb["ts"] and end_of(verb) <= end_of(call)], verb
    assert {event["args"]["name"] for event in events if event["ph"] == "M"} >= {"xrc-cluster"}
    assert all(call["args"]["result"] for call in legacy)


def test_arrows_lead_from_create_to_register_to_unregister(cluster):
    events, _ = cluster
    ends = {phase: {event["id"]: event for event in events if event["ph"] == phase}
            for phase in "sf"}
    arrows = [(slice_at(events, ends["s"][i]), slice_at(events, ends["f"][i])) for i in ends["s"]]
    assert ends["s"].keys() == ends["f"].keys()
    assert len(arrows) == sum(event["ph"] in "sf" for event in events) / 2
    # Three members: one creates the QP, two register with it, and all unregister.
    assert sorted((a["name"], b["name"]) for a, b in arrows) == sorted(
        [(CREATE, REGISTER)] * 2 + [(CREATE, UNREGISTER)] + [(REGISTER, UNREGISTER)] * 2)
    assert all(a["ts"] < b["ts"] and (b["name"] == REGISTER or a["pid"] == b["pid"])
               for a, b in arrows)


@pytest.mark.parametrize("killed", ["program", "command"])
def test_the_file_can_be_read_after_a_kill(softhca, xrc_compat, helpers, tmp_path, killed):
    file = tmp_path / "events"
    with subprocess.Popen([softhca, "run", "--devices=1", "--", xrc_compat, "trace", "--perfetto",
                           file, "--", helpers / "hang-in-call", tmp_path / "domain"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout.readline()
        wait_for(lambda: CREATE in file.read_text())
        [pid] = {event["pid"] for event in read(file) if event["ph"] == "X"}
        os.kill(pid if killed == "program" else command.pid, signal.SIGKILL)
        command.wait(30)
        if killed == "command":
            os.kill(pid, signal.SIGKILL)
    calls = [event["name"] for event in read(file) if event.get("cat") == "legacy"]
    assert calls == ["ibv_open_xrc_domain", CREATE]
    assert file.read_text().rstrip().endswith("\n]") == (killed == "program")


CALLS_WITHOUT_END = """
import ctypes, os
os.fork(), os.fork()
call = ctypes.CDLL("libibverbs.so.1").ibv_unreg_xrc_rcv_qp
while True:
    call(None, 1)
"""


def test_a_command_that_is_killed_while_it_writes_leaves_whole_events(xrc_compat, tmp_path):
    """Four processes keep the command busy. A signal that kills may end write(2) behind a page, and
    only there may the last event be cut."""
    file = tmp_path / "events"
    with subprocess.Popen([xrc_compat, "trace", "--softhca=1", "--perfetto", file, "--", "python3",
                           "-c", CALLS_WITHOUT_END], start_new_session=True) as command:
        wait_for(lambda: file.exists() and file.stat().st_size > 1 << 20)
        command.kill()
        command.wait(30)
        os.killpg(command.pid, signal.SIGKILL)
    text = file.read_text()
    if file.stat().st_size % os.sysconf("SC_PAGE_SIZE") == 0:
        file.write_text(text[:text.rindex("\n  }")] + "\n  }\n")
    assert len([event for event in read(file) if event["ph"] == "X"]) > 1000


@pytest.mark.usefixtures("own_crashes")
def test_a_crash_is_a_mark_in_the_track_of_its_thread(softhca, xrc_compat, helpers, tmp_path,
                                                      by_libdw):
    file = tmp_path / "events"
    subprocess.run([softhca, "run", "--devices=1", "--", xrc_compat, "trace", "--perfetto", file,
                    "--", helpers / "hang-in-call", tmp_path / "domain"], input="crash\n",
                   stdout=subprocess.DEVNULL, text=True, timeout=60, check=False)
    [mark] = [event for event in read(file) if event["ph"] == "i"]
    assert mark["name"] == "Segmentation fault" and mark["s"] == "t"
    assert mark["args"]["call"] == "ibv_modify_xrc_rcv_qp"
    assert mark["ts"] > max(event["ts"] for event in read(file) if event["ph"] == "X")


def test_on_standard_output_the_events_follow_the_program(traced, programs):
    script = "echo begin; $0 -n 2 >/dev/null; echo end"
    result = traced("--softhca=2", "--perfetto", "/dev/stdout", "--", "sh", "-c", script,
                    programs["cluster"])
    output, bracket, events = result.stdout.partition("[")
    assert (result.returncode, output) == (0, "begin\nend\n"), result
    assert CREATE in {event["name"] for event in json.loads(bracket + events)}


@pytest.mark.parametrize("other", [["--json"], ["--output", "file"]], ids=" ".join)
def test_another_form_of_output_is_refused(traced, other, tmp_path):
    result = traced("--perfetto", "events", *other, "--", "true", cwd=tmp_path)
    assert result.returncode == 125 and "--perfetto goes neither with" in result.stderr
    assert not list(tmp_path.iterdir())


def test_the_picture_of_the_documents_is_drawn_from_such_a_file(cluster, run, source_root):
    """Its script draws each arrow, and the calls between them."""
    events, file = cluster
    done = run([source_root / "scripts" / "draw-trace", file])
    assert done.returncode == 0, done.stderr
    picture = xml.etree.ElementTree.fromstring(done.stdout)
    drawn = [element.tag.rpartition("}")[2] for element in picture.iter()]
    arrows = [event["ts"] for event in events if event["ph"] in "sf"]
    assert drawn.count("title") >= sum(event.get("cat") == "legacy" and
                                       min(arrows) <= event["ts"] <= max(arrows)
                                       for event in events)
    assert drawn.count("path") - 1 == sum(event["ph"] == "f" for event in events)
