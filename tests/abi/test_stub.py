# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The stub has the symbols of the old library, and a program that is linked with it is like a
binary of that time."""

import re

import pytest

import elf

XRC_PROGRAMS = ["xrc-cluster", "xrc-cluster-now"]


@pytest.fixture(scope="session")
def table(source_root):
    """{symbol: [node, ...]} of abi/ofed-symbols.tab, the default node last."""
    lines = (source_root / "abi" / "ofed-symbols.tab").read_text().splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {symbol: nodes.split(",") for symbol, nodes in rows}


@pytest.fixture(scope="session")
def program(build_root):
    return lambda name: build_root / "demo" / name


def versions(table):
    for symbol, nodes in table.items():
        yield f"{symbol}@@{nodes[-1]}"
        yield from (f"{symbol}@{node}" for node in nodes[:-1])


def test_stub_has_the_old_table(table, build_root):
    exported, _ = elf.dynamic_symbols(build_root / "abi" / "link" / "libibverbs.so")
    assert exported == set(versions(table))


def test_the_stub_of_librdmacm_has_only_what_todays_has(source_root, build_root, real_library):
    lines = (source_root / "abi" / "rdmacm-symbols.tab").read_text().splitlines()
    table = {"@@".join(line.split()) for line in lines if line and not line.startswith("#")}
    exported, _ = elf.dynamic_symbols(build_root / "abi" / "link" / "librdmacm.so")
    assert exported == table and "rdma_create_id@@RDMACM_1.0" in table
    todays, _ = elf.dynamic_symbols(real_library.replace("libibverbs", "librdmacm"))
    assert table <= todays


def test_todays_library_lacks_exactly_the_eight(table, real_library):
    exported, _ = elf.dynamic_symbols(real_library)
    missing = {symbol.split("@")[0] for symbol in versions(table) if symbol not in exported}
    assert missing == {symbol for symbol in table if "xrc" in symbol}
    assert len(missing) == 8


def test_frozen_header_declares_the_old_table(table, source_root):
    """All functions but those that only drivers and connection managers used, and no others."""
    text = "".join((source_root / "include" / "ofed" / "infiniband" / name).read_text()
                   for name in ("verbs.h", "driver.h"))
    declared = set(re.findall(r"^(?!static)\w[\w *]*?\b((?:ibv_|mult_to_ibv_)\w+)\(", text, re.M))
    internal = {symbol for symbol in table if symbol.startswith("ibv_copy_")}
    assert declared == set(table) - internal


@pytest.mark.parametrize("name", XRC_PROGRAMS)
def test_program_asks_as_an_old_binary(program, name):
    _, undefined = elf.dynamic_symbols(program(name))
    assert "ibv_open_xrc_domain@IBVERBS_1.1" in undefined
    assert elf.version_needs(program(name))["libibverbs.so.1"] == {"IBVERBS_1.0", "IBVERBS_1.1"}


@pytest.mark.parametrize("name", XRC_PROGRAMS)
def test_program_has_none_of_our_libraries(program, name):
    """It needs libibverbs and libc, and maybe a sanitizer's libraries."""
    libraries = [library for library in elf.needed(program(name)) if "san" not in library]
    assert set(libraries) <= {"libibverbs.so.1", "libc.so.6", "libpthread.so.0"}
    assert elf.run_paths(program(name)) == [], "it would load the stub"


@pytest.mark.parametrize("name", XRC_PROGRAMS)
def test_with_the_shim_it_starts(program, shim, run, name):
    """It prints its usage before it calls any verb, so it needs no device; but the loader binds its
    symbols before that."""
    done = run([program(name), "-h"], env={"LD_PRELOAD": str(shim)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: xrc-cluster")


def test_lazy_program_starts_without_the_shim(program, run):
    assert run([program("xrc-cluster"), "-h"]).returncode == 0


@pytest.mark.parametrize("arguments", ["-n 0", "-n 33", "-n x", "-i 0", "-t 0", "-x", "more"])
def test_bad_usage(program, run, arguments):
    done = run([program("xrc-cluster"), *arguments.split()])
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: xrc-cluster" in done.stderr
