# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A daemon that stays, and what can be asked of it about the connection manager."""

import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

import models


class Daemon:
    def __init__(self, run, softhca):
        self.run, self.softhca = run, softhca

    def objects(self):
        return json.loads(self.run([self.softhca, "ctl", "objects", "--json"]).stdout)

    def ids(self):
        return self.objects()["cm_ids"]

    def until(self, condition, what, ask=None):
        """Waits for condition(objects), or condition(ask())."""
        end = time.monotonic() + 30
        while not condition(now := (ask or self.objects)()):
            assert time.monotonic() < end, f"no {what}: {now}"
            time.sleep(0.02)
        return now

    def until_listening(self, port=None):
        self.until(lambda now: any(i["state"] == "LISTEN" and port in (None, i["port"]) for i in now["cm_ids"]), "listener")

    def until_empty(self):
        """Files of the connection manager without ids are in no list, but they count as contexts."""
        self.until(lambda now: ", 0 contexts" in now, "end of all programs", lambda: self.run([self.softhca, "status"]).stdout)
        left = self.objects()
        assert left["contexts"] == left["cm_ids"] == [], left
        for device in left["devices"]:
            assert {device[kind] for kind in ("qps", "cqs", "srqs", "mrs", "pds")} == {0}, left

    def costs(self):
        """(open descriptors, resident kilobytes) of the daemon."""
        pid = self.run([self.softhca, "status"]).stdout.split("pid ")[1].split(",")[0]
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return len(os.listdir(f"/proc/{pid}/fd")), int(status.split("VmRSS:")[1].split()[0])

    def start(self, argv, host=None, **kw):
        env = dict(os.environ, **({} if host is None else {"SOFTHCA_HOST": models.device(host)}))
        return subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=env, **kw)


@pytest.fixture
def settings():
    """What else the daemon is started with; a test may have its own."""
    return []


@pytest.fixture
def daemon(run, softhca, settings, monkeypatch):
    path = pathlib.Path(subprocess.check_output(["mktemp", "-d", "/tmp/softhca-test-XXXXXX"], text=True).strip())
    monkeypatch.setenv("SOFTHCA_DIR", str(path / "d"))
    done = run([softhca, "start", *settings])
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("LD_PRELOAD", str(softhca.parent / "libsofthca.so"))
    yield Daemon(run, softhca)
    # Nothing that is wrong with the preload may keep the daemon from its end.
    monkeypatch.delenv("LD_PRELOAD")
    run([softhca, "stop"])
    subprocess.run(["rm", "-rf", path], check=True)


@pytest.fixture(scope="session")
def need():
    def _need(program):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")

    return _need


@pytest.fixture
def finish():
    """finish(process) -> (status, output); whoever hangs is killed and the test fails."""
    started = []

    def _finish(process, seconds=30):
        started.append(process)
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            raise AssertionError(f"{process.args} hung for {seconds} s: {out}") from None
        return process.returncode, out

    return _finish
