# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A daemon of emulated adapters that outlives its programs: by the fixture `daemon` of conftest.py, and what can be asked of it."""

import functools
import json
import os
import pathlib
import re
import subprocess
import time

import models
from waiting import wait_for

OBJECTS = ("qps", "cqs", "srqs", "mrs", "pds")


class Daemon:
    """Programs started while it runs use it, by the environment. Tests may put files into its folder."""

    def __init__(self, run, softhca, folder):
        self.run, self.softhca, self.folder = run, softhca, folder
        self.directory = folder / "d"  # SOFTHCA_DIR
        self.preload = softhca.parent / "libsofthca.so"

    def ask(self, *words):
        """The output of a command to it, which must succeed."""
        done = self.run([self.softhca, *words], env={"LD_PRELOAD": ""})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def objects(self):
        return json.loads(self.ask("ctl", "objects", "--json"))

    def ids(self):
        return self.objects()["cm_ids"]

    def status(self):
        return self.ask("status")

    @functools.cached_property
    def pid(self):
        return int(re.search(r"pid (\d+)", self.status()).group(1))

    def until(self, condition, what, ask=None):
        """Waits for condition(objects), or condition(ask()); returns them."""
        return wait_for(ask or self.objects, what, holds=condition)

    def until_listening(self, port=None):
        self.until(lambda now: any(i["state"] == "LISTEN" and port in (None, i["port"]) for i in now["cm_ids"]), "listener")

    def until_empty(self):
        """Files of the connection manager without ids are in no list, but they count as contexts."""
        self.until(lambda now: ", 0 contexts" in now, "end of all programs", self.status)
        left = self.objects()
        assert left["contexts"] == left["cm_ids"] == [], left
        for device in left["devices"]:
            assert {device[kind] for kind in OBJECTS} == {0}, left

    def descriptors(self):
        """How many it has open: the least of a few, since it closes the connection of who asked last a little later."""
        folder = f"/proc/{self.pid}/fd"
        return min([len(os.listdir(folder)), time.sleep(0.02)][0] for _ in range(5))

    def memory(self):
        """Resident kilobytes."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def slack(self, usual=1024):
        """Kilobytes that may stay with its allocator. Sanitizers keep up to 256 MiB of what was freed."""
        return 300 << 10 if re.search(rb"__[at]san_init", self.softhca.read_bytes()) else usual

    def start(self, argv, host=None, **kw):
        """A program on it, as seen from the host of this adapter: output and errors in one stream, unless told otherwise."""
        env = dict(os.environ, **({} if host is None else {"SOFTHCA_HOST": models.device(host)}))
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen([str(a) for a in argv], text=True, env=env, **{**streams, **kw})
