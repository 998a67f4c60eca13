# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A guest with its own kernel, the host's root file system read-only, and two adapters."""

import contextlib
import lzma
import pathlib
import shutil
import subprocess
import time

from adapters import MEMORY
from distribution import Failed

HERE = pathlib.Path(__file__).resolve().parent

# The limit counts guest time, because the same work takes the same guest time on a busy host. If
# the guest's clock has not advanced for this many host seconds, the guest is dead.
STANDSTILL = 600
CLOCK = "(while cat /proc/uptime >/lab/uptime.new; do mv /lab/uptime.new /lab/uptime; sleep 2; done) &\n"

# One processor, because two spend their time waiting for each other. With -icount the guest's clock
# counts instructions. The guest uses only the TSC, because QEMU's other clocks are slow to read.
PROCESSOR = [
    "-accel", "tcg,thread=single", "-icount", "shift=1,sleep=on", "-cpu",
    "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt", "-smp", "1"
]
KERNEL_OPTIONS = "console=ttyS0 panic=-1 loglevel=5 printk.time=1 mitigations=off tsc=reliable clocksource=tsc"


def read(path):
    """The text of a file, which may not exist yet."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def copy_module(path, folder):
    """Copies a module, which newer suites compress; returns the plain file's name."""
    name = path.name.removesuffix(".xz")
    data = path.read_bytes()
    (folder / name).write_bytes(lzma.decompress(data) if name != path.name else data)
    return name


def make_initramfs(folder, modules):
    """Makes the archive: busybox, init, and the modules for the root file system."""
    tree = folder / "initramfs"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("bin", "modules", "proc", "sys", "dev", "lower", "upper", "newroot"):
        (tree / name).mkdir(parents=True)
    busybox = shutil.which("busybox")
    shutil.copy(busybox, tree / "bin" / "busybox")
    (tree / "bin" / "sh").symlink_to("busybox")
    shutil.copy(HERE / "init", tree / "init")
    (tree / "init").chmod(0o755)
    names = [copy_module(path, tree / "modules") for path in modules]
    (tree / "modules" / "order").write_text("".join(f"{name}\n" for name in names),
                                            encoding="utf-8")
    archive = folder / "initramfs.cpio"
    with open(archive, "wb") as out:
        files = subprocess.run(["find", ".", "-print0"], cwd=tree, stdout=subprocess.PIPE,
                               check=True).stdout
        subprocess.run(["cpio", "--null", "-o", "-H", "newc", "--quiet"], cwd=tree, input=files,
                       stdout=out, check=True)
    return archive


class Guest:
    """One boot. Its results are in the directory `out`, with the console's text in `console`."""

    def __init__(self, folder, kernel, modules, source, qemu, adapters):
        self.kernel, self.source, self.qemu, self.adapters = kernel, source, qemu, adapters
        self.out = folder / "out"
        self.console = folder / "console"
        self.errors = folder / "qemu"
        self.initramfs = make_initramfs(folder, modules)

    def _qemu(self):
        shared = "security_model=none,multidevs=remap"
        return [
            "nice", "-n", "5", *self.qemu.argv, *self.adapters.arguments(),
            *PROCESSOR, "-m", MEMORY, "-nodefaults", "-no-reboot", "-display",
            "none", "-serial", f"file:{self.console}", "-kernel", self.kernel.image, "-initrd",
            self.initramfs, "-append",
            f"{KERNEL_OPTIONS} lab.source={self.source}",
            "-fsdev", f"local,id=root,path=/,readonly=on,{shared}", "-device",
            "virtio-9p-pci,fsdev=root,mount_tag=root", "-fsdev",
            f"local,id=out,path={self.out},{shared}", "-device",
            "virtio-9p-pci,fsdev=out,mount_tag=out"
        ]

    def uptime(self):
        """The last time of the guest's own clock that was seen, in seconds."""
        text = read(self.out / "uptime").split()
        return float(text[0]) if text else 0

    def wait(self, machine, seconds):
        """Waits until the guest ends, its clock has counted @seconds, or the clock stands still."""
        last, seen = self.uptime(), time.monotonic()
        while machine.poll() is None and last < seconds and time.monotonic() - seen < STANDSTILL:
            with contextlib.suppress(subprocess.TimeoutExpired):
                machine.wait(1)
            now = self.uptime()
            if now != last:
                last, seen = now, time.monotonic()

    def boot(self, script, seconds):
        """Runs the script (sh) as root inside and returns how long it took there; its exit status
        is in out/status."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        (self.out / "script").write_text(CLOCK + script, encoding="utf-8")
        self.console.unlink(missing_ok=True)
        with self.adapters.running(), open(self.errors, "wb") as errors, subprocess.Popen(
            [str(a) for a in self._qemu()], env=self.qemu.env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors) as machine:
            try:
                self.wait(machine, seconds)
            finally:
                machine.kill()
        if not read(self.console):
            raise Failed(f"QEMU does not start:\n{read(self.errors)}")
        return self.uptime()

    def status(self):
        """The script's exit status; None if it did not end."""
        text = read(self.out / "status")
        return int(text) if text else None


def tools_missing():
    """What a guest needs and this machine lacks. busybox must be linked statically, because the
    initramfs has no loader. A program that needs one has its name near its beginning."""
    missing = [
        tool for tool in ("apt-get", "dpkg-deb", "busybox", "cpio", "depmod", "modprobe", "unshare")
        if not shutil.which(tool)
    ]
    busybox = shutil.which("busybox")
    if busybox and b"/ld-linux" in pathlib.Path(busybox).read_bytes()[:4096]:
        missing.append("a busybox without a loader")
    return missing
