# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""QEMU 10.1 or later."""

import os
import shutil

from distribution import Apt, unpack_all

SUITE = "sid"


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
