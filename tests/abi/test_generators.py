# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the generators make from the tables of abi/, and which tables they refuse. test_exports.py
and test_stub.py look at the libraries that are built from the tables."""

import os
import sys

import pytest

ABI = os.path.join(os.environ["XRC_COMPAT_SOURCE_ROOT"], "abi")
sys.path.insert(0, ABI)
import gen_layouts  # noqa: E402
import gen_symbols  # noqa: E402

GOOD = "ibv_a  IBVERBS_1.1  hidden   errno  ENOSYS      ctx,>n,=m  does a\n  port to: a2(x)\n    and more\nibv_b  IBVERBS_1.1  default  null   EOPNOTSUPP  -          does b\n"


@pytest.fixture
def make(tmp_path):
    """make(product, table text): (exit status, the generated text)."""

    def _make(product, text, cpu="x86_64"):
        table, output = tmp_path / "symbols.tab", tmp_path / "output"
        table.write_text("# a comment\n\n" + text)
        status = gen_symbols.main(["gen_symbols.py", product, str(table), str(output), cpu])
        return status, output.read_text() if output.exists() else ""

    return _make


@pytest.mark.parametrize("cpu, node", [("x86_64", "GLIBC_2.2.5"), ("x86", "GLIBC_2.0"),
                                       ("aarch64", None)])
def test_node_by_architecture(make, cpu, node):
    text = make("exports", "f  x86_64:GLIBC_2.2.5,x86:GLIBC_2.0  hidden  loader  -  -  per cpu\n",
                cpu)[1]
    assert text == (f"f@{node}\n" if node else "")


@pytest.mark.parametrize("row, complaint", [
    ("ibv_a IBVERBS_1.1 hidden errno ENOSYS -", "7 columns wanted, 6 found"),
    ("ibv-a IBVERBS_1.1 hidden errno ENOSYS - why", "'ibv-a' is no C identifier"),
    ("ibv_c IBVERBS_1.1 secret errno ENOSYS - why",
     "visibility 'secret' is not one of hidden, default"),
    ("ibv_c IBVERBS_1.1 hidden errno ENOSYS a;b why", "'a;b' are no arguments"),
    ("  ibv_c()", "'port to: ' wanted below ibv_b"),
    ("ibv_a IBVERBS_1.1 default errno ENOSYS - twice",
     "ibv_a is there already, as ibv_a@IBVERBS_1.1"),
])
def test_refused_rows(make, capsys, row, complaint):
    status, made = make("exports", GOOD + row + "\n")
    assert (status, made) == (1, "")
    assert f"symbols.tab:7: {complaint}" in capsys.readouterr().err


def test_a_text_without_a_row_is_refused(make, capsys):
    assert make("exports", "  port to: a2(x)\n") == (1, "")
    assert "symbols.tab:3: a row is wanted above it" in capsys.readouterr().err


def test_the_text_of_a_row_for_another_processor_is_left_out(make):
    text = make("functions", GOOD + "c  x86:N  default  null  -  -  per cpu\n  port to: c2()\n")[1]
    assert 'X(ibv_b, RETURNS_NULL, EOPNOTSUPP, "", "")' in text and "c2()" not in text


def test_quotes_in_a_text_are_escaped(make):
    text = make("functions", GOOD.replace("a2(x)", 'a2("x")'))[1]
    assert r'"ctx,>n,=m", "a2(\"x\") and more")' in text


def test_other_processors_are_asserted_as_far_as_the_first_mutex(tmp_path):
    made = tmp_path / "out.h"
    dump = os.path.join(ABI, "reference", "ofed-1.5.3.json")
    assert gen_layouts.main(["gen_layouts.py", dump, str(made), "ibv_srq", "ibv_wc"]) == 0
    arm = made.read_text().split("#elif defined(__aarch64__) && defined(__LP64__)\n")[1]
    for asserted in ("ibv_srq.xrc_srq_num: 4 bytes at 32", "ibv_srq.xrc_cq: 8 bytes at 48",
                     "struct ibv_wc: 48 bytes"):
        assert f'"{asserted}"' in arm
    for differs in ("mutex", "cond", "struct ibv_srq:"):
        assert differs not in arm
