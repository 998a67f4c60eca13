# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""This machine's kernel, compiled small and with what a distribution leaves out: the checks of locks, sleeps and leaks."""

import os
import pathlib
import shutil
import subprocess

from distribution import BUILD_TOOLS, Failed, Kernel

CONFIG = pathlib.Path(__file__).resolve().parent / "debug.config"
SOURCE_TOOLS = [*BUILD_TOOLS, "gcc", "libc6-dev", "libelf-dev", "flex", "bison", "bc", "diffutils", "gzip", "perl-base"]


class DebugKernel(Kernel):
    """As a Kernel, with everything built in."""

    tree = "/linux"
    watches = True

    def __init__(self, folder, suite):
        super().__init__(folder, suite)
        if CONFIG.read_text(encoding="utf-8") != self._config("wanted"):
            self._compile()

    def _config(self, name):
        return (self.root / "linux" / name).read_text(encoding="utf-8")

    def _fetch(self, folder, suite):
        apt, source = self._begin(folder, suite, "linux-source", "linux-source-")
        apt.get("--download-only", "install", source, *SOURCE_TOOLS)
        self._unpack(apt)
        archive = self.root / "usr/src" / f"{source}.tar.xz"
        (self.root / "linux").mkdir()
        subprocess.run(["tar", "-x", "-C", self.root / "linux", "--strip-components=1", "-f", archive], check=True)
        archive.unlink()
        self._compile()

    def _compile(self):
        """A setting that the kernel did not take would be a check that is not made."""
        shutil.copy(CONFIG, self.root / "linux" / "wanted")
        self.make("KCONFIG_ALLCONFIG=wanted allnoconfig")
        got = self._config(".config").splitlines()
        lost = [line for line in self._config("wanted").splitlines() if line.startswith("CONFIG_") and line not in got]
        if lost:
            raise Failed(f"this kernel does not take {', '.join(lost)}")
        self.make(f"-j{os.cpu_count()} bzImage modules")
        self.version_file.write_text(self._config("include/config/kernel.release"), encoding="utf-8")

    @property
    def image(self):
        return self.root / "linux/arch/x86/boot/bzImage"

    def needed(self, *names):
        return []
