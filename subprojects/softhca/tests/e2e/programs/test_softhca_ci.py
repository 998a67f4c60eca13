# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The test that ci.md shows, as unit tests use softhca: under sanitizers and valgrind, and with
faults on purpose."""

import re
import subprocess

import pytest

import models
from installed import need, need_sanitizers

VALGRIND = ["valgrind", "--leak-check=full", "--errors-for-leak-kinds=definite",
            "--error-exitcode=9"]


@pytest.fixture
def build(softhca_source, tmp_path):
    def compile_it(sanitizers):
        need_sanitizers(sanitizers)
        options = [f"-fsanitize={sanitizers}"] if sanitizers else []
        program = tmp_path / "own-test"
        subprocess.run(["gcc", "-g", *options, "-o", program,
                        softhca_source / "tests" / "ci" / "own_test.c", "-libverbs"], check=True)
        return program
    return compile_it


FAULT = '"$0" ctl fault all command CREATE_QP ENOMEM && exec "$@"'


@pytest.mark.parametrize("sanitizers, words", [("", []), ("address,undefined", []), ("thread", []),
                                               ("", VALGRIND)],
                         ids=["plain", "address", "thread", "valgrind"])
def test_own_test(run, softhca, below, build, sanitizers, words):
    """Its function succeeds, fails by a fault, and is told from one that does not fail."""
    need(*words[:1])
    program = build(sanitizers)
    adapter = models.device(0)
    done = below([], *words, program)
    assert done.stdout == f"{adapter}: made a queue pair\n", done
    assert "ERROR SUMMARY: 0 errors" in done.stderr if words else not done.stderr
    done = below([], "sh", "-c", FAULT, softhca, *words, program, "ENOMEM")
    assert done.stdout == f"{adapter}: Cannot allocate memory\n", done
    assert run([softhca, "run", "--", program, "ENOMEM"]).returncode == 1


def test_valgrind_reports_nothing_of_a_ping_pong(pair):
    """Also while doorbells ring and the daemon copies."""
    need("valgrind", "ibv_rc_pingpong")
    out = pair([*VALGRIND, "--log-fd=1", "ibv_rc_pingpong", "-n", "100"])
    assert re.findall(r"ERROR SUMMARY: (\d+) errors", out) == ["0", "0"], out
