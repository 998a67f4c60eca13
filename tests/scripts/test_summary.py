# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The summary of ./run-tests: what it counts, what it shows, and when it fails. A skip must never
look like a pass."""

import io
import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "scripts"))
import summary  # noqa: E402

PYTEST_SKIPS = "ss. [100%]\nSKIPPED [2] test_x.py:10: no -m32 here\n1 passed, 2 skipped in 0.10s\n"
ROWS_SKIPPED = "SKIPPED ROW [2] mlockall locks: not allowed\n3 passed in 0.10s\n"
CMOCKA_SKIP = (
    "[ RUN      ] x\n[       OK ] x\n[ RUN      ] a\nno tmpfs here\n[  SKIPPED ] a\n[==========] 3 test(s) run.\n[  PASSED  ] 2 test(s).\n"
    "[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] a\n\n 1 SKIPPED TEST(S)\n")


def record(result="OK", stdout="", stderr="", name="t"):
    return json.dumps({"name": name, "result": result, "stdout": stdout, "stderr": stderr})


def summarized(*records):
    out = io.StringIO()
    status = summary.summarize(records, out)
    return status, out.getvalue().splitlines()


@pytest.mark.parametrize("line, status, last", [
    (record(stdout="fine"), 0, "1 passed, 0 failed, 0 skipped"),
    (record(stdout="5 passed in 0.20s\n"), 0, "5 passed, 0 failed, 0 skipped"),
    (record(stdout=PYTEST_SKIPS), 0, "1 passed, 0 failed, 2 skipped"),
    (record(stdout=ROWS_SKIPPED), 0, "3 passed, 0 failed, 2 skipped"),
    (record(stdout="2 skipped in 0.01s\n"), 1, "0 passed, 0 failed, 2 skipped"),
    # What the test printed looks like a line of cmocka's.
    (record(stdout=CMOCKA_SKIP.replace("no tmpfs", "[no tmpfs")), 0,
     "2 passed, 0 failed, 1 skipped"),
    (record(stderr="[==========] 7 test(s) run.\n[  PASSED  ] 7 test(s).\n"), 0,
     "7 passed, 0 failed, 0 skipped"),
    (record(stderr=CMOCKA_SKIP), 0, "2 passed, 0 failed, 1 skipped"),
    (record("SKIP", stdout="no xz\n"), 1, "0 passed, 0 failed, 1 skipped"),
    (record("FAIL",
            stdout="2 failed, 1 error, 3 passed in 1.00s\n"), 1, "3 passed, 3 failed, 0 skipped"),
    (record(
        "FAIL", stderr=
        "[==========] 2 test(s) run.\n[  PASSED  ] 1 test(s).\n[  FAILED  ] 1 test(s), listed below:\n"
    ), 1, "1 passed, 1 failed, 0 skipped"),
    (record("TIMEOUT", stdout="3 passed in 0.1s\n"), 1, "3 passed, 1 failed, 0 skipped"),
    (record("UNEXPECTEDPASS"), 1, "0 passed, 1 failed, 0 skipped"),
    (record(stderr="[==========] 0 test(s) run.\n[  PASSED  ] 0 test(s).\n"), 1,
     "0 passed, 1 failed, 0 skipped"),
])
def test_counts_cases(line, status, last):
    result, lines = summarized(line)
    assert (result, lines[-1]) == (status, last)


@pytest.mark.parametrize("line, reason", [
    (record("SKIP", stdout="looking\nno kernel headers here\n"), "no kernel headers here"),
    (record(stdout=PYTEST_SKIPS), "no -m32 here"),
    (record(stdout=ROWS_SKIPPED), "mlockall locks: not allowed (2 times)"),
    (record(stderr=CMOCKA_SKIP), "a: no tmpfs here"),
    (record(stderr=CMOCKA_SKIP.replace("no tmpfs here\n", "")), "a: no reason given"),
])
def test_every_skip_is_shown_with_its_reason(line, reason):
    _, lines = summarized(line)
    assert sum(reason in text for text in lines if text.startswith("skipped: t: ")) == 1


def test_what_is_skipped_several_times_is_one_line():
    _, lines = summarized(record(stdout=PYTEST_SKIPS), record(stdout=PYTEST_SKIPS),
                       record(stdout=PYTEST_SKIPS, name="other"))
    assert lines == [
        "skipped: t: test_x.py:10: no -m32 here (4 times)",
        "skipped: other: test_x.py:10: no -m32 here (2 times)", "3 passed, 0 failed, 6 skipped"
    ]


@pytest.mark.parametrize("output, shown", [
    ("def test():\n>  assert 1 == 2\nE  assert 1 == 2\n1 failed in 0.01s\n", ["E  assert 1 == 2"]),
    ("[ RUN      ] a\n[  ERROR   ] --- 1 != 2\n[   LINE   ] --- a.c:3: error: Failure!\n[  FAILED  ] a\n",
     ["[  ERROR   ] --- 1 != 2", "[   LINE   ] --- a.c:3: error: Failure!"]),
    ("starting\nSegmentation fault\n", ["starting", "Segmentation fault"]),
])
def test_a_failure_is_shown_with_its_output(output, shown):
    _, lines = summarized(record("FAIL", stdout=output), record())
    start = next(number for number, line in enumerate(lines) if line.startswith("failed:"))
    assert lines[start + 1:-1] == ["    " + line for line in shown]


def test_a_wrong_name_of_a_test_leads_to_the_names(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["summary.py", str(tmp_path / "no-log")])
    assert summary.main() == 1
    assert capsys.readouterr().out == (
        "no test ran: ./run-tests --list prints the names of all\n0 passed, 0 failed, 0 skipped\n")
