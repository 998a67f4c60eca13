# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of docs/porting.md, before and after, compile, run and print the same, and the page
quotes them correctly."""

import re

import pytest

import elf
from toolchain import build

PAIRS = [("before", "after"), ("two_way_before", "two_way_after")]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wshadow", "-Wconversion", "-pthread"]
LEGACY = re.compile(
    r"ibv_\w*_?xrc_(?:domain|srq|rcv_qp)\b|\bIBV_QPT_XRC\b|xrc_remote_srq_num|xrc_srq_num")


@pytest.fixture(scope="session")
def porting(source_root):
    return source_root / "docs" / "porting"


@pytest.fixture(scope="session")
def page(source_root):
    return (source_root / "docs" / "porting.md").read_text()


@pytest.mark.parametrize("before, after", PAIRS, ids=lambda name: name)
def test_before_and_after_do_the_same(before, after, model, porting, installed, tmp_path, run):
    old = build(tmp_path / before, "c", porting / f"{before}.c", *FLAGS,
                *installed.pkg_config("--cflags", "--libs", "xrc-compat"))
    new = build(tmp_path / after, "c", porting / f"{after}.c", *FLAGS, "-libverbs")
    old_done = run([installed.bin / "xrc-compat", "run", "--softhca=1", "--", old], timeout=90)
    new_done = run([installed.bin / "softhca", "run", "--devices=1", "--", new], timeout=90)
    assert (old_done.returncode, old_done.stderr) == (0, "")
    assert (new_done.returncode, new_done.stderr) == (0, "")
    assert sorted(old_done.stdout.splitlines()) == sorted(new_done.stdout.splitlines())
    assert old_done.stdout.endswith("\nall right\n"), model
    assert not [name for name in elf.dynamic_symbols(new)[1] if "xrc_" in name]


def code_of(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r'"[^"\n]*"', '""', text)


def test_nothing_old_is_left_in_the_ported_programs(porting):
    for _, after in PAIRS:
        assert LEGACY.findall(code_of(porting / f"{after}.c")) == []
    assert LEGACY.findall(code_of(porting / "before.c"))


def test_code_of_the_page_stands_in_the_program(page, porting):
    blocks = re.findall(r"^```c\n(.*?)^```", page, re.M | re.S)
    program = (porting / "after.c").read_text()
    assert len(blocks) >= 5
    assert [block for block in blocks if block not in program] == []


def test_the_page_names_every_old_function(page, source_root):
    table = (source_root / "abi" / "ofed-symbols.tab").read_text()
    functions = re.findall(r"^(ibv_\w*_xrc_\w+)", table, re.M)
    assert len(functions) == 8
    assert [name for name in functions if f"| `{name}` |" not in page] == []


def test_the_masks_of_the_page_are_those_of_the_sending_qp(page, porting):
    body = (porting / "after.c").read_text().split("static void connect_send_qp")[1]
    calls = re.findall(r"ibv_modify_qp\(qp, &attr,(.*?)\);", body.split("\n}\n")[0], re.S)
    used = [set(re.findall(r"IBV_QP_(\w+)", call)) for call in calls]
    shown = re.findall(r"^\| to \w+ \| `([^`]+)`", page, re.M)
    assert len(used) == 3 and used == [set(re.findall(r"[A-Z_]+", row)) for row in shown]
