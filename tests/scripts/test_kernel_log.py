# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""./run-tests --kernel: which lines of a kernel's log are faults, and how the guest's results are
counted."""

import importlib.util
import sys
import types

import pytest

FAULTS = [
    "[   12.301122] WARNING: CPU: 1 PID: 77 at drivers/infiniband/core/verbs.c:340 ib_dealloc_pd_user+0x9/0x80 [ib_core]",
    "[    1.000001] BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "[    5.123456] general protection fault, probably for non-canonical address 0xdead: 0000 [#1] PREEMPT SMP",
    "[    2.000000] kernel BUG at verbs.c:340!",
    "[    2.000001] invalid opcode: 0000 [#1] PREEMPT SMP NOPTI",
    "[    6.000000] UBSAN: array-index-out-of-bounds in drivers/infiniband/hw/mlx4/qp.c:340:12",
    "[    4.222222] refcount_t: underflow; use-after-free.",
    "[  242.000000] INFO: task member:311 blocked for more than 120 seconds.",
    "[   99.000000] restrack: ------------[ detected leak of resources on mlx4_0 ]------------",
]
HARMLESS = [
    "[   33.690981] ib_uverbs: loading out-of-tree module taints kernel.",
    "[    3.000000] traps: hold[12] general protection fault ip:7f00 sp:7ffc error:0 in libmlx5.so[7f00+1000]",
]


@pytest.fixture
def runner(source_root, monkeypatch):
    monkeypatch.syspath_prepend(str(source_root / "tests" / "kernel"))
    spec = importlib.util.spec_from_file_location("kernel_run",
                                                  source_root / "tests" / "kernel" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in ("distribution", "guest", "adapters"):
        sys.modules.pop(name, None)


@pytest.fixture
def ended(tmp_path):
    """ended(tests, log, status): a guest that has ended with these results."""
    def _ended(tests, log="", status=0):
        (tmp_path / "tests").write_text(tests, encoding="utf-8")
        (tmp_path / "dmesg").write_text(log, encoding="utf-8")
        return types.SimpleNamespace(out=tmp_path, console=tmp_path / "console",
                                     status=lambda: status)

    return _ended


@pytest.mark.parametrize("line", FAULTS)
def test_a_fault_in_the_log_is_a_failure(runner, ended, capsys, line):
    assert runner.judge(ended("5 passed in 1.0s\n", line)) == 1
    assert capsys.readouterr().out.endswith("5 passed, 1 failed, 0 skipped\n")


def test_harmless_lines_are_no_failure(runner, ended, capsys):
    assert runner.judge(ended("5 passed, 1 skipped in 1.0s\n", "\n".join(HARMLESS))) == 0
    assert capsys.readouterr().out.endswith("5 passed, 0 failed, 1 skipped\n")


@pytest.mark.parametrize("tests, counts", [
    ("test_a PASSED\ntest_b FAILED\ntest_c ", "1 passed, 1 failed, 0 skipped"),
    ("test_a PASSED\ntest_b ", "1 passed, 1 failed, 0 skipped"),
    ("5 passed in 1.0s\n", "5 passed, 1 failed, 0 skipped"),
])
def test_a_guest_that_crashes_is_a_failure(runner, ended, capsys, tests, counts):
    """Tests that passed or failed before the crash are counted and shown."""
    assert runner.judge(ended(tests, status=None)) == 1
    output = capsys.readouterr().out
    assert output.startswith(tests.rstrip()) and output.endswith(counts + "\n")


def test_a_machine_without_the_programs_is_a_skip(run, source_root, tmp_path):
    script = source_root / "tests" / "kernel" / "run.py"
    result = run([sys.executable, script, tmp_path / "build", ""], env={"PATH": str(tmp_path)})
    assert result.returncode == 77
    reason, count = result.stdout.splitlines()
    assert "busybox" in reason and count == "0 passed, 0 failed, 1 skipped"
