# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that are recompiled with the installed headers and libraries are like old binaries, or
run by themselves (the -alone package); and programs that are half ported work."""

import itertools
import pathlib

import pytest

import elf
from toolchain import STRICT, build, compiler

pytestmark = pytest.mark.any_model

HERE = pathlib.Path(__file__).parent
CLUSTER = sorted((HERE.parents[1] / "demo").glob("*.c"))


def flags(installed, package):
    return installed.pkg_config("--cflags", "--libs", package)


def build_cluster(folder, flags):
    """The demo, compiled as a user of xrc-compat does."""
    return build(folder / "xrc-cluster", "c", *CLUSTER, "-D_GNU_SOURCE", "-pthread", *flags)


@pytest.fixture(scope="module")
def recompiled(installed, tmp_path_factory):
    return build_cluster(tmp_path_factory.mktemp("recompiled"), flags(installed, "xrc-compat"))


@pytest.fixture(scope="module")
def alone(installed, tmp_path_factory):
    return build_cluster(tmp_path_factory.mktemp("alone"), flags(installed, "xrc-compat-alone"))


def references_to_libibverbs(path):
    return {symbol for symbol in elf.dynamic_symbols(path)[1] if "@IBVERBS" in symbol}


def test_recompiled_is_an_old_binary(recompiled, build_root):
    """It asks for the same symbols as the demo of the build tree, of which "abi stub" tests that it
    is like an old binary."""
    old = build_root / "demo" / "xrc-cluster"
    assert references_to_libibverbs(recompiled) == references_to_libibverbs(old)
    assert {name for name in elf.needed(recompiled)
            if "ibverbs" in name or "xrc" in name} == {"libibverbs.so.1"}
    assert elf.run_paths(recompiled) == []


def test_recompiled_runs_by_the_command(recompiled, installed, run):
    done = run([installed.bin / "xrc-compat", "run", "--softhca=2", "--", recompiled, "-n", "2"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_recompiled_needs_xrc_compat(recompiled, installed, run):
    done = run([installed.bin / "softhca", "run", "--devices=2", "--", recompiled, "-n", "2"])
    assert done.returncode != 0 and "undefined symbol: ibv_" in done.stdout + done.stderr


def test_alone_runs_by_itself(alone, installed, run):
    done = run([installed.bin / "softhca", "run", "--devices=2", "--", alone, "-n", "2"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert elf.needed(alone).index("libxrc-compat.so.1") < elf.needed(alone).index(
        "libibverbs.so.1")


def test_alone_serves_a_plugin(installed, tmp_path, run):
    """The host is linked with neither libibverbs nor libxrc-compat. So libc precedes the library in
    the loader's list."""
    source = tmp_path / "plugin.c"
    source.write_text("""#include <fcntl.h>
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
""")
    plugin = build(tmp_path / "plugin.so", "c", "-shared", "-fPIC", source,
                   *flags(installed, "xrc-compat-alone"))
    source = tmp_path / "host.c"
    source.write_text("""#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *handle = dlopen(argv[argc - 1], RTLD_NOW);
	return handle ? ((int (*)(void))dlsym(handle, "plugin"))() : 1;
}
""")
    host = build(tmp_path / "host", "c", source, "-ldl")
    done = run([installed.bin / "softhca", "run", "--devices=1", "--", host, plugin])
    assert done.returncode == 42, done


def test_alone_and_preloaded_is_one_library(alone, installed, run):
    """The loader recognises the library, so it loads it once. With LD_TRACE_LOADED_OBJECTS it
    prints what it loads, and runs nothing."""
    done = run([
        installed.bin / "xrc-compat", "run", "--softhca=2", "--", "sh", "-c",
        f"{alone} -n 2; echo status $?; LD_TRACE_LOADED_OBJECTS=1 exec {alone}"
    ])
    loaded = done.stdout.partition("status 0\n")[2]
    assert loaded.count("libxrc-compat.so.1 (0x") == 1, done.stdout + done.stderr


def test_alone_links_with_as_needed(installed, tmp_path, run):
    """The program must link with --as-needed, too, which some distributions set."""
    source = tmp_path / "probe.c"
    source.write_text("#include <infiniband/verbs.h>\n#include <stddef.h>\n"
                      "int main(void)\n{\n\treturn ibv_close_xrc_domain(NULL) == 22 ? 0 : 1;\n}\n")
    probe = build(tmp_path / "probe", "c", source, "-Wl,--as-needed",
                  *flags(installed, "xrc-compat-alone"))
    assert run([probe]).returncode == 0
    ordinary = build(tmp_path / "ordinary", "c", source, *flags(installed, "xrc-compat"))
    assert run([ordinary]).returncode == 127
    assert run([installed.bin / "xrc-compat", "run", ordinary]).returncode == 0


@pytest.mark.parametrize("language", ["c", "c++"])
def test_an_old_half_and_a_ported_half_link_together(language, installed, tmp_path, run):
    """An old half and a ported half, with xrc_compat.h between them, linked with today's libibverbs
    and libxrc-compat."""
    std = {"c": "gnu11", "c++": "gnu++11"}[language]
    options = [f"-std={std}", "-pedantic", "-Wshadow", "-c", "-x", language]
    old, new = tmp_path / "old.o", tmp_path / "new.o"
    build(old, language, *options, HERE / "porting_old.c",
          *installed.pkg_config("--cflags", "xrc-compat"))
    build(new, language, *options, HERE / "porting_new.c",
          *installed.pkg_config("--cflags", "xrc-compat-port"))
    program = build(tmp_path / "porting", language, old, new,
                    *installed.pkg_config("--libs", "xrc-compat-port"))
    assert "ibv_reg_mr_iova2@IBVERBS_1.8" in references_to_libibverbs(
        program), "it must use a function of today's libibverbs, or this test shows nothing"
    for model, two_way in itertools.product(("connectx3", "connectx5"), ("auto", "on")):
        done = run(
            [installed.bin / "softhca", "run", "--devices=1", f"--model={model}", "--", program],
            env={"XRC_COMPAT_TWO_WAY": two_way})
        assert (done.returncode,
                done.stdout) == (0, "porting: both halves agree\n"), (model, two_way, done.stderr)


# Today's <infiniband/verbs.h> does not compile as C++98.
HEADERS = [("ofed", "c", "c99"), ("ofed", "c", "c17"), ("ofed", "c++", "c++98"),
           ("ofed", "c++", "c++17"), ("system", "c", "c99"), ("system", "c", "c17"),
           ("system", "c++", "c++11"), ("system", "c++", "c++17")]


@pytest.mark.parametrize("before", ["", "#include <infiniband/verbs.h>\n"],
                         ids=["first", "after-verbs"])
@pytest.mark.parametrize("header, language, std", HEADERS)
def test_xrc_compat_h_compiles_with_either_header(header, language, std, before, installed,
                                                  tmp_path):
    source = tmp_path / "source"
    source.write_text(
        before + "#include <xrc_compat.h>\nint main(void) { return xrc_compat_xrcd(0) ? 1 : 0; }\n")
    include = installed.pkg_config("--cflags", {"ofed": "xrc-compat",
                                                "system": "xrc-compat-port"}[header])
    ok, errors = compiler(language, *STRICT, "-pedantic", f"-std={std}", "-fsyntax-only", "-x",
                              language, *include, source)
    assert ok, errors


@pytest.mark.parametrize("language", ["c", "c++"])
def test_arch_h_has_the_byte_order_of_the_c_library(language, installed, tmp_path):
    """OFED's <infiniband/arch.h> included <endian.h> and <byteswap.h>."""
    source = tmp_path / "source"
    source.write_text("#include <infiniband/arch.h>\n#ifndef __BYTE_ORDER\n#error\n#endif\n"
                      "unsigned swapped(unsigned x) { return bswap_32(x); }\n")
    ok, errors = compiler(language, *STRICT, "-Wno-missing-declarations", "-fsyntax-only", "-x",
                          language, *installed.pkg_config("--cflags", "xrc-compat"), source)
    assert ok, errors


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_old_header_compiles_with_todays_librdmacm(language, installed, tmp_path):
    """The system's <rdma/rdma_cma.h> compiles with the old <infiniband/verbs.h>."""
    source = tmp_path / "source"
    source.write_text(
        "#include <rdma/rdma_cma.h>\n#include <infiniband/verbs.h>\n"
        "int main(void) { struct ibv_srq s; return (int)sizeof(s.xrc_srq_num) - 4; }\n")
    if "xrc_srq_num" not in compiler("c", "-fsyntax-only", "-x", "c", source)[1]:
        pytest.skip("no <rdma/rdma_cma.h> here")
    ok, errors = compiler(language, "-fsyntax-only", "-x", language,
                              *installed.pkg_config("--cflags", "xrc-compat"), source)
    assert ok, errors
