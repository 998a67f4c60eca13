#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Breaks the code on purpose, in one place at a time, and prints which mistakes no test notices.

usage: run.py [--list] [--changed=COMMIT|--recent] [--most=N] [PATH[:FUNCTION]...]

Takes the C files whose paths begin so, by default all of the product. With --changed it makes
mistakes only on lines that differ from COMMIT, committed or not. For --recent, COMMIT is the newest
one that is a day older than the last, or the first. It tries at most N of them (20), the same ones
each time, and says how many are possible. It changes only a copy of the tree in build-mutation/.
Exit status: 0 if each mistake that counts was noticed, 1 if one was not, 2 if nothing can be
changed below such a path or the copy does not build.
"""

import argparse
import collections
import dataclasses
import fnmatch
import re
import sys
import time
import traceback
import typing

import mutants  # which finds the modules of tests/static
import listing
from workspace import ROOT, Workspace, git

# ---- selecting ----


def a_day_ago():
    """The last commit that is a day older than the last one, or the first commit."""
    day_before = int(git("log", "-n", "1", "--format=%ct")) - 24 * 60 * 60
    return (git("rev-list", "-n", "1", f"--before={day_before}", "HEAD") or
            git("rev-list", "--max-parents=0", "HEAD")).split()[-1]


def changed_lines(commit):
    """{path: the numbers of its lines that differ from a commit}"""
    lines = collections.defaultdict(set)
    for path in git("ls-files", "-z", "-o", "--exclude-standard", "*.c").split("\0")[:-1]:
        lines[path].update(range(1, len((ROOT / path).read_text().splitlines()) + 1))
    for line in git("diff", "-U0", "--no-color", "--no-ext-diff", "--src-prefix=a/",
                    "--dst-prefix=b/", commit, "--", "*.c").splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif found := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            begin, count = int(found.group(1)), int(found.group(2) or 1)
            lines[path].update(range(begin, begin + count))
    return lines


def selected(words, commit):
    """The mutants in the order in which they are tried."""
    wanted = [word.partition(":") for word in words or [""]]
    changed = changed_lines(commit) if commit else None
    rooms = mutants.rooms()
    found = []
    for path in fnmatch.filter(listing.paths(ROOT), "*.c"):
        functions = [function for begin, _, function in wanted if path.startswith(begin)]
        if functions and mutants.tests_of(path, rooms) and (ROOT / path).is_file():
            found += [mutant for mutant in mutants.mutants_of(path, (ROOT / path).read_text())
                      if ("" in functions or mutant.function in functions)
                      and (changed is None or mutant.line in changed.get(path, ()))]
    return mutants.spread(found)


# ---- trying ----


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What has become of a mutant."""

    mutant: mutants.Mutant
    noticed_by: typing.Optional[str] = None  # a test
    not_counted: typing.Optional[str] = None  # the reason

    @property
    def missed(self):
        return not self.noticed_by and not self.not_counted

    def __str__(self):
        return self.not_counted or (f"noticed by {self.noticed_by}" if self.noticed_by
                                    else "NOT NOTICED")


class Trial:
    """Tries mutants in a copy of the checkout."""

    def __init__(self):
        self.workspace = Workspace()
        self.rooms = mutants.rooms()
        self.sound = {}  # {test: whether it passes on the unchanged code}, of those that failed

    def is_sound(self, test):
        if test not in self.sound:
            self.sound[test] = self.workspace.passes(test)
        return self.sound[test]

    def why_not_counted(self, mutant):
        if mutant.path not in self.workspace.compilers:
            return "are not built here"
        unchanged = self.workspace.compiled(mutant.path)
        if unchanged is None:
            raise ValueError(f"{mutant.path} does not compile")
        with self.workspace.changed(mutant):
            code = self.workspace.compiled(mutant.path)
        if code is None:
            return "do not compile"
        return "compile to the same code" if code == unchanged else None

    def noticed_by(self, mutant):
        """The first test that fails with the mistake and passes without it."""
        for test in mutants.tests_of(mutant.path, self.rooms):
            if not self.sound.get(test, True):
                continue
            with self.workspace.changed(mutant):
                passed = self.workspace.passes(test)
            if not passed and self.is_sound(test):
                return test
        return None

    def outcome(self, mutant):
        reason = self.why_not_counted(mutant)
        test = None if reason else self.noticed_by(mutant)
        tests = mutants.tests_of(mutant.path, self.rooms)
        if not reason and not any(self.sound.get(name, True) for name in tests):
            reason = "have no sound test"
        return Outcome(mutant, test, reason)


def try_until(found, most):
    """The outcomes of mutants, until as many count as allowed. Prints each."""
    trial, outcomes, counted = Trial(), [], 0
    for mutant in found:
        if counted == most:
            break
        begin = time.monotonic()
        text = (trial.workspace.tree / mutant.path).read_text()
        outcome = trial.outcome(mutant)
        print(f"{outcome} ({time.monotonic() - begin:.0f} s): {mutant.name}\n"
              f"    {mutant.described(text)}", flush=True)
        outcomes.append(outcome)
        counted += not outcome.not_counted
    print()
    for test, sound in sorted(trial.sound.items()):
        if not sound:
            print(f"not used, it fails or takes too long on the unchanged code: {test}")
    return outcomes


def print_sums(found, outcomes):
    for reason, count in collections.Counter(o.not_counted for o in outcomes).items():
        if reason:
            print(f"not counted, they {reason}: {count}")
    for outcome in outcomes:
        if outcome.missed:
            print(f"{outcome}: {outcome.mutant.name}")
    noticed = sum(bool(outcome.noticed_by) for outcome in outcomes)
    missed = sum(outcome.missed for outcome in outcomes)
    print(f"{noticed} of {noticed + missed} mistakes noticed; "
          f"{len(found)} are possible in {len({mutant.path for mutant in found})} files")


def main():
    _, usage, description = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(usage=usage.removeprefix("usage: "), description=description)
    parser.add_argument("--list", action="store_true", help="print them and try none")
    since = parser.add_mutually_exclusive_group()
    since.add_argument("--changed", metavar="COMMIT")
    since.add_argument("--recent", action="store_true")
    parser.add_argument("--most", type=int, default=20, metavar="N")
    parser.add_argument("words", nargs="*", metavar="PATH[:FUNCTION]")
    options = parser.parse_args()
    found = selected(options.words, a_day_ago() if options.recent else options.changed)
    if not found:
        print("0 of 0 mistakes noticed: there is nothing to change")
        return 0 if selected(options.words, None) else 2
    if options.list:
        print("\n".join(mutant.name for mutant in found))
        return 0
    outcomes = try_until(found, options.most)
    print_sums(found, outcomes)
    return 1 if any(outcome.missed for outcome in outcomes) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception:  # Python's own status would be 1
        traceback.print_exc()
        sys.exit(2)
