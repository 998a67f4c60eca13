# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Counts the test cases in meson's testlog.json, so that a skip inside a program that passes counts
as a skip.

usage: summary.py TESTLOG.JSON

The last line is "N passed, N failed, N skipped". Exit status: 0 when all that ran passed, 1 when
any failed or none ran.
"""

import collections
import json
import re
import sys

MESON_PASSED = {"OK", "EXPECTEDFAIL"}
MESON_SKIPPED = {"SKIP"}

FAILURE_LINES = 20  # of each failed program, repeated at the end of the summary


class Tally:
    """The results of one test program, or of all."""

    def __init__(self, passed=0, failed=0, skips=()):
        self.passed, self.failed, self.skips = passed, failed, list(skips)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skips += other.skips


def pytest_tally(text):
    """Reads pytest's last line ("3 passed, 1 skipped in 0.1s"), the reasons that -rs prints, and the
    rows of programs that were skipped; None if it is not pytest."""
    last = re.findall(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s", text, re.M)
    if not last:
        return None
    count = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last[-1])}
    reasons = []
    for number, reason in re.findall(r"^SKIPPED \[(\d+)\] (.*)$", text, re.M):
        reasons += [reason] * int(number)
    skipped = count.get("skipped", 0)
    reasons += ["no reason given"] * (skipped - len(reasons))
    rows = [row for number, row in re.findall(r"^SKIPPED ROW \[(\d+)\] (.*)$", text, re.M)
            for _ in range(int(number))]
    failed = sum(count.get(word, 0) for word in ("failed", "error", "errors"))
    return Tally(count.get("passed", 0) + count.get("xfailed", 0), failed, reasons[:skipped] + rows)


def cmocka_tally(text):
    """The sums of cmocka's group results; None if it is not cmocka."""
    def total(word):
        return sum(int(n) for n in re.findall(rf"^\[  {word} {{1,2}}\] (\d+) test", text, re.M))

    if not re.search(r"^\[==========\] (?:\w+: )?\d+ test\(s\) run", text, re.M):
        return None
    # The lines that the test printed between its start and its skip are the reason.
    skipped = re.findall(r"^\[ RUN      \] (\w+)\n((?:(?!\[).*\n)*)\[  SKIPPED \] \1$", text, re.M)
    reasons = [f"{name}: {said.strip() or 'no reason given'}" for name, said in skipped]
    reasons += ["no reason given"] * (total("SKIPPED") - len(reasons))
    return Tally(total("PASSED"), total("FAILED"), reasons)


def skip_reason(text):
    """The last line that a program printed before it exited with 77."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"


def failure_lines(text):
    """The lines by which pytest, cmocka or a program of rows reports a failure. If there are none,
    the last lines."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"E  |\[ +(ERROR|LINE) +\]|FAIL", line)]
    return said[:FAILURE_LINES] or lines[-FAILURE_LINES:]


def said_by(record):
    return (record.get("stdout") or "") + "\n" + (record.get("stderr") or "")


def tally(record):
    """The Tally of one line of testlog.json."""
    text = said_by(record)
    if record["result"] in MESON_SKIPPED:
        return Tally(skips=[skip_reason(text)])
    cases = pytest_tally(text) or cmocka_tally(text)
    if record["result"] in MESON_PASSED:
        if cases is None:
            return Tally(passed=1)
        # A program that passes without a case has tested nothing.
        return cases if cases.passed or cases.skips else Tally(failed=1)
    cases = cases or Tally()
    # It crashed or timed out before it could count its own failure.
    cases.failed = cases.failed or 1
    return cases


def summarize(lines, out):
    """Prints the skips, the failures with their output, and the last line. Returns the exit
    status."""
    total, skips, failures = Tally(), collections.Counter(), []
    for line in lines:
        record = json.loads(line)
        result = tally(record)
        skips.update(f"skipped: {record['name']}: {reason}" for reason in result.skips)
        if result.failed:
            failures.append(f"failed:  {record['name']}: {result.failed} ({record['result']})")
            failures += ["    " + said for said in failure_lines(said_by(record))]
        total.add(result)
    for skip, times in skips.items():
        print(skip if times == 1 else f"{skip} ({times} times)", file=out)
    for failure in failures:
        print(failure, file=out)
    print(f"{total.passed} passed, {total.failed} failed, {len(total.skips)} skipped", file=out)
    return 1 if total.failed or not total.passed else 0


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as log:
            return summarize(log, sys.stdout)
    except FileNotFoundError:
        print("no test ran: ./run-tests --list prints the names of all")
        return summarize([], sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
