# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the programs of this directory on emulated devices, and reads their rows."""

import collections
import pathlib
import re

import pytest

import installed
import models
from facts import FILLED_HEAP

DIRECTORY = pathlib.Path("tests") / "e2e" / "xrc_qps"

# libmlx5 before rdma-core 33 prints each completion with an error. A thread may be cancelled there
# (xrc-compat(7), LIMITS).
DUMP_OF_LIBMLX5 = re.compile(
    r"mlx5: .*: got completion with error:\n(?:[0-9a-f]{8}(?: [0-9a-f]{8}){3}\n)*")
CANCELLED_WHILE_PRINTING = "FAIL ibv_poll_cq returns a failed completion to a thread with a pending cancel"


def without_old_libmlx5(lines, complaints):
    """(the rows, stderr) without what an old libmlx5 prints, and the row that then may fail."""
    if models.driver() != "mlx5" or installed.rdma_core_release() >= 33:
        return lines, complaints
    rest = DUMP_OF_LIBMLX5.sub("", complaints)
    if rest != complaints:
        lines = [line for line in lines if not line.startswith(CANCELLED_WHILE_PRINTING)]
    return lines, rest


@pytest.fixture(scope="session")
def program(build_root):
    return lambda name: build_root / DIRECTORY / name


@pytest.fixture
def on_wire(below_shim, softhca, program):
    """on_wire(program, words..., devices=1, env={}, **options of below_shim): runs the program
    under xrc-compat on so many new devices. The heap makes an access to a freed QP noticed."""

    def _on_wire(name, *words, devices=1, env=None, timeout=100, **options):
        return below_shim(program(name), *words, devices=devices, timeout=timeout, **options,
                          SOFTHCA_TEST_COMMAND=str(softhca), **FILLED_HEAP, **(env or {}))

    return _on_wire


@pytest.fixture
def rows(on_wire):
    """rows(count, program, words...): runs it and checks that it printed so many rows, all ok and
    different, and nothing else but rows that it skipped."""

    def _rows(count, name, *words, **options):
        done = on_wire(name, *words, **options)
        lines = [line for line in done.stdout.splitlines() if not line.startswith("skip ")]
        judged, complaints = without_old_libmlx5(lines, done.stderr)
        bad = [line for line in judged if not line.startswith("ok ")]
        assert not bad and not complaints, "\n" + "\n".join(bad) + "\n" + complaints
        assert len(set(lines)) == len(lines) == count
        assert done.returncode == 0 or judged != lines

    return _rows


@pytest.fixture
def trace(tmp_path):
    """A file for softhca's trace of commands; commands() is {command: how often it succeeded}."""

    class Trace:
        path = tmp_path / "trace"
        setting = f"--trace={path}"

        def commands(self):
            return collections.Counter(
                re.findall(r" pid \S+ (\S+): ok", self.path.read_text()))

    return Trace()
