# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The verdict of `xrc-compat check` on programs of different kinds is true, and the next command
that it prints works as pasted. A kind for which no compiler is here is skipped."""

import os
import re
import shutil

import pytest

from check_workshop import RUN_TIME, compile_c, compile_demo

pytestmark = pytest.mark.any_model

DEMO = "receive completions"

# {program: (verdict, next command up to the program, what that prints)}. @ is the build directory.
VERDICTS = {
    "@/demo/xrc-cluster": ("ready", "run --", DEMO),
    **{f"@/tests/legacy/clients/{name}": ("ready", "run --", "messages verified, all right") for name in
       ("gasnet", "mvapich", "mvapich2", "mvapich2-dlopen", "openmpi", "qperf")},
    # The first needs libibcommon.so.1, too.
    **{f"@/tests/legacy/umad/umad-{year}": ("ready", "run --", "2 adapters, all right")
       for year in (2006, 2009, 2010)},
    "@/tests/legacy/opened/opened": ("ready", "run --", "all right"),
    "without-pie": ("ready", "run --", DEMO),
    "with-old-libibverbs": ("ready", "run --", DEMO),
    "host-of-plugin": ("ready", "run --", DEMO),
    "wrapper": ("cannot tell", "check", "Next        xrc-compat run -- "),
    "old-wrapper": ("cannot tell", "run --system-libibverbs --", DEMO),
    "program-of-mpi": ("ready", "env", "mpirun_rsh -np N HOST... LD_PRELOAD="),
    "mpirun": ("cannot tell", "env", "PROGRAM\n"),
    "/usr/bin/env": ("cannot tell", "run --", "LD_PRELOAD="),
}

# {program: (verdict, reason)}: `check` names no next command for these programs.
LEFT_ALONE = {
    "/bin/ls": ("not needed", "neither it nor its libraries use the XRC functions"),
    "/usr/bin/ibv_xsrq_pingpong": ("not needed", "neither it nor its libraries use the XRC functions"),
    "setuid": ("cannot be preloaded", "run a copy without the bits: cp PROGRAM copy && chmod ug-s copy"),
    "/sbin/ldconfig": ("cannot be preloaded", "link it dynamically"),
    "musl": ("cannot be preloaded", "run a build of the program for glibc"),
    "32-bit": ("cannot be preloaded", "install libxrc-compat for that machine"),
    "aarch64": ("cannot start", "is a 64-bit program for aarch64"),
    "core": ("cannot start", "xrc-compat ps --core FILE"),
    "@/shim/libxrc-compat.so.1": ("cannot start", "xrc-compat check --plugin FILE PROGRAM"),
    "text": ("cannot start", "xrc-compat run sh PROGRAM"),
    "missing": ("broken", "libibgone.so.1 is nowhere to be found"),
}

HOST = """
#include <dlfcn.h>
int main(int c, char **v) { void *h = dlopen("%s", RTLD_NOW); int (*f)(int, char **) =
h ? (int (*)(int, char **))dlsym(h, "demo") : 0; return f ? f(c, v) : 1; }
"""
LOADER = b"/lib64/ld-linux-x86-64.so.2"


def altered(data, old, new):
    """@data with the string @new in place of @old, which may be the end of a longer string."""
    if data.count(old + b"\0") != 1:
        pytest.skip(f"this program has {old} in none or several places")
    return data.replace(old, new.ljust(len(old), b"\0"))


def with_number(data, at, number):
    """@data with another 16-bit number at this offset of the ELF header."""
    return data[:at] + number.to_bytes(2, "little") + data[at + 2:]


def old_libibverbs(real_library):
    """No driver of today finds its symbol versions in that one, so it finds no device."""
    with open(real_library, "rb") as library:
        return library.read().replace(b"IBVERBS_PRIVATE_", b"IBVERBS_OF_OFED_")


@pytest.fixture(scope="module")
def place(tmp_path_factory, real_library):
    folder = tmp_path_factory.mktemp("programs")
    (folder / "old").mkdir()
    (folder / "old" / "libibverbs.so.1").write_bytes(old_libibverbs(real_library))
    return folder


@pytest.fixture
def contents(place, build_root):
    """{name: function that returns the bytes of the program}."""
    demo = build_root / "demo" / "xrc-cluster"
    data = demo.read_bytes()
    return {
        "wrapper": lambda: b"#!/bin/sh\nexec %s -n 1\n" % bytes(demo),
        "old-wrapper": lambda: b"#!/bin/sh\nLD_LIBRARY_PATH=%s/old exec %s -n 1\n" %
                               (bytes(place), bytes(demo)),
        "mpirun": lambda: b"#!/bin/sh\necho\n",
        "setuid": lambda: data,
        "text": lambda: b"text",
        "program-of-mpi": lambda: altered(data, b", was the last", b"MPI_Init"),
        "missing": lambda: altered(data, b"libibverbs.so.1", b"libibgone.so.1"),
        "musl": lambda: altered(data, LOADER, b"/lib/ld-musl-x86_64.so.1"),
        "aarch64": lambda: with_number(data, 18, 183),    # e_machine
        "core": lambda: with_number(data, 16, 4),    # e_type
    }


@pytest.fixture
def compilers(place, build_root, source_root):
    """{name: function that compiles the program}."""
    def compiled(name, *flags):
        return compile_demo(place / name, build_root, source_root, *flags)

    def host():
        plugin = compiled("plugin.so", "-shared", "-fPIC", "-Dmain=demo")
        compile_c(place / "host-of-plugin", HOST % plugin, "-ldl")

    return {
        "without-pie": lambda: compiled("without-pie", "-no-pie"),
        "with-old-libibverbs": lambda: compiled("with-old-libibverbs", "-Wl,--disable-new-dtags",
                                                "-Wl,-rpath,$ORIGIN/old"),
        "32-bit": lambda: compile_c(place / "32-bit", RUN_TIME, "-m32", "-ldl"),
        "host-of-plugin": host,
    }


@pytest.fixture
def make(place, build_root, contents, compilers):
    """make(name): the path of a program of the tables, which is made if it is not there."""
    def _make(name):
        path = place / name
        if name[0] == "@":
            return str(build_root) + name[1:]
        if name in compilers and not shutil.which("cc"):
            pytest.skip("no compiler is here")
        if name in compilers:
            compilers[name]()
        elif name in contents:
            path.write_bytes(contents[name]())
            path.chmod(0o4755 if name == "setuid" else 0o755)
        elif not path.exists():
            pytest.skip(f"{name} is not installed")
        return str(path)

    return _make


@pytest.fixture
def paste(run, softhca, xrc_compat, place, in_memory, sanitizer_env):
    """paste(text): its result in a shell with two emulated adapters."""
    env = {**sanitizer_env, "LD_LIBRARY_PATH": "", "TMPDIR": str(in_memory), "SHELL": "/bin/sh",
           "PATH": f"{xrc_compat.parent}:{os.environ['PATH']}"}
    return lambda text: run([softhca, "run", "--devices=2", "--", "sh", "-c", text], env=env,
                            cwd=place, timeout=60)


def next_of(report):
    return re.findall(r"^Next +(.*)$", report, re.M)


@pytest.mark.usefixtures("todays_libibumad")
@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_is_true_and_the_next_step_works_as_pasted(paste, make, build_root, name):
    verdict, command, prints = VERDICTS[name]
    path = make(name)
    plugin = "--plugin plugin.so " if name == "host-of-plugin" else ""
    report = paste(f"xrc-compat check {plugin}{path}").stdout
    assert f"\nVerdict     {verdict}\n" in report, report
    following = build_root / "demo" / "xrc-cluster" if name == "wrapper" else path
    assert next_of(report) == [f"xrc-compat {command} {following}"]
    done = paste(next_of(report)[0])
    assert done.returncode == 0 and prints in done.stdout, done


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_a_program_that_needs_nothing_or_cannot_run_has_no_next_step(paste, make, shim, name):
    """Without the library for 32-bit programs, which may be installed beside this one."""
    verdict, says = LEFT_ALONE[name]
    report = paste(f"XRC_COMPAT_LIBRARY={shim} xrc-compat check {make(name)}").stdout
    assert f"\nVerdict     {verdict}\n" in report and says in report, report
    assert next_of(report) == []


def test_a_copy_without_the_setuid_bit_runs(paste, make):
    advice = LEFT_ALONE["setuid"][1].split(": ")[1].replace("PROGRAM", make("setuid"))
    assert DEMO in paste(f"{advice} && xrc-compat run -- ./copy").stdout
