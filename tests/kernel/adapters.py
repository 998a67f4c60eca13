# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The process that emulates PCI functions of QEMU by vfio-user."""

import contextlib
import pathlib
import subprocess
import sys
import time

from distribution import Failed

HERE = pathlib.Path(__file__).resolve().parent
MEMORY = "1024M"
SECONDS_TO_LISTEN = 20

# QEMU drops an adapter that does not answer within this time. The host may be busy.
ANSWER_TIMEOUT_MS = 600_000

# A guest without KVM is about this many times slower than a real machine. The adapters extend the
# timeouts of verbs by this factor.
SLOW = 20


# The Python module of each driver's adapter.
PROGRAMS = {"mlx4": "connectx3.adapter", "mlx5": "connectx5.adapter"}


def listening():
    """The paths of all sockets that listen."""
    lines = pathlib.Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
    return {words[7] for words in (line.split(maxsplit=7) for line in lines)
            if words[3] == "00010000" and len(words) == 8}


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
        while not set(map(str, self.sockets)) <= listening():
            if process.poll() is not None or time.monotonic() > limit:
                raise Failed(f"the adapters do not start:\n{self.log.read_text(encoding='utf-8')}")
            time.sleep(0.05)
