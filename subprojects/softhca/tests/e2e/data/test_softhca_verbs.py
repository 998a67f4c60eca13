# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Operations, failures, events and refusals over the modern API, with rings in shared memory and
without."""

import pathlib
import re
import shutil

import pytest

import models
from built import holding


PROGRAMS_OF_RINGS = ["completions", "data-path", "datagrams", "descriptors", "doorbells", "failures",
                     "meetings", "not-ready", "objects", "reset", "rules"]


@pytest.mark.parametrize("program", PROGRAMS_OF_RINGS)
def test_each_case_holds(passes, program):
    passes(["--arena=on", "--open_events=on"], program, timeout=100)


@pytest.mark.any_model
@pytest.mark.parametrize("arena, program", [
    ("on", "under-way"), *(("off", program) for program in [*PROGRAMS_OF_RINGS, "under-way"])
])
def test_each_case_holds_on_one_model(passes, arena, program):
    passes([f"--arena={arena}", "--open_events=on"], program, timeout=100)


def has_shared_rings(daemon):
    """The file's first mapping is the table of the others. Doorbell records take a page each."""
    with holding(daemon) as holder:
        maps = pathlib.Path(f"/proc/{holder.pid}/maps").read_text()
    shared = re.findall("(.*)-(.*) rw-s .*memfd:softhca-arena", maps)
    return len([begin for begin, end in shared if int(end, 16) - int(begin, 16) > 4096]) > 1


@pytest.mark.parametrize("settings, expected", [(["--arena=on"], True), (["--arena=off"], False)])
def test_rings_are_in_shared_memory(daemon, expected):
    assert has_shared_rings(daemon) == expected


def test_a_driver_is_known_by_its_file_not_its_directory(daemon, monkeypatch, tmp_path):
    maps = pathlib.Path("/proc/self/maps").read_text()
    [library] = set(re.findall(r"/\S+/libm(?:-[\d.]+)?\.so\S*", maps))
    place = tmp_path / f"lib{models.driver()}-tools"
    place.mkdir()
    monkeypatch.setenv("LD_PRELOAD", f"{daemon.preload}:{shutil.copy(library, place)}")
    assert has_shared_rings(daemon)


# In mode "limits" the objects of each row are all that there may be.
LIMITS = [
    "max_qp=3", "max_cq=2", "max_srq=2", "max_mr=1", "max_pd=1", "max_qp_wr=20", "max_sge=4",
    "max_cqe=127", "max_srq_wr=31", "max_srq_sge=3", "max_qp_rd_atom=4", "max_qp_init_rd_atom=8"
]


@pytest.mark.parametrize("mode, settings, reasons", [
    ("usual", ["strict=off"], ["MODIFY_QP: EINVAL (attribute missing: PORT)",
                               "MODIFY_QP: EINVAL (attribute forbidden: TIMEOUT)",
                               "DESTROY_CQ: EBUSY (CQ in use)",
                               "REG_MR: EINVAL (remote writing without local writing)"]),
    ("strict", ["strict=on"], []),
    ("no-open-qp", ["open_qp=off"], ["OPEN_QP: EOPNOTSUPP (no ibv_open_qp on this device)"]),
    ("no-xrc", ["xrc=off"], ["OPEN_XRCD: EOPNOTSUPP (no XRC on this device)"]),
    ("limits", LIMITS, []),
    ("memlock", ["memlock=on"], []),
    ("no-memlock", ["memlock=off"], []),
])
def test_refusals_have_the_kernels_errno_and_a_reason(passes, tmp_path, mode, settings, reasons):
    """Many checks give the same errno, so the trace names the check of each refusal."""
    trace = tmp_path / "trace"
    passes([f"--trace={trace}", *(f"--{setting}" for setting in settings)], "refusals", mode)
    lines = trace.read_text().splitlines()
    assert [line for line in lines if not line.endswith((": ok", ")")) or "unknown" in line] == []
    assert {"GET_CONTEXT: ok", *reasons} <= {line.split(" ", 3)[3] for line in lines}


@pytest.mark.parametrize("opened, cases", [
    ("hear", []), ("deaf", ["opened handle outlives"]), ("deaf", ["events keep their order"])
])
def test_ends_and_events_are_in_agreement_with_the_kernel(passes, softhca, opened, cases):
    """When objects end, and the order and number of events."""
    raise_event = f"""sh -c 'for i in $(seq $4); do "{softhca}" ctl event {models.device(0)} $2 $1 || exit; done'"""
    settings = ["--open_events=on"] if opened == "hear" else []
    passes(settings, "agreement", *cases,
           env={"AGREEMENT_RAISE": raise_event, "AGREEMENT_OPENED": opened})
