# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Scripts print their head as help, and refuse what they do not know before they begin."""

import os
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])
FILES = [
    path for pattern in ("*", ".ci/*", "scripts/*", "packaging/*", "bench/*.py", "tests/*/*.py")
    for path in sorted(ROOT.glob(pattern)) if path.is_file()
]
SCRIPTS = [path for path in FILES if "\n# usage: " in path.read_text(errors="replace")]
assert len(SCRIPTS) > 15
# The build and the tests start the others that have a usage.
IN_PYTHON = [
    path for path in FILES if re.match(r"#!.*python3\n[^\0]*\nusage: ", path.read_text(errors="replace"))
    and path.name not in ("refuse-overlap", "storm.py")
]


def usage(script):
    return [line[2:] for line in script.read_text().splitlines() if line.startswith("# usage: ")]


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_help_is_the_head_of_the_script(run, script, option):
    done = run([script, option])
    head = script.read_text().split("\n\n")[0].splitlines()[2:]
    said = done.stdout.splitlines()
    assert done.returncode == 0 and done.stderr == "", done
    assert said == [line[2:] for line in head if line.startswith("#")]
    assert set(usage(script)) <= set(said)


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("script", IN_PYTHON, ids=lambda script: script.name)
def test_help_of_a_script_in_python_begins_with_its_usage(run, script, option):
    done = run([script, option])
    assert done.returncode == 0 and done.stderr == "", done
    assert re.search(r"\nusage: .*\n", script.read_text()).group() in "\n" + done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_an_unknown_option_is_named(run, script):
    if script.name == "build-rpm":
        pytest.skip("its options are those of rpmbuild")
    done = run([script, "--on-sunday"])
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.splitlines() == [f"{script.name}: --on-sunday: unknown option", *usage(script)]


def test_the_beginning_of_an_option_is_no_option(run):
    done = run([ROOT / "run-tests", "--no"])
    assert (done.returncode, done.stdout) == (2, "") and "--no: unknown option" in done.stderr, done


def test_a_kernel_test_of_another_driver_is_refused(run, tmp_path):
    done = run([sys.executable, ROOT / "tests" / "kernel" / "run.py", tmp_path, "", "--real=mlx6"])
    assert (done.returncode, done.stdout) == (2, "") and "--real=mlx6: " in done.stderr, done


def test_too_many_words_are_refused(run):
    done = run([ROOT / "scripts" / "release", "one", "two"])
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "release: there are too many words" in done.stderr


@pytest.mark.parametrize("words", ["scripts/try-builds clang lot", "packaging/try-rpms rhel-8 rhel-7"])
def test_a_wrong_name_behind_a_right_one_is_refused_before_the_first_build(run, words):
    script, *names = words.split()
    done = run([ROOT / script, *names])
    assert (done.returncode, done.stdout) == (2, "") and f"{names[1]}: no such" in done.stderr, done


@pytest.mark.parametrize("words, of, status, options", [
    ("xrc_bw", "qperf", 77, []), ("connectx3, xrc_lat", "qperf", 77, []),
    ("xrc_bww", "qperf", 2, []),
    ("two hosts, np 2", "mvapich", 77, []), ("two hosts", "mvapich", 2, ["--machines=4"]),
    ("4 machines, np 4", "mvapich", 77, ["--machines=4"]),
    ("4 machines, np 2", "mvapich", 2, ["--machines=4"]),
])
def test_words_that_no_case_of_try_mpi_has_are_named(run, tmp_path, words, of, status, options):
    """No namespace can be made here, so a chosen case is skipped."""
    (tmp_path / "bin").mkdir()
    unshare = tmp_path / "unshare"
    unshare.write_text("#!/bin/sh\nexit 1\n")
    unshare.chmod(0o755)
    done = run([ROOT / "scripts" / "try-mpi", f"--only={words}", *options, f"{of}={tmp_path}"],
               env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == status, done
    assert (f"--only={words}: no name of a case contains these words" in done.stderr) == (status == 2)


def test_a_run_of_try_mpi_whose_cases_are_all_skipped_is_no_success(run, tmp_path, shell_script):
    """On emulated machines only MPIs run."""
    (tmp_path / "bin").mkdir()
    shell_script(tmp_path / "unshare", "exit 0")
    done = run([ROOT / "scripts" / "try-mpi", "--machines=2", f"qperf={tmp_path}"],
               env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 77, done
    assert "\n0 passed, 0 failed, " in done.stdout


def test_another_rdma_core_must_be_a_finished_build(run, tmp_path):
    done = run([ROOT / "run-tests", f"--rdma-core={tmp_path}"])
    assert (done.returncode, done.stdout) == (2, ""), done
    assert f"run-tests: {tmp_path} has no lib/libibverbs.so.1" in done.stderr
