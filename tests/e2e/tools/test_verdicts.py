# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The verdict of `xrc-compat check` on 20 programs of different kinds is true, and the next command
that it prints works as pasted. Needs no compiler."""

import os
import re
import shutil

import pytest

# {program: (verdict, next command up to the program, what that prints)}. @ is the build directory.
VERDICTS = {
    "@/demo/xrc-cluster": ("ready", "run --", "receive completions"),
    **{f"@/tests/legacy/clients/{name}": ("ready", "run --", "messages verified, all right") for name in
       ("gasnet", "mvapich", "mvapich2", "mvapich2-dlopen", "openmpi", "qperf")},
    **{f"@/tests/legacy/umad/umad-{year}": ("ready", "run --", "2 adapters, all right")
       for year in (2006, 2009, 2010)},
    "@/tests/legacy/opened/opened": ("ready", "run --", "all right"),
    "wrapper": ("cannot tell", "check", "Next        xrc-compat run -- "),
    "old-wrapper": ("cannot tell", "run --system-libibverbs --", "receive completions"),
    "program-of-mpi": ("ready", "env", "mpirun_rsh -np N HOST... LD_PRELOAD="),
    "mpirun": ("cannot tell", "env", "PROGRAM\n"),
    "/usr/bin/env": ("cannot tell", "run --", "LD_PRELOAD="),
    "/bin/ls": ("not needed", None, None),
    "setuid": ("cannot be preloaded", None, None),
    "@/shim/libxrc-compat.so.1": ("cannot start", None, None),
    "text": ("cannot start", None, None),
    "missing": ("broken", None, None),
}


@pytest.fixture
def programs(build_root, tmp_path):
    """The directory of those programs of VERDICTS that are made here."""
    demo = build_root / "demo" / "xrc-cluster"

    def make(name, data, mode=0o755):
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(mode)

    def altered(old, new):
        parts = demo.read_bytes().split(b"\0" + old + b"\0")
        if len(parts) == 1 and old in demo.read_bytes():
            pytest.skip(f"this linker keeps {old} as the end of another string")
        before, after = parts
        return b"\0".join((before, new.ljust(len(old), b"\0"), after))

    make("wrapper", b"#!/bin/sh\nexec %s -n 1\n" % bytes(demo))
    make("old-wrapper", b"#!/bin/sh\nLD_LIBRARY_PATH=/opt/solver exec %s -n 1\n" % bytes(demo))
    make("mpirun", b"#!/bin/sh\necho\n")
    make("setuid", demo.read_bytes(), 0o4755)
    make("text", b"text")
    make("program-of-mpi", altered(b"registered, was the last", b"MPI_Init"))
    make("missing", altered(b"libibverbs.so.1", b"libibgone.so.1"))
    return tmp_path


@pytest.mark.usefixtures("todays_libibumad")
@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_is_true_and_the_next_step_works_as_pasted(run, softhca, xrc_compat, programs,
                                                               build_root, name, sanitizer_env):
    verdict, command, prints = VERDICTS[name]
    path = str(build_root) + name[1:] if name[0] == "@" else str(programs / name)
    env = {**sanitizer_env, "LD_LIBRARY_PATH": "", "TMPDIR": str(programs), "SHELL": "/bin/sh",
           "PATH": f"{xrc_compat.parent}:{os.environ['PATH']}"}
    report = run([softhca, "run", "--devices=2", "--", "xrc-compat", "check", path], env=env).stdout
    assert f"\nVerdict     {verdict}\n" in report, report
    pasted = re.findall(r"^Next +(.*)$", report, re.M)
    if not command:
        assert pasted == []
        return
    following = build_root / "demo" / "xrc-cluster" if name == "wrapper" else path
    assert pasted == [f"xrc-compat {command} {following}"]
    done = run([softhca, "run", "--devices=2", "--", "sh", "-c", pasted[0]], env=env, timeout=60)
    assert done.returncode == 0 and prints in done.stdout, done
