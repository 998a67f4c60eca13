# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A daemon of emulated adapters that outlives the programs on it, as the fixture `daemon` of
softhca_fixtures.py starts it."""

import functools
import json
import os
import pathlib
import re
import signal
import subprocess

import models
from waiting import thread_states, wait_for, wait_for_the_end

HERE, THERE = "198.18.0.1", "198.18.1.1"  # by which rdma_cm knows the first two adapters
OBJECTS = ("qps", "cqs", "srqs", "mrs", "pds")


class Daemon:
    """Programs that the test starts use it, by the environment. A test may put files into
    the directory scratch."""

    def __init__(self, run, softhca, scratch):
        self.run, self.softhca, self.scratch = run, softhca, scratch
        self.directory = scratch / "d"  # SOFTHCA_DIR
        self.preload = softhca.parent / "libsofthca.so"
        self.ended = False  # the test says so if it has ended the daemon

    def ask(self, *words):
        """The output of `softhca WORDS...`, which must succeed."""
        done = self.run([self.softhca, *words], env={"LD_PRELOAD": ""})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def objects(self):
        return json.loads(self.ask("ctl", "objects"))

    def ids(self):
        return self.objects()["cm_ids"]

    def status(self):
        return self.ask("status")

    @functools.cached_property
    def pid(self):
        return int(re.search(r"pid (\d+)", self.status()).group(1))

    def stop(self):
        self.ask("stop")
        self.ended = True

    def kill(self):
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        wait_for_the_end(pid)
        self.ended = True

    def until(self, condition, what, ask=None):
        """Waits for condition(objects), or condition(ask()); returns them."""
        return wait_for(ask or self.objects, what, holds=condition)

    def until_listening(self, port=None):
        self.until(
            lambda now: any(i["state"] == "LISTEN" and port in (None, i["port"])
                            for i in now["cm_ids"]), "listener")

    def until_empty(self):
        """Waits until no program uses it."""
        self.until(lambda now: ", 0 contexts, 0 files" in now, "end of all programs", self.status)
        left = self.objects()
        assert left["contexts"] == left["cm_ids"] == [], left
        for device in left["devices"]:
            assert {device[kind] for kind in OBJECTS} == {0}, left

    def descriptors(self):
        """How many it has open when it has nothing to do: it closes connections a little after they
        have ended."""
        pid = self.pid
        wait_for(lambda: thread_states(pid), "rest of the daemon",
                 holds=lambda states: states == {"S"})
        return len(os.listdir(f"/proc/{pid}/fd"))

    def until_given_back(self, descriptors):
        """Waits until it has no more than these, the result of descriptors()."""
        self.until(lambda now: now <= descriptors, "descriptors given back", self.descriptors)

    def memory(self):
        """How many kilobytes it has."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def slack(self, usual=1024):
        """Kilobytes of freed memory that its allocator may keep: sanitizers keep up to 256 MiB."""
        return 300 << 10 if re.search(rb"__[at]san_init", self.softhca.read_bytes()) else usual

    def start(self, argv, host=None, **kw):
        """Starts a program on it, on the host of this adapter; output and errors are one stream
        unless @kw says otherwise."""
        env = dict(os.environ, **({} if host is None else {"SOFTHCA_HOST": models.device(host)}))
        streams = {
            "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT
        }
        return subprocess.Popen([str(a) for a in argv], text=True, env=env, **{**streams, **kw})
