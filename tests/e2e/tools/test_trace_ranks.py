# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` of parallel programs loses no call of any rank, reports the ranks that it did
not reach, and never overwrites the trace of another process."""

import platform
import re
import shutil

import pytest

from installed import need

pytestmark = pytest.mark.any_model

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "hydra": ["mpiexec.hydra"]
}


def legacy_calls(file):
    return len(re.findall(r"^\d+ ibv_\w+\(", file.read_text(), re.M))


@pytest.fixture
def calls_of_one(traced, programs, tmp_path_factory):
    """How many legacy calls a single cluster makes. Another test compares these with the kernel's
    commands."""
    output = tmp_path_factory.mktemp("one") / "trace"
    traced("--softhca", "--output", output, "--", programs["cluster"])
    assert legacy_calls(output) > 20
    return legacy_calls(output)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_calls_of_all_ranks_are_listed(trace, programs, launcher, calls_of_one):
    """Two ranks, each a demo cluster of its own: the calls of all processes are listed."""
    need(LAUNCHERS[launcher][0])
    result, document = trace(*LAUNCHERS[launcher], "-n", 2, programs["cluster"])
    assert result.returncode == 0, result
    assert document["left"] == [] and len(document["calls"]) == 2 * calls_of_one
    assert (document["launcher"], document["ranks_reached"], document["ranks"],
            document["reached_all"]) == (LAUNCHERS[launcher][0], 2, 2, True)


@pytest.mark.parametrize("launcher, name, first", [
    ("openmpi", "trace", "trace"), *((launcher, "trace.%r", "trace.0") for launcher in LAUNCHERS)
])
def test_four_ranks_under_trace_lose_no_call(run, xrc_compat, programs, tmp_path, launcher, name,
                                             first, calls_of_one):
    """Each rank has a trace of its own, whether the name tells them apart or not."""
    need(LAUNCHERS[launcher][0])
    result = run([*LAUNCHERS[launcher], "-n", 4, xrc_compat, "trace", "--softhca", "--output",
                  tmp_path / name, "--", programs["cluster"]], timeout=90)
    assert result.returncode == 0, result
    files = [first, "trace.1", "trace.2", "trace.3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == files
    assert [legacy_calls(tmp_path / file) for file in files] == [calls_of_one] * 4


def test_an_existing_file_is_kept(traced, tmp_path):
    output = tmp_path / "trace"
    output.write_text("precious")
    result = traced("--output", output, "true")
    assert (result.returncode, output.read_text()) == (0, "precious")
    assert f"{output} is there already; the trace goes to {output}.1\n" in result.stderr
    assert (tmp_path / "trace.1").read_text()


def test_a_tracer_takes_no_file_that_another_has_open(traced, xrc_compat, tmp_path):
    """The file of the outer tracer is empty until its program ends."""
    output = tmp_path / "trace"
    inner = [xrc_compat, "trace", "--output", output, "true"]
    errors = traced("--output", output, "--", *inner).stderr
    assert f"{output} is there already; the trace goes to {output}.1\n" in errors
    assert output.stat().st_size > 0 and (tmp_path / "trace.1").stat().st_size > 0


def test_the_name_tells_process_host_and_rank(traced, tmp_path):
    """In a batch job Slurm sets its variables for the ranks of another launcher, too."""
    traced("--output", tmp_path / "%h.%r.%%", "true", PMIX_RANK="7", SLURM_PROCID="0",
           SLURM_NTASKS="2")
    assert [path.name for path in tmp_path.iterdir()] == [f"{platform.node()}.7.%"]
    result = traced("--output", tmp_path / "%p.%r", "--", "sh", "-c", "echo $PPID")
    assert (tmp_path / f"{result.stdout.strip()}.none").exists()


@pytest.fixture
def mpirun_rsh(shell_script):
    """A launcher that starts rank 0 in its own environment and the others in an emptied one, as on
    other hosts."""
    return shell_script(
        "mpirun_rsh",
        'for rank in $RANKS_HERE; do env MV2_COMM_WORLD_RANK=$rank MV2_COMM_WORLD_SIZE=2 "$@" || exit; done\n'
        'exec env -i PATH="$PATH" MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2 true')


@pytest.mark.parametrize("here, program, says", [
    ("", "show", ["The trace did not reach the processes that mpirun_rsh started.\n",
                  "mpirun_rsh ... xrc-compat trace --output FILE.%r PROGRAM\n"]),
    ("0", "cluster", ["The trace reached 1 of the 2 ranks that mpirun_rsh started.\n",
                      "legacy calls, by the place"]),
    ("0 1", "show", ["\nThe program made no legacy call.\n"]),
])
def test_unreached_ranks_are_reported(traced, programs, mpirun_rsh, here, program, says):
    errors = traced("--softhca", "--", mpirun_rsh, programs[program], RANKS_HERE=here).stderr
    assert all(text in errors for text in says), errors
    assert ("reach" in errors, "no legacy call" in errors) == (here != "0 1", here == "0 1")


def test_the_order_for_a_trace_of_each_rank_is_told(traced, programs, mpirun_rsh, tmp_path):
    """In front of the launcher there is one trace, of all ranks."""
    errors = traced("--output", tmp_path / "t.%r", "--", mpirun_rsh, programs["show"],
                    RANKS_HERE="0 1").stderr
    assert f"mpirun_rsh ... xrc-compat trace --output {tmp_path}/t.%r PROGRAM\n" in errors
    assert (tmp_path / "t.none").exists()


def test_a_launcher_is_no_rank(traced, tmp_path):
    """The programs of a batch script have the variables of a rank, also srun."""
    shutil.copy("/usr/bin/env", tmp_path / "srun")
    errors = traced("--", "sh", "-c", f"/bin/true; {tmp_path}/srun -i /bin/true; true", SLURM_PROCID="0",
                    SLURM_NTASKS="2").stderr
    assert "The trace did not reach the processes that srun started.\n" in errors


@pytest.mark.parametrize("option", ["--output", "--perfetto"])
def test_prterun_does_not_tell_how_many_ranks_it_starts(traced, shell_script, tmp_path, option):
    """So the trace may have missed some. The advice names the same option, behind the launcher."""
    prterun = shell_script("prterun", 'PMIX_RANK=0 "$@"')
    errors = traced(option, tmp_path / "t.%r", "--", prterun, "/bin/true").stderr
    text = errors + (tmp_path / "t.none").read_text()
    assert "The trace reached 1 of an unknown number of ranks that prterun started.\n" in text
    assert f"prterun ... xrc-compat trace {option} {tmp_path}/t.%r PROGRAM\n" in errors
    assert f"prterun ... xrc-compat trace {option} FILE.%r PROGRAM\n" in text
