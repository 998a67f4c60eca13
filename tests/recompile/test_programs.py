# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that are recompiled with the headers and libraries of an installation, or of the build
tree, are like old binaries, or run by themselves (the -alone package); and programs that are half
ported work."""

import pathlib

import pytest

import elf
from toolchain import STRICT, build, compiler

pytestmark = pytest.mark.any_model

HERE = pathlib.Path(__file__).parent
CLUSTER = sorted((HERE.parents[1] / "demo").glob("*.c"))


@pytest.fixture(scope="session")
def cluster(packages, tmp_path_factory):
    """cluster(package): the demo, compiled as a user of this package does."""
    built = {}

    def _cluster(package):
        if package not in built:
            built[package] = build(
                tmp_path_factory.mktemp("cluster") / "xrc-cluster", "c", *CLUSTER, "-D_GNU_SOURCE",
                "-pthread", *packages.pkg_config("--cflags", "--libs", package))
        return built[package]

    return _cluster


def references_to_libibverbs(path):
    return {symbol for symbol in elf.dynamic_symbols(path)[1] if "@IBVERBS" in symbol}


def test_recompiled_is_an_old_binary(cluster, build_root):
    """The program asks for the same symbols as the demo of the build tree. "abi stub" tests that the
    demo is like an old binary."""
    recompiled, old = cluster("xrc-compat"), build_root / "demo" / "xrc-cluster"
    assert references_to_libibverbs(recompiled) == references_to_libibverbs(old)
    assert {name for name in elf.needed(recompiled)
            if "ibverbs" in name or "xrc" in name} == {"libibverbs.so.1"}
    assert elf.run_paths(recompiled) == []


def test_recompiled_runs_by_the_command_alone(cluster, packages, run):
    program = [cluster("xrc-compat"), "-n", "2"]
    done = run([packages.xrc_compat, "run", "--softhca=2", "--", *program])
    assert done.returncode == 0, done.stdout + done.stderr
    done = run([packages.softhca, "run", "--devices=2", "--", *program])
    assert done.returncode != 0 and "undefined symbol: ibv_" in done.stdout + done.stderr


def test_alone_runs_by_itself(cluster, packages, run):
    alone = cluster("xrc-compat-alone")
    done = run([packages.softhca, "run", "--devices=2", "--", alone, "-n", "2"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert elf.needed(alone).index("libxrc-compat.so.1") < elf.needed(alone).index(
        "libibverbs.so.1")


PLUGIN = """#include <fcntl.h>
#include <stddef.h>
#include <infiniband/verbs.h>
int plugin(void);
int plugin(void)
{
	struct ibv_context *context = ibv_open_device(*ibv_get_device_list(NULL));
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr rc = { .send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 },
				       .qp_type = IBV_QPT_RC };
	return !ibv_create_qp(ibv_alloc_pd(context), &rc) ||
	       !ibv_open_xrc_domain(context, -1, O_CREAT) ? 1 : 42;
}
"""
HOST = """#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *handle = dlopen(argv[argc - 1], RTLD_NOW);
	return handle ? ((int (*)(void))dlsym(handle, "plugin"))() : 1;
}
"""


def test_alone_serves_a_plugin(installed, tmp_path, run):
    """The host is linked with neither libibverbs nor libxrc-compat. So libc precedes the library in
    the loader's list."""
    plugin = build(tmp_path / "plugin.so", "c", "-shared", "-fPIC",
                   *installed.pkg_config("--cflags", "--libs", "xrc-compat-alone"), text=PLUGIN)
    host = build(tmp_path / "host", "c", "-ldl", text=HOST)
    done = run([installed.bin / "softhca", "run", "--devices=1", "--", host, plugin])
    assert done.returncode == 42, done


def test_alone_and_preloaded_is_one_library(cluster, packages, run):
    """The loader recognises the library, so it loads it once. With LD_TRACE_LOADED_OBJECTS it
    prints what it loads, and runs nothing."""
    alone = cluster("xrc-compat-alone")
    done = run([
        packages.xrc_compat, "run", "--softhca=2", "--", "sh", "-c",
        f"{alone} -n 2; echo status $?; LD_TRACE_LOADED_OBJECTS=1 exec {alone}"
    ])
    loaded = done.stdout.partition("status 0\n")[2]
    assert loaded.count("libxrc-compat.so.1 (0x") == 1, done.stdout + done.stderr


def test_alone_links_with_as_needed(installed, tmp_path, run):
    """The program must link with --as-needed, too, which some distributions set."""
    text = """#include <infiniband/verbs.h>
int main(void) { return ibv_close_xrc_domain(0) == 22 ? 0 : 1; }
"""
    probe = build(tmp_path / "probe", "c", "-Wl,--as-needed",
                  *installed.pkg_config("--cflags", "--libs", "xrc-compat-alone"), text=text)
    assert run([probe]).returncode == 0


@pytest.mark.on_model("connectx3", "connectx5")
@pytest.mark.parametrize("language, std", [("c", "gnu11"), ("c++", "gnu++11")])
def test_an_old_half_and_a_ported_half_link_together(model, language, std, packages, tmp_path, run):
    """An old half and a ported half, with xrc_compat.h between them, linked with today's libibverbs
    and libxrc-compat."""
    halves = [
        build(tmp_path / f"{half}.o", language, f"-std={std}", "-pedantic", "-Wshadow", "-c", "-x",
              language, HERE / f"half_{half}.c", *packages.pkg_config("--cflags", package))
        for half, package in (("old", "xrc-compat"), ("new", "xrc-compat-port"))
    ]
    program = build(tmp_path / "halves", language, *halves,
                    *packages.pkg_config("--libs", "xrc-compat-port"))
    assert "ibv_reg_mr_iova2@IBVERBS_1.8" in references_to_libibverbs(
        program), "it must use a function of today's libibverbs, or this test shows nothing"
    for two_way in ("auto", "on"):
        done = run([packages.softhca, "run", "--devices=1", f"--model={model}", "--", program],
                   env={"XRC_COMPAT_TWO_WAY": two_way})
        assert (done.returncode,
                done.stdout) == (0, "halves: they agree\n"), (two_way, done.stderr)


def accepts(language, flags, text):
    ok, errors = compiler(language, *STRICT, "-Wno-missing-declarations", "-fsyntax-only", *flags,
                          text=text)
    assert ok, errors


# Today's <infiniband/verbs.h> does not compile as C++98.
@pytest.mark.parametrize("include", ["", "#include <infiniband/verbs.h>\n"],
                         ids=["first", "after-verbs"])
@pytest.mark.parametrize("package, language, std", [
    ("xrc-compat", "c", "c99"), ("xrc-compat", "c++", "c++98"), ("xrc-compat", "c++", "c++17"),
    ("xrc-compat-port", "c", "c99"), ("xrc-compat-port", "c", "c17"),
    ("xrc-compat-port", "c++", "c++11")
])
def test_xrc_compat_h_compiles_with_either_header(package, language, std, include, installed):
    accepts(language, [*installed.pkg_config("--cflags", package), "-pedantic", f"-std={std}"],
            include + "#include <xrc_compat.h>\nint main(void) { return !!xrc_compat_xrcd(0); }\n")


@pytest.mark.parametrize("language", ["c", "c++"])
def test_arch_h_has_the_byte_order_of_the_c_library(language, installed):
    """OFED's <infiniband/arch.h> included <endian.h> and <byteswap.h>."""
    accepts(language, installed.pkg_config("--cflags", "xrc-compat"),
            "#include <infiniband/arch.h>\n#ifndef __BYTE_ORDER\n#error\n#endif\n"
            "unsigned swapped(unsigned x) { return bswap_32(x); }\n")


def test_the_old_header_compiles_with_todays_librdmacm_as_c_plus_plus(installed):
    """The client portals4 includes both headers in C."""
    text = """#include <rdma/rdma_cma.h>
int main(void) { struct ibv_srq s; return (int)sizeof(s.xrc_srq_num) - 4; }
"""
    if "xrc_srq_num" not in compiler("c", "-fsyntax-only", text=text)[1]:
        pytest.skip("no <rdma/rdma_cma.h> here")
    ok, errors = compiler("c++", "-fsyntax-only", *installed.pkg_config("--cflags", "xrc-compat"),
                          text=text)
    assert ok, errors


def test_ofedhome_has_headers_and_libraries(packages):
    home = pathlib.Path(*packages.pkg_config("--variable=ofedhome", "xrc-compat"))
    assert (home / "include" / "infiniband" / "verbs.h").exists()
    for lib in ("lib", "lib64"):
        assert (home / lib / "libibverbs.so").exists()
        assert not (home / lib / "libibverbs.so.1").exists()
