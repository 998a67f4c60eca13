# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The first steps of a new user: `xrc-compat check PROGRAM`, then the command that it prints."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

import models
from completed import completed

pytestmark = pytest.mark.any_model

HERE = pathlib.Path(__file__).parent
CXX = os.environ.get("CXX", "c++").split()
PROGRAMS = {
    "lookup": "lookup", "lazy": "linked-lazy", "now": "linked-now", "rpath": "linked-rpath",
    "c++": "linked-c++"
}


def compile_as_cxx(folder, build_root, source_root):
    """Compiles an old C++ program with the old header, and links it with the stub."""
    if not shutil.which(CXX[0]):
        pytest.skip("no C++ compiler")
    output = folder / "linked-c++"
    sources = [HERE / name for name in ("linked_main.c", "table_linked.c", "exchange.c")]
    stub = build_root / "abi" / "link" / "libibverbs.so"
    word_size = [] if stub.read_bytes()[4] == 2 else ["-m32"]
    result = subprocess.run([
        *CXX, *word_size, "-Wall", "-Wextra", "-Werror", "-I", source_root / "include" / "ofed",
        "-o", output, "-x", "c++", *sources, "-x", "none", stub
    ], capture_output=True, text=True, timeout=100)
    if word_size and ("bits/c++config.h" in result.stderr or "-lstdc++" in result.stderr):
        pytest.skip("no 32-bit C++ library")
    assert result.returncode == 0, result.stderr
    return output


@pytest.fixture(params=PROGRAMS)
def program(request, tmp_path, build_root, source_root, door):
    """"./NAME", in the folder where type_in() runs."""
    if request.param == "c++":
        compile_as_cxx(tmp_path, build_root, source_root)
    else:
        shutil.copy(door / PROGRAMS[request.param], tmp_path)
    if request.param == "rpath":
        request.getfixturevalue("private_copy")
    return "./" + PROGRAMS[request.param]


@pytest.fixture
def type_in(run, softhca, build_root, tmp_path):
    """type_in(line): runs it in a shell that has xrc-compat on its PATH, on a machine with two
    devices."""
    env = {"PATH": f"{build_root / 'tools'}:{os.environ['PATH']}"}
    return lambda line: run([softhca, "run", "--devices=2", "--", "sh", "-c", line], env=env, cwd=
                            tmp_path)


def test_the_next_command_of_json_and_text_runs_the_program(type_in, program):
    result = type_in(f"xrc-compat check --json {program}")
    report = json.loads(result.stdout)
    assert (result.returncode, result.stderr) == (report["exit_status"], ""), result.stderr
    assert [device["name"] for device in report["devices"]
            if device["xrc"]] == [models.device(0), models.device(1)]
    assert report["next"], report
    completed(type_in(report["next"]))
    lines = type_in(f"xrc-compat check {program}").stdout.splitlines()
    assert [line.split(None, 1)[1] for line in lines if line.startswith("Next")] == [report["next"]]


def test_the_program_fails_without_xrc_compat(type_in, program):
    result = type_in(program)
    assert result.returncode != 0
    assert "exchange: done" not in result.stdout
    assert "undefined symbol: ibv_" in result.stdout + result.stderr
