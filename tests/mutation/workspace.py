# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A built copy of the checkout in build-mutation/, in which files are changed and tests run."""

import collections
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import mutants  # which finds the modules of tests/static
import listing

ROOT = mutants.HERE.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import left_processes  # noqa: E402

WORK = ROOT / "build-mutation"
MESON = ["sh", "-c", '. "$0" && deps_meson "$@"', ROOT / "scripts" / "deps.sh"]
# A test gets this part of its time limit: a mistake may make a program wait for ever.
TIME_FACTOR = "0.25"
NOT_BUILT = 125  # exit status of meson test


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True,
                          text=True).stdout


class Workspace:
    tree = WORK / "tree"
    build = WORK / "build"
    temporary = WORK / "t"

    def __init__(self):
        # All processes that tests start inherit it.
        self.mark = f"mutation-{os.getpid()}-{time.time()}"
        self.copy_checkout()
        if not (self.build / "build.ninja").exists():
            self.must_run(*MESON, "setup", self.build, self.tree, "-Dtests=enabled")
        self.must_run("ninja", "-C", self.build)
        self.compilers = self.read_compilers()

    def copy_checkout(self):
        """Writes only files that differ, because ninja compiles a written file again."""
        self.temporary.mkdir(parents=True, exist_ok=True)
        wanted = {self.tree / name: ROOT / name for name in listing.paths(ROOT)
                  if (ROOT / name).is_file()}
        for target, source in wanted.items():
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for target in [path for path in self.tree.rglob("*") if path.is_file()]:
            if target not in wanted and "__pycache__" not in target.parts:
                target.unlink()

    def read_compilers(self):
        """{path: the commands that compile it, without the name of the result}"""
        compilers = collections.defaultdict(list)
        for step in json.loads((self.build / "compile_commands.json").read_text()):
            path = os.path.relpath(os.path.join(step["directory"], step["file"]), self.tree)
            words = shlex.split(step["command"])
            # meson writes "-MD -MQ ... -o OBJECT -c FILE" at the end.
            compilers[path].append([*words[:words.index("-MD")], "-c", words[-1]])
        return compilers

    def run(self, *argv):
        env = dict(os.environ, TMPDIR=str(self.temporary), PYTEST_ADDOPTS="-x",
                   RUN_TESTS_MARK=self.mark)
        return subprocess.run(argv, cwd=self.build if self.build.exists() else ROOT, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)

    def must_run(self, *argv):
        done = self.run(*argv)
        if done.returncode:
            raise ValueError(f"the build of the unchanged copy failed:\n"
                             f"{done.stdout[-4000:]}{done.stderr[-4000:]}")

    @contextlib.contextmanager
    def changed(self, mutant):
        """The copy has the mistake meanwhile."""
        file = self.tree / mutant.path
        text = file.read_text()
        file.write_text(mutant.applied(text))
        try:
            yield
        finally:
            file.write_text(text)

    def compiled(self, path):
        """What the compilers make of a file; None if that is an error."""
        made = self.temporary / "code.o"
        codes = []
        for compiler in self.compilers[path]:
            if self.run(*compiler, "-w", "-g0", "-o", made).returncode:
                return None
            codes.append(made.read_bytes())
        return codes

    def passes(self, test):
        """Builds what a test needs, runs it, and kills the processes that it leaves behind."""
        done = self.run(*MESON, "test", "-C", self.build, "-t", TIME_FACTOR, test)
        for process in left_processes.marked(self.mark):
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(int(process.name), signal.SIGKILL)
        if done.returncode == NOT_BUILT:
            raise ValueError(f"{test} was not built:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.returncode == 0
