# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""QEMU 10.1 or later, and the process that emulates its PCI functions by vfio-user."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

from distribution import Apt, Failed, unpack_all

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "sid"
MEMORY = "1024M"
SECONDS_TO_LISTEN = 20

# QEMU drops an adapter that does not answer within this time. The host may be busy.
ANSWER_TIMEOUT_MS = 600_000

# A guest without KVM is about this many times slower than a real machine. The adapters extend the
# timeouts of verbs by this factor.
SLOW = 20


class Qemu:
    """Debian's QEMU, downloaded and unpacked like the kernels. Its own suite's loader runs it."""

    def __init__(self, folder):
        self.root = folder / "root"
        self.ready = folder / "ready"
        if not self.ready.exists():
            self._fetch(folder)
        library = self.root / "usr/lib/x86_64-linux-gnu"
        self.argv = [
            self.root / "lib64/ld-linux-x86-64.so.2", "--library-path", library,
            self.root / "usr/bin/qemu-system-x86_64", "-L", self.root / "usr/share/qemu", "-L",
            self.root / "usr/share/seabios"
        ]
        # Otherwise QEMU would load the modules of an installed QEMU.
        self.env = {**os.environ, "QEMU_MODULE_DIR": str(library / "qemu")}

    def _fetch(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        apt = Apt(folder / "apt", SUITE)
        apt.get("update")
        apt.get("--download-only", "install", "qemu-system-x86")
        unpack_all(apt, self.root)
        self.ready.touch()


# The Python module of each driver's adapter.
PROGRAMS = {"mlx4": "connectx3.adapter", "mlx5": "connectx5.adapter"}


class Adapters:
    """Two adapters on a wire, for one boot."""

    def __init__(self, folder, driver):
        self.program = PROGRAMS[driver]
        self.sockets = [folder / "adapter1", folder / "adapter2"]
        self.log = folder / "adapters"

    def arguments(self):
        """QEMU's arguments. The adapters read the guest's memory, so it must be a file."""
        words = [
            "-machine", "q35,memory-backend=ram", "-object",
            f"memory-backend-memfd,id=ram,size={MEMORY},share=on"
        ]
        for path in self.sockets:
            words += [
                "-device",
                f'{{"driver":"vfio-user-pci","x-msg-timeout":{ANSWER_TIMEOUT_MS},"socket":{{"type":"unix","path":"{path}"}}}}'
            ]
        return words

    @contextlib.contextmanager
    def running(self):
        for path in self.sockets:
            path.unlink(missing_ok=True)
        with open(self.log, "w", encoding="utf-8") as log:
            words = [sys.executable, "-m", self.program, f"--slow={SLOW}", *map(str, self.sockets)]
            with subprocess.Popen(words, cwd=HERE, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log) as process:
                try:
                    self._wait(process)
                    yield
                finally:
                    process.kill()

    def _wait(self, process):
        limit = time.monotonic() + SECONDS_TO_LISTEN
        while not all(path.exists() for path in self.sockets):
            if process.poll() is not None or time.monotonic() > limit:
                raise Failed(f"the adapters do not start:\n{self.log.read_text(encoding='utf-8')}")
            time.sleep(0.05)
