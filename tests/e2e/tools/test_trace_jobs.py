# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` with parallel programs: it loses no call of any rank, and reports the ranks
that it did not reach."""

import json
import os
import platform
import re
import shutil
import subprocess

import pytest

from installed import need

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "hydra": ["mpiexec.hydra"]
}


@pytest.fixture
def cluster(build_root):
    return build_root / "demo" / "xrc-cluster"


def legacy_calls(file):
    return len(re.findall(r"^\d+ ibv_\w+\(", file.read_text(), re.M))


@pytest.fixture
def calls_of_one(run, xrc_compat, cluster, tmp_path_factory):
    """How many legacy calls a single cluster makes. test_trace.py compares these with the kernel's
    commands."""
    output = tmp_path_factory.mktemp("one") / "trace"
    run([xrc_compat, "trace", "--softhca", "--output", output, "--", cluster], timeout=60)
    assert legacy_calls(output) > 20
    return legacy_calls(output)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_calls_of_all_ranks_are_listed(run, xrc_compat, cluster, tmp_path, launcher,
                                            calls_of_one):
    """Two ranks, each a demo cluster of its own: the calls of all processes are listed."""
    need(LAUNCHERS[launcher][0])
    output = tmp_path / "trace"
    result = run([
        xrc_compat, "trace", "--softhca", "--json", "--output", output, "--", *LAUNCHERS[launcher],
        "-n", 2, cluster
    ], timeout=60)
    document = json.loads(output.read_text())
    assert result.returncode == 0, result
    assert document["left"] == [] and len(document["calls"]) == 2 * calls_of_one
    assert (document["launcher"], document["ranks_reached"], document["ranks"],
            document["reached_all"]) == (LAUNCHERS[launcher][0], 2, 2, True)


@pytest.mark.parametrize("name", ["trace", "trace.%r"])
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_four_ranks_under_trace_lose_no_call(run, xrc_compat, cluster, tmp_path, launcher, name,
                                             calls_of_one):
    """Each rank has a trace of its own, whether the name tells them apart or not."""
    need(LAUNCHERS[launcher][0])
    result = run([
        *LAUNCHERS[launcher], "-n", 4, xrc_compat, "trace", "--softhca", "--output",
        tmp_path / name, "--", cluster
    ], timeout=90)
    assert result.returncode == 0, result
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ([f"trace.{rank}" for rank in range(4)]
                     if "%" in name else ["trace", "trace.1", "trace.2", "trace.3"])
    assert [legacy_calls(tmp_path / file) for file in files] == [calls_of_one] * 4


def test_an_existing_file_is_kept(run, xrc_compat, tmp_path):
    output, empty = tmp_path / "trace", tmp_path / "empty"
    output.write_text("precious")
    empty.touch()  # as of mktemp
    result = run([xrc_compat, "trace", "--output", output, "true"])
    assert (result.returncode, output.read_text()) == (0, "precious")
    assert f"{output} is there already; the trace goes to {output}.1\n" in result.stderr and (
        tmp_path / "trace.1").read_text()
    assert run([xrc_compat, "trace", "--output", empty, "true"]).stderr == "" and empty.read_text()


def test_the_name_tells_process_host_and_rank(run, xrc_compat, tmp_path):
    """In a batch job Slurm sets its variables for the ranks of another launcher, too."""
    run([xrc_compat, "trace", "--output", tmp_path / "%h.%r.%%", "true"],
        env={"PMI_RANK": "7", "PMI_SIZE": "9", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"})
    assert [path.name for path in tmp_path.iterdir()] == [f"{platform.node()}.7.%"]
    result = run([xrc_compat, "trace", "--output", tmp_path / "%p", "--", "sh", "-c", "echo $PPID"])
    assert (tmp_path / result.stdout.strip()).exists()
    run([xrc_compat, "trace", "--output", tmp_path / "rank.%r", "true"])
    assert (tmp_path / "rank.none").exists()


@pytest.mark.parametrize("name", ["x%z", "x%"])
def test_an_unknown_letter_behind_percent_is_refused(run, xrc_compat, tmp_path, name):
    result = run([xrc_compat, "trace", "--output", tmp_path / name, "--", "echo", "ran"])
    assert (result.returncode, result.stdout) == (125, "") and "%" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def mpirun_rsh(tmp_path):
    """A launcher that starts rank 0 in its own environment and the others in an emptied one, as on
    other hosts."""
    script = tmp_path / "mpirun_rsh"
    script.write_text(
        '#!/bin/sh\nfor rank in $RANKS_HERE; do env MV2_COMM_WORLD_RANK=$rank MV2_COMM_WORLD_SIZE=2 "$@" || exit; done\n'
        'exec env -i PATH="$PATH" MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2 true\n')
    script.chmod(0o755)
    return script


def test_unreached_ranks_are_reported(run, xrc_compat, cluster, tmp_path, mpirun_rsh):
    errors = run([xrc_compat, "trace", "--", mpirun_rsh, "true"], env={"RANKS_HERE": ""}).stderr
    assert "The trace did not reach the processes that mpirun_rsh started.\n" in errors
    assert "mpirun_rsh ... xrc-compat trace --output FILE.%r PROGRAM\n" in errors and "made no legacy call" not in errors
    errors = run([xrc_compat, "trace", "--softhca", "--", mpirun_rsh, cluster],
               env={"RANKS_HERE": "0"}, timeout=60).stderr
    assert "The trace reached 1 of the 2 ranks that mpirun_rsh started.\n" in errors and "legacy calls, by the place" in errors
    errors = run([xrc_compat, "trace", "--", mpirun_rsh, "true"], env={"RANKS_HERE": "0 1"}).stderr
    assert errors.endswith("\nThe program made no legacy call.\n") and "reach" not in errors


def test_json_comes_after_the_output_of_the_program(run, xrc_compat):
    result = run([xrc_compat, "trace", "--json", "--", "sh", "-c", "echo out; echo err >&2"])
    assert result.stdout == "out\n" and result.stderr.startswith("err\n{\n")
    assert json.loads(result.stderr[4:])["exit_status"] == 0


def test_two_tracers_with_one_file_name_write_two_files(xrc_compat, tmp_path):
    """Two tracers open the same file at once. One of them reports that it
    writes another file."""
    output = tmp_path / "trace"
    trace = [str(xrc_compat), "trace", "--output", str(output), "--"]
    first = subprocess.Popen([*trace, "cat"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    while not output.exists():
        assert first.poll() is None
    second = subprocess.run([*trace, "true"], stderr=subprocess.PIPE, check=True, timeout=60)
    errors = first.communicate(timeout=60)[1] + second.stderr
    assert errors.count(b"is there already; the trace goes to ") == 1
    assert os.path.getsize(output) > 0 and os.path.getsize(tmp_path / "trace.1") > 0


def test_a_launcher_is_no_rank(run, xrc_compat, tmp_path):
    """srun has the variables of the batch script, which are those of a rank."""
    shutil.copy("/usr/bin/env", tmp_path / "srun")
    batch = {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}
    errors = run([xrc_compat, "trace", "--", "sh", "-c", f"{tmp_path}/srun -i /bin/true; true"],
               env=batch).stderr
    assert "The trace did not reach the processes that srun started.\n" in errors
