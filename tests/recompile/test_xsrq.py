# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Sources in the XRC API of 2011, compiled with the headers of an installation or of the build
tree, become programs of today that need no library of xrc-compat."""

import pathlib

import pytest

import elf
from toolchain import build, compiler

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("language, std", [("c", "gnu99"), ("c++", "gnu++11")])
@pytest.mark.parametrize("name, library, output", [
    ("xsrq_program.c", [], "xsrq: all right\n"),
    ("xsrq_rdmacm.c", ["-lrdmacm", "-pthread"], "xsrq rdma_cm: all right\n"),
])
def test_runs_by_itself_and_beside_the_library(packages, run, tmp_path, name, library, output,
                                               language, std):
    """A job may preload the library into every program."""
    if library and not compiler("c", "-fsyntax-only", text="#include <rdma/rdma_cma.h>\n")[0]:
        pytest.skip("no <rdma/rdma_cma.h> here")
    program = build(tmp_path / "program", language, "-Wshadow", "-x", language, HERE / name,
                    f"-std={std}", *packages.pkg_config("--cflags", "xrc-compat-xsrq"), *library,
                    *packages.pkg_config("--libs", "xrc-compat-xsrq"))
    for command in ([packages.softhca, "run", "--devices=2"],
                    [packages.xrc_compat, "run", "--softhca=2"]):
        done = run([*command, "--", program], timeout=90)
        assert (done.returncode, done.stdout) == (0, output), done.stderr
    assert not [name for name in elf.needed(program) if "xrc" in name]
    assert not [
        name for name in elf.dynamic_symbols(program)[1] if "xrc_domain" in name or "xsrq" in name
    ]


UNIT = """#include <infiniband/verbs.h>
struct ibv_srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *attr) { return ibv_create_xsrq(pd, attr); }
"""
OTHER_UNIT = """#include <infiniband/verbs.h>
#include <infiniband/verbs.h>
struct ibv_srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
static struct ibv_srq *(*const maker)(struct ibv_pd *, struct ibv_srq_init_attr *) = ibv_create_srq;
int main(void) { return maker == make; }
"""


@pytest.mark.parametrize("package", ["xrc-compat", "libibverbs"])
def test_the_api_is_nowhere_else(installed, package):
    """Neither today's headers nor those of OFED 1.5 have this API, so the programs above use
    that of xrc-compat."""
    flags = ["-fsyntax-only", "-Werror", *installed.pkg_config("--cflags", package)]
    ok, errors = compiler("c", *flags, HERE / "xsrq_program.c")
    assert not ok and "would not have found the API" in errors
    ok, errors = compiler("c", *flags, text=UNIT)
    assert not ok and "ibv_create_xsrq" in errors


def test_two_units_of_a_program_may_include_the_header(installed, tmp_path, run):
    """The header's functions are inline. Two units of a program can include the header and take
    the functions' addresses."""
    flags = ["-Wno-missing-field-initializers",
             *installed.pkg_config("--cflags", "xrc-compat-xsrq")]
    unit = build(tmp_path / "unit.o", "c", "-c", *flags, text=UNIT)
    program = build(tmp_path / "units", "c", unit, *flags, "-libverbs", text=OTHER_UNIT)
    assert run([program]).returncode == 0
