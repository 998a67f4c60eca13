# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Boots a kernel of the distribution in QEMU with two emulated adapters, and runs the tests in
inside/ on its own driver.

usage: run.py BUILD_DIRECTORY SUITE|VERSION|newest|"" [--real[=mlx4|mlx5]] [PYTEST ARGUMENT...]

"" stands for this machine's own suite. --real chooses the driver (default: mlx4).

The last line is "N passed, N failed, N skipped". Exit status 77: no kernel can be booted here. The
line before the last has the reason.
"""

import os
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path.insert(0, str(SOURCE / "scripts"))

from adapters import PROGRAMS, Adapters  # noqa: E402
from distribution import SUITE_OF, Failed, Kernel, Unavailable, own_suite  # noqa: E402
from guest import Guest, read, tools_missing  # noqa: E402
from qemu import Qemu  # noqa: E402
from summary import Tally, pytest_tally  # noqa: E402

# The modules that are loaded at the start: for the root file system, and ib_uverbs. The tests load
# the driver.
MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "ib_uverbs"]
SECONDS = int(os.environ.get("XRC_LAB_SECONDS", "1800"))

# Lines in which a kernel reports its own fault. A program that crashes causes other lines ("traps:
# ...", "segfault at ...").
FAULT = re.compile(
    r"^(?:<\d+>)?\[[^]]*\] (?:.*(?:WARNING:|BUG:|kernel BUG at|\[#\d+\]|UBSAN:|Oops|detected leak|"
    r"refcount_t|list_(?:add|del) corruption|INFO: (?:task|rcu))|general protection|Kernel panic)")

# Otherwise every process would load all drivers, also those for other adapters.
PREPARE = "find /etc/libibverbs.d -name '*.driver' ! -name 'mlx[45].driver' -delete\n"


def guest_script(lab, arguments):
    """The script that runs in the guest. It saves the kernel's log. The tests load the drivers."""
    env = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "XRC_COMPAT_BUILD_ROOT": str(SOURCE / "build"),
        "XRC_COMPAT_SOURCE_ROOT": str(SOURCE),
        **lab,
    }
    env.update({name: value for name, value in os.environ.items() if name.startswith("STORM_")})
    words = [
        "/usr/bin/python3", "-m", "pytest", "-v", "-rs", "--tb=short", "-p", "no:cacheprovider",
        str(HERE / "inside"), *arguments
    ]
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in env.items())
    return (
        f"{PREPARE}{exports}cd {shlex.quote(str(SOURCE))}\n{shlex.join(words)} >/lab/tests 2>&1\nstatus=$?\n"
        "dmesg >/lab/dmesg\necho $status >/lab/status\nsync\necho b >/proc/sysrq-trigger\nsleep 60\n"
    )


def kernel_faults(guest):
    """The lines of the kernel's log that report a fault of the kernel."""
    log = read(guest.out / "dmesg") or read(guest.console)
    return [line for line in log.splitlines() if FAULT.search(line)]


def judge(guest):
    """Prints the results, and returns the exit status. If no test has failed, a guest that did not
    come to its end counts as one failure."""
    text = read(guest.out / "tests")
    tally = pytest_tally(text) or Tally(len(re.findall(r" PASSED", text)),
                                        len(re.findall(r" (?:FAILED|ERROR)", text)))
    print(text.rstrip())
    faults = kernel_faults(guest)
    for line in faults:
        print(f"failed: the kernel's log: {line}")
    if guest.status() is None:
        print(f"failed: the guest did not come to its end; its console is {guest.console}\n" +
              read(guest.console)[-3000:])
    failed = tally.failed + bool(faults) + (guest.status() != 0 and not tally.failed)
    print(f"{tally.passed} passed, {failed} failed, {len(tally.skips)} skipped")
    return 1 if failed or not tally.passed else 0


def run(folder, suite, driver, arguments):
    """Boots the guest, waits for its end, and judges it."""
    missing = tools_missing() + ["an x86_64"] * (os.uname().machine != "x86_64")
    if missing:
        raise Unavailable(f"not on this machine: {', '.join(missing)}")
    qemu, kernel = Qemu(folder / "qemu"), Kernel(folder / suite, suite)
    print(f"Linux {kernel.version} ({suite}), {driver}", flush=True)
    modules = kernel.needed(*MODULES)
    lab = {"XRC_LAB_KERNEL": str(kernel.root), "XRC_LAB_DRIVER": driver}
    guest = Guest(folder / suite, kernel, modules, SOURCE, qemu, Adapters(folder / suite, driver))
    seconds = guest.boot(guest_script(lab, arguments), SECONDS)
    print(f"{seconds:.0f} s in the guest")
    return judge(guest)


def options(words):
    """(driver, the other words)"""
    driver = "mlx4"
    if words and re.match(r"--real(=|$)", words[0]):
        driver = words[0].partition("=")[2] or driver
        words = words[1:]
    if driver not in PROGRAMS:
        print(f"--real={driver}: the adapters are a ConnectX-3 and a ConnectX-5, whose drivers are "
              "mlx4 and mlx5", file=sys.stderr)
        sys.exit(2)
    return driver, words


def main():
    folder, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    try:
        return run(folder, SUITE_OF.get(wanted, wanted) or own_suite(), *options(sys.argv[3:]))
    except Unavailable as reason:
        print(f"skipped: a real kernel: {reason}\n0 passed, 0 failed, 1 skipped")
        return 77
    except Failed as failure:
        print(f"failed: {failure}\n0 passed, 1 failed, 0 skipped")
        return 1


if __name__ == "__main__":
    sys.exit(main())
