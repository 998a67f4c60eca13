# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of docs/porting.md, before and after, compile, run and print the same, and the page
quotes them correctly."""

import re

import pytest

import elf
from toolchain import build

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wshadow", "-Wconversion", "-pthread"]
LEGACY = re.compile(
    r"ibv_\w*_?xrc_(?:domain|srq|rcv_qp)\b|\bIBV_QPT_XRC\b|xrc_remote_srq_num|xrc_srq_num")


@pytest.fixture(scope="session")
def porting(source_root):
    return source_root / "docs" / "porting"


@pytest.fixture(scope="session")
def page(source_root):
    return (source_root / "docs" / "porting.md").read_text()


@pytest.mark.parametrize("flags, received", [
    ([], ["process 0 received: ", "process 1 received: from 0 to 1",
          "process 2 received: from 0 to 2"]),
    (["-DTWO_WAY"], ["process 0 received: from 1 to 0", "process 1 received: from 0 to 1"]),
], ids=["one-way", "two-way"])
def test_before_and_after_do_the_same(flags, received, model, porting, installed, tmp_path, run):
    old = build(tmp_path / "before", "c", porting / "before.c", *FLAGS, *flags,
                *installed.pkg_config("--cflags", "--libs", "xrc-compat"))
    new = build(tmp_path / "after", "c", porting / "after.c", *FLAGS, *flags, "-libverbs")
    for start in ([installed.bin / "xrc-compat", "run", "--softhca=1", "--", old],
                  [installed.bin / "softhca", "run", "--devices=1", "--", new]):
        done = run(start, timeout=90)
        assert (done.returncode, done.stderr) == (0, ""), done
        assert sorted(done.stdout.splitlines()) == ["all right", *received]
    assert not [name for name in elf.dynamic_symbols(new)[1] if "xrc_" in name]


def code_of(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r'"[^"\n]*"', '""', text)


def test_nothing_old_is_left_in_the_ported_program(porting):
    assert LEGACY.findall(code_of(porting / "after.c")) == []
    assert LEGACY.findall(code_of(porting / "example.h")) == []
    assert LEGACY.findall(code_of(porting / "before.c"))


def test_the_page_names_the_functions_that_create_an_object(page, porting):
    creators = re.findall(r"^static struct .*\*(\w+)\(", (porting / "after.c").read_text(), re.M)
    assert len(creators) == 5
    assert [name for name in creators if f"`{name}`" not in page] == []


def test_the_page_names_every_old_function(page, source_root):
    table = (source_root / "abi" / "ofed-symbols.tab").read_text()
    functions = re.findall(r"^(ibv_\w*_xrc_\w+)", table, re.M)
    assert len(functions) == 8
    assert [name for name in functions if f"| `{name}` |" not in page] == []


def test_the_masks_of_the_page_are_those_of_the_programs(page, porting):
    text = (porting / "example.h").read_text()
    used = [set(re.findall(r"IBV_QP_(\w+)", mask))
            for mask in re.findall(r"^#define TO_\w+ \((.*?)\)$", text, re.M | re.S)]
    shown = re.findall(r"^\| to \w+ \| `([^`]+)`", page, re.M)
    assert len(used) == 3 and used == [set(re.findall(r"[A-Z_]+", row)) for row in shown]
    body = (porting / "after.c").read_text().split("static void connect_send_qp")[1]
    masks = re.findall(r"ibv_modify_qp\(qp, &attr,\s+(.*)\)\)", body.split("\n}\n")[0])
    assert masks == ["TO_INIT", "TO_RTR", "TO_RTS"]
