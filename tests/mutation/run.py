#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Breaks the code on purpose, in one place at a time, and prints which mistakes no test notices.

usage: run.py [--list] [--changed=COMMIT|--recent] [--most=N] [PATH[:FUNCTION]...]

Takes the C files whose paths begin so, by default all of the product. With --changed it makes
mistakes only on lines that differ from COMMIT; with --recent on those that changed in the day that
ends with the last commit. It tries at most N of them (20), the same ones each time, and says how
many are possible. It changes only a copy of the tree in build-mutation/. Exit status: 0 if each
mistake was noticed, 1 if one was not, 2 if no file has such a path or the copy does not build.
"""

import argparse
import collections
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import mutants

ROOT = mutants.HERE.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import left_processes  # noqa: E402

WORK = ROOT / "build-mutation"
MESON = "/usr/bin/meson" if os.path.exists("/usr/bin/meson") else "meson"
# Of the tests' own time limits. A mistake may let a program wait for ever.
PATIENCE = "0.25"
NOT_BUILT = 125  # exit status of meson test
MISSED = "NOT NOTICED"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True,
                          text=True).stdout


class Copy:
    """A copy of the checkout, with a build in it."""

    tree = WORK / "tree"
    build = WORK / "build"
    temporary = WORK / "t"

    def __init__(self):
        # Later processes inherit it, so that those that tests leave behind are known.
        self.mark = f"RUN_TESTS_MARK=mutation-{os.getpid()}-{time.time()}"
        self.refresh()
        if not (self.build / "build.ninja").exists():
            self.run([MESON, "setup", self.build, self.tree, "-Dtests=enabled"], check=True)
        self.run(["ninja", "-C", self.build], check=True)
        self.commands = collections.defaultdict(list)
        for step in json.loads((self.build / "compile_commands.json").read_text()):
            path = os.path.relpath(os.path.join(step["directory"], step["file"]), self.tree)
            command = shlex.split(step["command"])
            # Without the file of dependencies, and the object that ninja makes.
            self.commands[path].append([*command[:command.index("-MD")], "-c", command[-1]])

    def refresh(self):
        """Makes the copy equal to the checkout. Copies only files that differ, because ninja
        compiles a copied file again."""
        self.temporary.mkdir(parents=True, exist_ok=True)
        names = git("ls-files", "-co", "--exclude-standard").splitlines()
        wanted = {self.tree / name: ROOT / name for name in names if (ROOT / name).is_file()}
        for target, source in wanted.items():
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for target in [path for path in self.tree.rglob("*") if path.is_file()]:
            if target not in wanted and "__pycache__" not in target.parts:
                target.unlink()

    def run(self, argv, check=False):
        name, value = self.mark.split("=", 1)
        env = dict(os.environ, TMPDIR=str(self.temporary), PYTEST_ADDOPTS="-x", **{name: value})
        done = subprocess.run(argv, cwd=self.build if self.build.exists() else ROOT, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace")
        if check and done.returncode:
            raise ValueError(f"{argv[0]} failed in the unchanged copy:\n"
                             f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done

    def code(self, path):
        """What the compiler makes of a file; None if that is an error."""
        if not self.commands[path]:
            raise ValueError(f"{path} is not built here")
        made = self.temporary / "code.o"
        codes = []
        for command in self.commands[path]:
            if self.run([*command, "-w", "-g0", "-o", made]).returncode:
                return None
            codes.append(made.read_bytes())
        return codes

    def passes(self, test):
        """Builds what a test needs, and runs it."""
        done = self.run([MESON, "test", "-C", self.build, "-t", PATIENCE, test])
        for process in left_processes.marked(self.mark.partition("=")[2]):
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(int(process.name), signal.SIGKILL)
        if done.returncode == NOT_BUILT:
            raise ValueError(f"{test} was not built:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.returncode == 0


class Trial:
    """Tries mutants in a copy."""

    def __init__(self):
        self.copy = Copy()
        self.rooms = mutants.rooms()
        self.sound = {}  # whether a test passes on the unchanged code, as far as that was needed

    def result(self, mutant):
        """The test that does not pass, "" if all pass, or None and why the mutant does not count."""
        file = self.copy.tree / mutant.path
        text = file.read_text()
        unchanged = self.copy.code(mutant.path)
        if unchanged is None:
            raise ValueError(f"{mutant.path} does not compile")
        try:
            file.write_text(mutant.applied(text))
            code = self.copy.code(mutant.path)
            if code is None or code == unchanged:
                return None, "do not compile" if code is None else "compile to the same code"
            tests = mutants.tests_of(mutant.path, self.rooms)
            return next((test for test in tests if self.sound.get(test, True)
                         and not self.copy.passes(test)), ""), None
        finally:
            file.write_text(text)

    def is_sound(self, test):
        if test not in self.sound:
            self.sound[test] = self.copy.passes(test)
        return self.sound[test]

    def outcome(self, mutant):
        """Whether a test notices the mutant, or why it does not count."""
        test, reason = self.result(mutant)
        while test and not self.is_sound(test):
            test, reason = self.result(mutant)
        return reason or (f"noticed by {test}" if test else MISSED)

    def of(self, mutant):
        begin = time.monotonic()
        text = (self.copy.tree / mutant.path).read_text()
        outcome = self.outcome(mutant)
        print(f"{outcome} ({time.monotonic() - begin:.0f} s): {mutant.name}\n"
              f"    {mutant.described(text)}", flush=True)
        return outcome


def a_day_ago():
    """The last commit of the day before, or the first commit."""
    end = int(git("log", "-n", "1", "--format=%ct")) - 24 * 60 * 60
    return (git("rev-list", "-n", "1", f"--before={end}", "HEAD") or
            git("rev-list", "--max-parents=0", "HEAD")).split()[-1]


def changed_lines(commit):
    """{path: the numbers of its lines that differ from a commit}"""
    lines = collections.defaultdict(set)
    path = None
    for line in git("diff", "-U0", "--no-color", commit, "--", "*.c").splitlines():
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
    for path in git("ls-files", "-co", "--exclude-standard", "*.c").splitlines():
        functions = [function for begin, _, function in wanted if path.startswith(begin)]
        if functions and mutants.tests_of(path, rooms) and (ROOT / path).is_file():
            found += [mutant for mutant in mutants.mutants_of(path, (ROOT / path).read_text())
                      if ("" in functions or mutant.function in functions)
                      and (changed is None or mutant.line in changed.get(path, ()))]
    return mutants.spread(found)


def tried(found, most):
    """[(mutant, outcome)] of as many as allowed. Prints why others do not count."""
    trial, results, without = Trial(), [], collections.Counter()
    for mutant in found:
        if len(results) == most:
            break
        outcome = trial.of(mutant)
        if outcome == MISSED or outcome.startswith("noticed"):
            results.append((mutant, outcome))
        else:
            without[outcome] += 1
    print()
    for test, sound in sorted(trial.sound.items()):
        if not sound:
            print(f"not used, it fails on the unchanged code: {test}")
    for reason, count in without.items():
        print(f"not counted, they {reason}: {count}")
    return results


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--list", action="store_true")
    since = parser.add_mutually_exclusive_group()
    since.add_argument("--changed", metavar="COMMIT")
    since.add_argument("--recent", action="store_true")
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    found = selected(options.words, a_day_ago() if options.recent else options.changed)
    if options.list:
        print("\n".join(mutant.name for mutant in found))
        return 0
    if not found:
        print("0 of 0 mistakes noticed: there is nothing to change")
        return 2 if options.words else 0
    results = tried(found, options.most)
    missed = [mutant for mutant, outcome in results if outcome == MISSED]
    for mutant in missed:
        print(f"{MISSED}: {mutant.name}")
    print(f"{len(results) - len(missed)} of {len(results)} mistakes noticed; "
          f"{len(found)} are possible in {len({mutant.path for mutant in found})} files")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
