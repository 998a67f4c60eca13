# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim exports the symbols of abi/symbols.tab and no others, in the nodes of libibverbs, with
each compiler and linker."""

import shutil

import pytest

import elf
from facts import XRC_VERBS

LEGACY = [f"ibv_{verb}" for verb in XRC_VERBS]


@pytest.fixture(scope="session")
def expected(build_root):
    return set((build_root / "abi" / "expected-exports.txt").read_text().split())


def test_exports_are_those_of_the_table(shim, expected):
    exported, _ = elf.dynamic_symbols(shim)
    assert exported - expected == set(), "exported, but no row of abi/symbols.tab says so"
    assert expected - exported == set(), "a row of abi/symbols.tab that nothing in shim/ defines"
    # One @: hidden from a program that looks up without a version.
    assert {f"{symbol}@IBVERBS_1.1" for symbol in LEGACY} <= expected


def test_the_first_node_has_no_verb(shim, expected):
    """References without a version bind to the first node. They must go on to libibverbs."""
    node = elf.first_node(shim)
    assert not [symbol for symbol in expected if symbol.startswith("ibv_") and node in symbol]


def test_verbs_of_today_are_in_the_node_of_the_real_library(expected, real_library):
    exported, _ = elf.dynamic_symbols(real_library)
    for symbol in expected:
        name = symbol.split("@")[0]
        if name.startswith("ibv_") and name not in LEGACY:
            assert symbol.replace("@", "@@") in exported, f"libibverbs.so.1 has no {symbol}: no program asks for this version"


SAMPLE = """
#include <abi/export.h>
#include <abi/shim_names.h>
int ibv_open_xrc_domain(void) { return 1; }
SHIM_EXPORT(ibv_open_xrc_domain);
int ibv_create_qp(void) { return 2; }
SHIM_EXPORT(ibv_create_qp);
int dlsym(void) { return 3; }
SHIM_EXPORT(dlsym);
int not_exported(void) { return 4; }
"""
WANTED = {"ibv_open_xrc_domain@IBVERBS_1.1", "ibv_create_qp@IBVERBS_1.1", "dlsym@@GLIBC_2.34"}
WITHOUT_SYMVER_ATTRIBUTE = "#define __has_attribute(x) 0\n" # the compiler warns of it


@pytest.mark.parametrize("compiler, linker, before", [
    ("gcc", "bfd", ""), ("gcc", "lld", ""), ("clang", "bfd", ""), ("clang", "lld", ""),
    ("gcc", "bfd", WITHOUT_SYMVER_ATTRIBUTE),
])
def test_every_toolchain_exports_alike(build_root, source_root, tmp_path, run, compiler, linker,
                                       before):
    command = shutil.which(compiler) or shutil.which(compiler + "-14")
    if not command or not shutil.which(f"ld.{linker}"):
        pytest.skip(f"no {compiler}, or no ld.{linker}")
    source, library = tmp_path / "sample.c", tmp_path / "sample.so"
    source.write_text(before + SAMPLE)
    # The sample defines a part of the symbols, which lld 16 and later refuse by default.
    allowed = ["-Wl,--undefined-version"] if linker == "lld" else []
    done = run([
        command, *([] if before else ["-Wall", "-Wextra", "-Werror"]), f"-fuse-ld={linker}", *allowed,
        "-fPIC", "-shared", "-I", source_root, "-I", build_root,
        f"-Wl,--version-script={build_root / 'abi' / 'xrc-compat.map'}", source, "-o", library
    ])
    assert done.returncode == 0, done.stderr
    exported = elf.dynamic_symbols(library)[0]
    assert WANTED <= exported
    assert {symbol.split("@")[0]
            for symbol in exported} == {"ibv_open_xrc_domain", "ibv_create_qp", "dlsym"}
