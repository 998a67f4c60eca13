# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The legacy contract, row by row, between opened devices of one process and between processes."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from contract_rows import MODES, check

GROUPS = ("open", "close", "srq", "xrc_qp", "masks", "rcv_qp", "query", "reg", "end", "event",
          "data", "ordinary", "bad_input")
# {group: the setting of softhca that its rows need}
SETTINGS = {
    "ethernet": "--link=ethernet",
    "no_xrc": "--xrc=off",
    "no_open_qp": "--open_qp=off",  # as qedr's kernel driver before Linux 5.11
    "opened_event": "--open_events=on",  # as Linux before 5.8 (contract 5.10)
}


def test_every_group_of_the_sources_is_listed():
    sources = pathlib.Path(__file__).parent.glob("rows_*.c")
    groups = re.findall(r'^#define GROUP "(\w+)"$', "".join(map(pathlib.Path.read_text, sources)),
                        re.M)
    assert sorted(groups) == sorted([*GROUPS, *SETTINGS, "limits", "no_device"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", GROUPS)
def test_rows(on_device, group, mode):
    check(on_device(mode, group))


@pytest.mark.any_model
@pytest.mark.parametrize("group", ["xrc_qp", "masks", "query", "ordinary"])
def test_kernel_that_refuses_unknown_mask_bits(on_device, group):
    """The shim itself clears mask bits that today's kernel refuses; it does not rely on uverbs
    doing that (contract 5.9). Only these groups choose the bits themselves."""
    check(on_device("contexts", group, "--strict=on"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", SETTINGS)
def test_rows_of_a_setting(on_device, group, mode):
    check(on_device(mode, group, SETTINGS[group]))


@pytest.mark.any_model
@pytest.mark.parametrize("group", ["xrc_qp", "masks", "query", "end", "event", "data"])
def test_rows_over_ethernet(on_device, group):
    """Connected by GIDs (is_global), since ports of Ethernet have no LIDs."""
    check(on_device("processes", group, "--link=ethernet"))


@pytest.mark.any_model
@pytest.mark.parametrize("mode", MODES)
def test_kernel_whose_opened_handles_get_events(on_device, mode):
    check(on_device(mode, "event", "--open_events=on"))


@pytest.mark.any_model
def test_one_warning_names_the_kernel_that_is_needed(on_device, monkeypatch):
    monkeypatch.setenv("XRC_COMPAT_VERBOSE", "1")
    result = on_device("contexts", "no_open_qp", "--open_qp=off",
                       only="reg by another opened device is ENOSYS")
    assert result.returncode == 0, result.stdout + result.stderr
    warnings = [line for line in result.stderr.splitlines() if "ENOSYS" in line]
    assert len(warnings) == 1 and "Linux 5.11" in warnings[0], result.stderr


@pytest.mark.any_model
@pytest.mark.parametrize("limit", ["ulimit -n", "ulimit -f"])
def test_below_a_resource_limit(on_device, monkeypatch, limit):
    monkeypatch.setenv("XRC_COMPAT_VERBOSE", "1")
    check(on_device("contexts", "limits", only=limit))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("emulator", [False, True])
def test_no_device(run, xrc_compat, build_root, contract, mode, tmp_path, emulator):
    """With the emulated HCA preloaded, too, but without its daemon."""
    env = {"SYSFS_PATH": "/nonexistent"}
    if emulator:
        libsofthca = str(build_root / "subprojects" / "softhca" / "bin" / "libsofthca.so")
        preload = ":".join(filter(None, (libsofthca, os.environ.get("LD_PRELOAD"))))
        env = {"LD_PRELOAD": preload, "SOFTHCA_DIR": str(tmp_path)}
    elif any(pathlib.Path("/sys/class").glob("infiniband/*")):
        pytest.skip("this machine has an RDMA device of its own")
    check(run([xrc_compat, "run", "--", contract, f"--mode={mode}", "no_device"], env=env))


NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


@pytest.mark.any_model
@pytest.mark.parametrize("group", ["reg", "end"])
@pytest.mark.parametrize("kernel", ["inside", "outside"])
def test_in_a_second_pid_namespace(run, softhca, xrc_compat, contract, group, kernel):
    """A pid means nothing in another namespace, so registrations must not depend on pids."""
    if not shutil.which("unshare") or subprocess.run([*NAMESPACE, "true"],
                                                     stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this user may not make a pid namespace")
    hca = [softhca, "run", "--devices=2", "--"]
    program = [xrc_compat, "run", "--", contract, "--mode=processes", group]
    result = run(NAMESPACE + hca + program if kernel == "inside" else hca + NAMESPACE + program,
                 timeout=120)
    check(result)
