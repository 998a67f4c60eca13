#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Breaks the code on purpose, one row of the table at a time, and counts the rows that the tests
notice.

usage: run.py [--list] [WORD...]

Runs the rows whose path or title contains one of the words; without a word, all of them. It changes
only a copy of the tree in build-mutation/, which has no files that git ignores. The next run
compiles only what differs. A row that is not noticed is printed with the reason, at once and at the
end. Exit status: 0 if every row was noticed, 1 if one was not, 2 if the table is wrong or the
unchanged copy does not build.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

import rows

ROOT = rows.HERE.parent.parent
WORK = ROOT / "build-mutation"
NOT_BUILT = 125  # exit status of meson test
MESON = "/usr/bin/meson" if os.path.exists("/usr/bin/meson") else "meson"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True,
                          text=True).stdout


class Copy:
    """A copy of the checkout, with a build in it."""

    tree = WORK / "tree"
    build = WORK / "build"
    temporary = WORK / "t"

    def refresh(self):
        """Makes the copy equal to the checkout. Copies only files that differ, because ninja
        compiles a copied file again."""
        self.temporary.mkdir(parents=True, exist_ok=True)
        names = git("ls-files", "-co", "--exclude-standard").splitlines()
        wanted = {self.tree / name: ROOT / name for name in names if (ROOT / name).is_file()}
        for target, source in wanted.items():
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        for target in [path for path in self.tree.rglob("*") if path.is_file()]:
            if target not in wanted and "__pycache__" not in target.parts:
                target.unlink()

    def setup(self):
        if not (self.build / "build.ninja").exists():
            self._run([MESON, "setup", self.build, self.tree], check=True)
        self._run(["ninja", "-C", self.build], check=True)

    def write(self, name, text):
        (self.tree / name).write_text(text)

    def read(self, name):
        return (self.tree / name).read_text()

    def run(self, test):
        """Builds what the test needs and runs it. @test is as in the table: "NAME" of meson, or
        "NAME [EXPRESSION]" for pytest's -k. Returns "passes", "fails" or "does not compile"."""
        name, _, expression = test.rstrip("]").partition(" [")
        options = "-x" + (f" -k '{expression}'" if expression else "")
        done = self._run([MESON, "test", "-C", self.build, name], options=options)
        return {0: "passes", NOT_BUILT: "does not compile"}.get(done.returncode, "fails")

    def _run(self, argv, check=False, options=""):
        env = dict(os.environ, TMPDIR=str(self.temporary), PYTEST_ADDOPTS=options)
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
        if check and done.returncode:
            raise ValueError(
                f"{argv[0]} failed in the unchanged copy:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
            )
        return done


def first_failing(copy, row):
    """The first of the row's tests that does not pass on the mutated code, and its result; (None,
    "passes") if all pass."""
    text = copy.read(row.path)
    copy.write(row.path, rows.mutated(row, text))
    try:
        for test in row.tests:
            result = copy.run(test)
            if result != "passes":
                return test, result
        return None, "passes"
    finally:
        copy.write(row.path, text)


def outcome(copy, row, sound):
    """"noticed", or why the row does not count as noticed. @sound: the tests that passed on the
    unchanged code."""
    test, result = first_failing(copy, row)
    if result == "passes":
        return f"NOT NOTICED, all its tests pass ({'; '.join(row.tests)})"
    if result == "does not compile":
        return "NOT TESTED, the mutated code does not compile"
    if test not in sound and copy.run(test) != "passes":
        return f"NOT TESTED, the test fails on the unchanged code too ({test})"
    sound.add(test)
    return "noticed"


def run(selected):
    """Runs the rows. Returns a line for each that was not noticed."""
    copy, sound, missed = Copy(), set(), []
    copy.refresh()
    for row in selected:
        rows.mutated(row, copy.read(row.path))
    copy.setup()
    for row in selected:
        begin = time.monotonic()
        result = outcome(copy, row, sound)
        print(f"{result}: {row.name} ({time.monotonic() - begin:.0f} s)", flush=True)
        if result != "noticed":
            missed.append(f"{result}: {row.name}")
    return missed


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    selected = [
        row for row in rows.table()
        if not options.words or any(word in row.name for word in options.words)
    ]
    if not selected:
        parser.error("no row's path or title contains that")
    if options.list:
        print("\n".join(row.name for row in selected))
        return 0
    missed = run(selected)
    print("\n".join(["", *missed]))
    print(f"{len(selected) - len(missed)} of {len(selected)} noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
