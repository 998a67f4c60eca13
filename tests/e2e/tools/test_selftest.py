# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat selftest` passes where the contract holds, and fails where it does not."""

import json
import re
import shlex

import pytest

import models

SECTIONS = [
    "1.1", "-", "5.1", "5.3", "5.4", "5.5", "5.6", "5.3", "5.8", "5.2", "5.6", "5.7", "5.6", "5.7",
    "5.3", "5.2"
]


def rows(result):
    return re.findall(r"^(ok|FAILED|limited|no device|not tried) +([\d.-]+) +(.*)$", result.stdout,
                      re.M)


def of_todays_kernel():
    """Linux since 5.8 reports events of a QP only to its creator."""
    return ["limited" if section == "5.8" else "ok" for section in SECTIONS]


def outcome(result, section):
    return [row[0] for row in rows(result) if row[1] == section]


@pytest.fixture
def program(build_root):
    return build_root / "tools" / "selftest" / "xrc-compat-selftest"


def test_everything_holds_on_the_emulated_device(model, run, xrc_compat):
    result = run([xrc_compat, "selftest", "--softhca=1"], timeout=60)
    assert (result.returncode, result.stderr) == (0, ""), result
    assert [(row[0], row[1]) for row in rows(result)] == [*zip(of_todays_kernel(), SECTIONS)]
    assert result.stdout.endswith(
        f"\n{models.device(0)}: 15 passed, 0 failed, 0 not tried, 1 limited by the kernel\n")


@pytest.mark.any_model
@pytest.mark.parametrize("device, status, counts", [((), 0, (15, 0, 0, 1)),
                                                    (["--device=x"], 4, (1, 0, 15, 0))])
def test_json_has_each_check(run, xrc_compat, device, status, counts):
    result = run([xrc_compat, "selftest", "--softhca=1", "--json", *device], timeout=60)
    report = json.loads(result.stdout)
    assert [check["section"] for check in report["checks"]] == SECTIONS
    assert tuple(report[key] for key in ("passed", "failed", "not_tried", "limited")) == counts
    assert result.returncode == status and bool(report["device"]) == (not device)
    details = [check["detail"] for check in report["checks"] if check["detail"]]
    assert details == ["creator: no device x with XRC" if device else
                       "this kernel tells only the creator of a receive QP (Linux since 5.8)"]


@pytest.mark.any_model
def test_the_device_option_chooses_the_device(model, run, xrc_compat):
    result = run([xrc_compat, "selftest", "--device", models.device(1), "--softhca=2"], timeout=60)
    assert result.returncode == 0 and f"\n{models.device(1)}: 15 passed" in result.stdout
    result = run([xrc_compat, "selftest", "--device=nonsense7", "--softhca"], timeout=60)
    assert result.returncode == 4
    assert result.stdout.endswith("\n               creator: no device nonsense7 with XRC\n"
                                  "\n1 passed, 0 failed, 15 not tried\n")


def test_every_check_passes_between_two_hosts(run, softhca, xrc_compat, tmp_path):
    remote = f"echo >>{tmp_path}/started; {xrc_compat} selftest --actor --device {models.device(1)}"
    result = run([softhca, "run", "--devices=2", "--", xrc_compat, "selftest", "--device",
                  models.device(0), "--remote", remote], timeout=60)
    assert result.returncode == 0, result
    assert [row[0] for row in rows(result)] == of_todays_kernel()
    assert (tmp_path / "started").read_text() == "\n\n"


@pytest.mark.any_model
@pytest.mark.parametrize("remote, why", [
    ("exit 1", "the process ended"),
    ("yes welcome to host2", "the shell printed something before the answer"),
])
def test_another_host_that_does_not_answer_fails_the_check(model, run, xrc_compat, remote, why):
    result = run([xrc_compat, "selftest", "--softhca=1", "--remote", remote], timeout=60)
    assert (result.returncode, outcome(result, "-")) == (1, ["FAILED"])
    assert f"sender: {why}\n" in result.stdout
    assert f"\n{models.device(0)}: 1 passed, 1 failed, 14 not tried\n" in result.stdout


RELAY = """
import os, subprocess, sys
actor = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
while task := os.read(0, 1 << 16):
    actor.stdin.write(task.replace(sys.argv[1].encode(), b"0.0.0"))
    actor.stdin.flush()
"""


@pytest.mark.any_model
def test_an_actor_of_another_release_ends(run, xrc_compat):
    version = run([xrc_compat, "--version"]).stdout.split()[1]
    relay = shlex.join(["python3", "-c", RELAY, version, str(xrc_compat), "selftest", "--actor"])
    result = run([xrc_compat, "selftest", "--softhca=2", "--remote", relay], timeout=60)
    assert (result.returncode, outcome(result, "-")) == (1, ["FAILED"]), result


@pytest.mark.any_model
def test_every_check_needs_the_preloaded_library(run, softhca, program):
    result = run([softhca, "run", "--", program])
    assert result.returncode == 1 and outcome(result, "1.1") == ["FAILED"]
    assert "is libxrc-compat preloaded?" in result.stdout
    assert len(rows(result)) == 1 and f", {len(SECTIONS) - 1} not tried\n" in result.stdout


@pytest.mark.any_model
@pytest.mark.parametrize("option, status, section, verdict, says", [
    ("--xrc=off", 4, "-", "no device",
     "\n1 passed, 0 failed, 15 not tried\nthere is no device to test: xrc-compat doctor says "
         "why; selftest --softhca tests an emulated one\n"),
    ("--open_qp=off", 1, "5.4", "FAILED",
     "this kernel does not share receive QPs between processes of this device's driver; Linux 5.11 and later do"),
    ("--open_events=on", 0, "5.8", "ok", ": 16 passed, 0 failed, 0 not tried\n"),
    ("--strict=on", 0, "5.8", "limited", ": 15 passed, 0 failed, 0 not tried, 1 limited"),
])
def test_what_the_kernel_lacks_is_named(run, softhca, xrc_compat, option, status, section, verdict,
                                        says):
    result = run([softhca, "run", option, "--", xrc_compat, "selftest"], timeout=60)
    assert (result.returncode, outcome(result, section)) == (status, [verdict]), result
    assert says in result.stdout


@pytest.mark.any_model
def test_a_device_that_cannot_be_opened_fails_before_one_without_xrc(run, xrc_compat, fakes):
    result = run([xrc_compat, "selftest"], env={"LD_PRELOAD": fakes["LD_PRELOAD"],
                                                "FAKE_DEVICES": "mlx5_9 rxe0"})
    assert (result.returncode, outcome(result, "-")) == (1, ["FAILED"])
    assert "creator: ibv_open_device or ibv_query_device: Permission denied" in result.stdout


@pytest.mark.any_model
def test_a_missing_event_is_a_failure(model, run, softhca, xrc_compat, helpers):
    script = 'LD_PRELOAD=$0:$LD_PRELOAD exec "$1" selftest'
    result = run([softhca, "run", "--", "sh", "-c", script, helpers / "libdeaf.so", xrc_compat],
                 timeout=60)
    assert (result.returncode, outcome(result, "5.8")) == (1, ["FAILED"]), result
    assert "no event for the creator the survivor the victim\n" in result.stdout


@pytest.mark.any_model
@pytest.mark.parametrize("member, says", [
    ("cq", "ibv_create_cq: Function not implemented; wanted: success"),
    ("status", "the receive ended with status 4, opcode 128"),
    ("wr_id", "the receive ended with status 0, opcode 128"),
    ("opcode", "the receive ended with status 0, opcode 129"),
    ("qp_num", "the completion names QP 0x"), ("byte_len", "1499 bytes arrived; wanted 1500"),
])
def test_a_wrong_completion_is_a_failure(run, softhca, xrc_compat, helpers, member, says):
    script = 'LD_PRELOAD=$0:$LD_PRELOAD exec "$1" selftest'
    result = run([softhca, "run", "--", "sh", "-c", script, helpers / "libgarble.so", xrc_compat],
                 env={"GARBLE": member}, timeout=60)
    verdict = outcome(result, "-")[0] if member == "cq" else outcome(result, "5.3")[1]
    assert (result.returncode, verdict) == (1, "FAILED"), result
    assert f": {says}" in result.stdout


@pytest.mark.any_model
def test_a_device_without_an_active_port_is_named(model, run, softhca, xrc_compat):
    script = '"$0" ctl port "$2" 1 down && exec "$1" selftest'
    result = run([softhca, "run", "--", "sh", "-c", script, softhca, xrc_compat, models.device(0)])
    assert result.returncode == 1 and f"creator: {models.device(0)} has no active" in result.stdout


@pytest.mark.any_model
def test_a_device_that_loses_every_message_fails(model, run, softhca, xrc_compat):
    script = '"$0" ctl fault all drop 100% && exec "$1" selftest'
    result = run([softhca, "run", "--", "sh", "-c", script, softhca, xrc_compat], timeout=60)
    assert (result.returncode, outcome(result, "5.3")[1]) == (1, "FAILED"), result
    assert "sender: the message ended with status 12 (" in result.stdout
