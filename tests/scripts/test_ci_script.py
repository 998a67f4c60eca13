# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
""".ci/run fails if a step fails, and lists at its end the steps that could not run."""

import re
import shutil

import pytest


@pytest.fixture
def checked(tmp_path, run, source_root, shell_script):
    """checked(status, *words, mpis, rdma_cores, mutation, day): runs the script with the words.
    `run-tests --i386` exits with @status, the mutations with @mutation, try-builds with 77; the
    other steps succeed. meson skips "softhca speed", and valgrind is not installed."""

    def _checked(status, *words, mpis="", rdma_cores="", mutation=0, day=""):
        (tmp_path / "bin").mkdir()
        for tool in ("bash", "date", "dirname", "sed", "sh"):
            (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
        (tmp_path / ".ci").mkdir()
        shutil.copy(source_root / ".ci" / "run", tmp_path / ".ci")
        for name, body in {
                "run-tests": f'case $1 in --i386) exit {status} ;; esac; echo "ran $*"',
                "run-demo": ":",
                "scripts/try-builds": "exit 77",
                "tests/mutation/run.py": f"echo first; echo; echo NOT NOTICED: a; exit {mutation}",
                "scripts/try-ci": ":",
                "scripts/try-documents": "echo the documents",
                "scripts/try-mpi": 'echo "MPI $*"',
                "scripts/deps.sh": "deps_wish() { :; }\ndeps_meson() { echo \"meson $*\"\n"
                                   "case $6 in softhca*) echo ' 1/2 softhca speed  SKIP  0.1s'; esac; }",
                "scripts/fresh.sh": "fresh_own_suite() { echo sid; }",
        }.items():
            shell_script(name, body)
        shutil.copy(source_root / "scripts" / "usage.sh", tmp_path / "scripts")
        return run([tmp_path / ".ci" / "run", *words],
                   env={"PATH": str(tmp_path / "bin"), "RDMA_CORES": rdma_cores, "MPI_PREFIXES": mpis,
                        "CI_DAY": day})

    return _checked


def test_steps_that_could_not_run_are_listed_last(checked):
    done = checked(77, mutation=1)
    assert done.returncode == 0, done
    assert ("meson test -C build --benchmark ended handles on connectx3 ended handles on connectx5\n"
            in done.stdout)
    assert done.stdout.split("the documents\n")[1].splitlines() == [
        "", "NOT NOTICED: a", "skipped here: ./run-tests --i386",
        'skipped here: the benchmarks "ordinary cost" and "hook cost": valgrind is not installed',
        'skipped here: the benchmark "softhca speed"',
        "skipped here: scripts/try-builds clang least",
        "skipped here: another rdma-core: RDMA_CORES names none",
        "skipped here: an old MPI: MPI_PREFIXES names none"
    ]


def test_one_old_mpi_runs_a_day(checked):
    done = checked(0, mpis="mvapich2=/opt/mvapich2 openmpi=/opt/openmpi")
    assert done.returncode == 0 and "an old MPI" not in done.stdout, done
    assert len(re.findall(r"^MPI --model=connectx[35] (\w+)=/opt/\1$", done.stdout, re.M)) == 1


def test_one_rdma_core_runs_a_day(checked):
    done = checked(0, rdma_cores="/opt/rdma-core-17/build /opt/rdma-core-22/build")
    assert done.returncode == 0 and "another rdma-core" not in done.stdout, done
    assert len(re.findall(r"^ran --rdma-core=/opt/rdma-core-(17|22)/build demo cluster ", done.stdout, re.M)) == 1


@pytest.mark.parametrize("day, adapter, release, version", [
    ("20000", "connectx3", "trixie", "17"), ("20001", "connectx5", "bullseye", "17"),
    ("20002", "connectx3", "bookworm", "22"), ("20003", "connectx5", "trixie", "22")])
def test_a_day_can_be_repeated(checked, day, adapter, release, version):
    done = checked(0, day=day, mpis="openmpi=/opt/17 openmpi=/opt/22",
                   rdma_cores="/opt/rdma-core-17 /opt/rdma-core-22")
    assert done.stdout.startswith(f"CI_DAY={day}\n"), done
    for text in (f"--on={release} ", f"--rdma-core=/opt/rdma-core-{version} ",
                 f"MPI --model={adapter} openmpi=/opt/{version}\n"):
        assert text in done.stdout


def test_today_is_named_first(checked):
    assert re.match(r"CI_DAY=\d{5}\n", checked(0).stdout)


@pytest.mark.parametrize("word", ["all", "--fast"])
def test_no_word_is_taken_for_a_run(checked, word):
    done = checked(0, word)
    assert done.returncode == 2 and "ran" not in done.stdout and "usage: .ci/run" in done.stderr


def test_a_step_that_fails_ends_the_script(checked):
    done = checked(1)
    assert done.returncode == 1 and "ran" not in done.stdout, done


def test_mutations_that_cannot_run_end_the_script(checked):
    done = checked(0, mutation=2)
    assert done.returncode == 1 and "NOT NOTICED: a" not in done.stdout, done
