# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim exports the symbols of abi/symbols.tab and no others, and only look-ups by version find
the legacy ones."""

import shutil
import subprocess
import sys

import pytest

import elf

LEGACY = [
    "ibv_open_xrc_domain", "ibv_close_xrc_domain", "ibv_create_xrc_srq", "ibv_create_xrc_rcv_qp",
    "ibv_modify_xrc_rcv_qp", "ibv_query_xrc_rcv_qp", "ibv_reg_xrc_rcv_qp", "ibv_unreg_xrc_rcv_qp"
]


@pytest.fixture(scope="session")
def expected(build_root):
    return set((build_root / "abi" / "expected-exports.txt").read_text().split())


def test_exports_are_those_of_the_table(shim, expected):
    exported, _ = elf.dynamic_symbols(shim)
    assert exported - expected == set(), "exported, but no row of abi/symbols.tab says so"
    assert expected - exported == set(), "a row of abi/symbols.tab that nothing in shim/ defines"


def test_the_older_node_has_what_libibverbs_has_there(expected, real_library):
    """The eight legacy functions are in IBVERBS_1.0, too. A reference without a version binds to
    the first node, as in libibverbs."""
    verbs = {symbol.split("@")[0] for symbol in expected if symbol.startswith("ibv_")}
    older = {
        symbol for symbol in elf.dynamic_symbols(real_library)[0] if symbol.endswith("@IBVERBS_1.0")
    }
    assert {symbol for symbol in expected if symbol.endswith("@IBVERBS_1.0")
            } == {symbol for symbol in older if symbol.split("@")[0] in verbs
                  } | {f"{symbol}@IBVERBS_1.0" for symbol in LEGACY}


def test_the_older_node_is_the_first(shim, real_library):
    for library in (shim, real_library):
        assert elf.first_node(library) == "IBVERBS_1.0"


def test_verbs_of_today_are_in_the_node_of_the_real_library(expected, real_library):
    exported, _ = elf.dynamic_symbols(real_library)
    for symbol in expected:
        name = symbol.split("@")[0]
        if name.startswith("ibv_") and name not in LEGACY:
            assert symbol in exported, f"libibverbs.so.1 has no {symbol}: no program asks for this version"


@pytest.fixture(scope="session")
def look_up(shim, run):
    """look_up("dlsym NAME" or "dlvsym NAME NODE", ...): [found in the shim], looked up in another
    process."""
    program = (
        "import ctypes, sys\n"
        "lib = ctypes.CDLL(sys.argv[1])\n"
        "libc = ctypes.CDLL(None)\n"
        "for f in (libc.dlsym, libc.dlvsym): f.restype = ctypes.c_void_p\n"
        "handle = ctypes.c_void_p(lib._handle)\n"
        "for query in sys.argv[2:]:\n"
        "    how, *words = query.split()\n"
        "    print(bool(getattr(libc, how)(handle, *(w.encode() for w in words))))\n")

    def _look_up(*queries):
        done = run([sys.executable, "-c", program, shim, *queries], env=preload_of_sanitizer(shim))
        assert done.returncode == 0, done.stderr
        return [line == "True" for line in done.stdout.split()]

    return _look_up


def preload_of_sanitizer(shim):
    """The environment in which a program without sanitizer can load a library that has one."""
    for library in elf.needed(shim):
        if library.startswith(("libasan", "libtsan")):
            name = library.split(".so")[0] + ".so"
            path = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True,
                                  text=True).stdout.strip()
            return {"LD_PRELOAD": path}
    return {}


@pytest.mark.parametrize("symbol", LEGACY)
def test_legacy_symbol_by_version_only(look_up, symbol):
    by_node, by_another, plain = look_up(f"dlvsym {symbol} IBVERBS_1.1",
                                         f"dlvsym {symbol} IBVERBS_1.2", f"dlsym {symbol}")
    assert by_node, "an old binary asks for this node"
    assert not by_another, "there never was one in this node"
    assert not plain, "programs that probe with plain dlsym which API exists would take the old one"


def test_default_symbol_binds_with_and_without_version(look_up):
    assert look_up("dlsym ibv_create_qp", "dlvsym ibv_create_qp IBVERBS_1.1",
                   "dlvsym ibv_create_qp IBVERBS_1.0",
                   "dlvsym ibv_create_qp IBVERBS_1.2") == [True, True, True, False]


SAMPLE = """
#include <abi/export.h>
#include <abi/shim_names.h>
int ibv_open_xrc_domain(void);
int ibv_open_xrc_domain(void) { return 1; }
SHIM_EXPORT(ibv_open_xrc_domain);
int ibv_create_qp(void);
int ibv_create_qp(void) { return 2; }
SHIM_EXPORT(ibv_create_qp);
int dlsym(void);
int dlsym(void) { return 3; }
SHIM_EXPORT(dlsym);
int not_exported(void);
int not_exported(void) { return 4; }
"""
WANTED = {"ibv_open_xrc_domain@IBVERBS_1.1", "ibv_create_qp@@IBVERBS_1.1", "dlsym@@GLIBC_2.34"}


@pytest.fixture
def sample_exports(build_root, source_root, tmp_path, run):
    """sample_exports(text, word of the command...): what a library made of this text exports."""

    def _sample_exports(text, *command):
        (tmp_path / "sample.c").write_text(text)
        done = run([
            *command, "-fPIC", "-shared", "-I", source_root, "-I", build_root,
            f"-Wl,--version-script={build_root / 'abi' / 'xrc-compat.map'}", tmp_path / "sample.c",
            "-o", tmp_path / "sample.so"
        ])
        assert done.returncode == 0, done.stderr
        return elf.dynamic_symbols(tmp_path / "sample.so")[0]

    return _sample_exports


@pytest.mark.parametrize("linker", ["bfd", "lld"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_toolchain_exports_alike(compiler, linker, sample_exports):
    command = shutil.which(compiler) or shutil.which(compiler + "-14")
    if not command:
        pytest.skip(f"no {compiler}")
    if not shutil.which(f"ld.{linker}"):
        pytest.skip(f"no ld.{linker}")
    exported = sample_exports(SAMPLE, command, "-Wall", "-Wextra", "-Werror",
                              f"-fuse-ld={linker}")
    assert WANTED <= exported
    assert {symbol.split("@")[0]
            for symbol in exported} == {"ibv_open_xrc_domain", "ibv_create_qp", "dlsym"}


def test_compilers_without_the_symver_attribute_export_alike(sample_exports):
    assert WANTED <= sample_exports("#define __has_attribute(x) 0\n" + SAMPLE, "gcc")
