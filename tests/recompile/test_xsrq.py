# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Sources in the XRC API of 2011, compiled with the installed headers, become programs of today
that need no library of xrc-compat."""

import pathlib

import pytest

import elf
from toolchain import build, compiler

HERE = pathlib.Path(__file__).parent
STANDARDS = [("c", "gnu99"), ("c", "gnu17"), ("c++", "gnu++11"), ("c++", "gnu++17")]


# {program: (libraries beside libibverbs, its output)}
PROGRAMS = {
    "xsrq_program.c": ([], "xsrq: all right\n"),
    "xsrq_rdmacm.c": (["-lrdmacm"], "xsrq rdma_cm: all right\n")
}


@pytest.fixture(params=PROGRAMS)
def source(request, installed, tmp_path):
    if "rdmacm" in request.param and not compiler("c", "-x", "c", "-include", "rdma/rdma_cma.h",
                                                  "-fsyntax-only", "/dev/null")[0]:
        pytest.skip("no <rdma/rdma_cma.h> here")
    return request.param


@pytest.fixture(params=STANDARDS, ids=lambda of: of[1])
def program(request, source, installed, tmp_path):
    language, std = request.param
    return build(tmp_path / "program", language, "-Wshadow", "-x", language, HERE / source,
                 f"-std={std}",
                 *installed.pkg_config("--cflags", "xrc-compat-xsrq"), *PROGRAMS[source][0],
                 *installed.pkg_config("--libs", "xrc-compat-xsrq"))


def test_runs_by_itself_and_beside_the_library(program, source, installed, run):
    """A job may preload the library into every program."""
    for command in (["softhca", "run", "--devices=2"], ["xrc-compat", "run", "--softhca=2"]):
        done = run([installed.bin / command[0], *command[1:], "--", program], timeout=90)
        assert (done.returncode, done.stdout) == (0, PROGRAMS[source][1]), done.stderr
    assert not [name for name in elf.needed(program) if "xrc" in name]
    assert not [
        name for name in elf.dynamic_symbols(program)[1] if "xrc_domain" in name or "xsrq" in name
    ]


def test_the_api_is_nowhere_else(installed, tmp_path):
    """Neither today's headers nor those of OFED 1.5 have this API, so the programs above use
    that of xrc-compat."""
    for package in ("xrc-compat", "libibverbs"):
        ok, errors = compiler("c", "-fsyntax-only", *installed.pkg_config("--cflags", package),
                                  HERE / "xsrq_program.c")
        assert not ok and "would not have found the API" in errors
        source = tmp_path / "calls.c"
        source.write_text(UNITS["one.c"])
        ok, errors = compiler("c", "-fsyntax-only", "-Werror=implicit-function-declaration",
                                  *installed.pkg_config("--cflags", package), source)
        assert not ok and "ibv_create_xsrq" in errors


UNITS = {
    "one.c": """#include <infiniband/verbs.h>
struct ibv_srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *attr) { return ibv_create_xsrq(pd, attr); }
""", "two.c": """#include <infiniband/verbs.h>
#include <infiniband/verbs.h>
struct ibv_srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
static struct ibv_srq *(*const maker)(struct ibv_pd *, struct ibv_srq_init_attr *) = ibv_create_srq;
int main(void) { return maker == make; }
"""
}


def test_two_units_of_a_program_may_include_the_header(installed, tmp_path, run):
    """The header's functions are inline. Two units of a program can include the header and take
    the functions' addresses."""
    for name, text in UNITS.items():
        (tmp_path / name).write_text(text)
    program = build(tmp_path / "units", "c", "-Wshadow", "-Wno-missing-field-initializers",
                    *map(tmp_path.joinpath, UNITS),
                    *installed.pkg_config("--cflags", "--libs", "xrc-compat-xsrq"))
    assert run([program]).returncode == 0
