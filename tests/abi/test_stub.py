# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The stubs have the symbols of the old libraries."""

import re

import pytest

import elf


@pytest.fixture(scope="session")
def table(source_root):
    """{symbol: [node, ...]} of abi/ofed-symbols.tab, the default node last."""
    lines = (source_root / "abi" / "ofed-symbols.tab").read_text().splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {symbol: nodes.split(",") for symbol, nodes in rows}


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
