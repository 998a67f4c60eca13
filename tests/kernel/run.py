# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Asks a real kernel: boots one of the distribution's in QEMU with the module of this folder, and runs the tests in inside/ there.

usage: run.py BUILD_FOLDER [SUITE|VERSION|newest|debug] [--real[=mlx4|mlx5] [--patched]] [PYTEST ARGUMENT...]

"debug" is the kernel of this machine's suite, compiled with the checks that the distribution leaves out. --real takes the distribution's
driver over emulated adapters (adapter/) instead of the module, and the tests in real/; --patched puts docs/upstream's patch into ib_uverbs.

The last line is "N passed, N failed, N skipped". Exit status 77: it cannot be done here, the line before says why.
"""

import os
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path.insert(0, str(SOURCE / "scripts"))

from debug_kernel import DebugKernel  # noqa: E402
from distribution import SUITE_OF, Failed, Kernel, Unavailable, own_suite  # noqa: E402
from adapters import PROGRAMS, Adapters, Qemu  # noqa: E402
from guest import Guest, busybox_is_static, tools_missing  # noqa: E402
from patched import patched_uverbs  # noqa: E402
from test_summary import pytest_tally  # noqa: E402

PATCH = SOURCE / "docs" / "upstream" / "uverbs-opened-qp-events.patch"

# To reach the root, and what is asked.
MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "ib_uverbs"]
SECONDS = int(os.environ.get("XRC_LAB_SECONDS", "1800"))

# How a kernel tells of a fault of its own. A program that crashes on purpose is not meant ("traps: ...", "segfault at ...").
HURT = re.compile(r"^(?:<\d+>)?\[[^]]*\] (?:.*(?:WARNING:|BUG:|Oops|possible (?:circular|recursive)|detected leak|refcount_t|"
                  r"list_(?:add|del) corruption|INFO: (?:task|rcu|suspicious|trying|lockdep)|use-after-free)|general protection|"
                  r"Kernel panic|kmemleak: \d+ new suspected)")


# Else every process would load all drivers, also those that are for none of the lab's devices.
PREPARE = "find /etc/libibverbs.d -name '*.driver' ! -name 'mlx[45].driver' -delete\n"

# Where the kernel has them: what leaks (what is young may only look so), and whether locks are still looked at.
LAST_QUESTIONS = """\
leaks=/sys/kernel/debug/kmemleak
if [ -e $leaks ]; then
	echo scan >$leaks
	sleep 6
	echo scan >$leaks
	cat $leaks >/lab/leaks
fi
[ ! -e /proc/lockdep_stats ] || cat /proc/lockdep_stats >/lab/locks
dmesg >/lab/dmesg
"""


def guest_script(tests, lab, arguments):
    """What runs inside. The log of the kernel is kept whole; drivers are loaded by the tests."""
    env = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "PYTHONDONTWRITEBYTECODE": "1",
        "XRC_COMPAT_BUILD_ROOT": str(SOURCE / "build"), "XRC_COMPAT_SOURCE_ROOT": str(SOURCE), **lab,
    }
    env.update({name: value for name, value in os.environ.items() if name.startswith("STORM_")})
    words = ["/usr/bin/python3", "-m", "pytest", "-q", "-rs", "--tb=short", "-p", "no:cacheprovider", str(HERE / tests), *arguments]
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in env.items())
    return (f"{PREPARE}{exports}cd {shlex.quote(str(SOURCE))}\n{shlex.join(words)} >/lab/tests 2>&1\nstatus=$?\n"
            f"{LAST_QUESTIONS}echo $status >/lab/status\nsync\necho b >/proc/sysrq-trigger\nsleep 60\n")


def read(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def complaints(guest):
    """What the kernel found wrong with itself. After the first trouble with a lock it looks at no other."""
    log = read(guest.out / "dmesg") or read(guest.console)
    found = [f"the kernel's log: {line}" for line in log.splitlines() if HURT.search(line)]
    leaks, locks = read(guest.out / "leaks"), read(guest.out / "locks")
    if leaks:
        found.append(f"memory has leaked:\n{leaks}")
    if guest.watches and not re.search(r"^ *debug_locks: *1$", locks, re.M):
        found.append("the kernel does not look at locks, or no longer")
    return found


def judge_cut(guest):
    """The guest was stopped, or ended by itself: what it had done until then counts, and its end is one failure more."""
    print(f"failed: the guest did not come to its end; its console is {guest.console}\n" + read(guest.console)[-3000:])
    running, passed, failures = (read(guest.out / name) for name in ("running", "passed", "failures"))
    print("".join(f"passed: {name}\n" for name in passed.splitlines()), end="")
    print(f"It was at: {(running.splitlines() or ['no test yet'])[-1]}\n{failures.rstrip()}")
    failed = len({name for name, _ in re.findall(r"^(\S.*) \((setup|call|teardown)\):$", failures, re.M)})
    print(f"{len(passed.splitlines())} passed, {failed + 1} failed, 0 skipped")
    return 1


def judge(guest):
    """Prints what ran; the exit status."""
    text = read(guest.out / "tests")
    hurt = complaints(guest)
    tally = pytest_tally(text)
    print(text.rstrip())
    for what in hurt:
        print(f"failed: {what}")
    if tally is None:
        return judge_cut(guest)
    failed = tally.failed + bool(hurt) + (guest.status() != 0 and not tally.failed)
    print(f"{tally.passed} passed, {failed} failed, {len(tally.skips)} skipped")
    return 1 if failed or not tally.passed else 0


def lab_of(folder, suite, kernel, real, patched):
    """(tests, what they have to know, the guest) for the module, or for the real driver of that name."""
    if not real:
        module = kernel.build(HERE / "module", "xrc_lab.ko")
        return "inside", {"XRC_LAB_MODULE": str(module)}, Guest(folder / suite, kernel, kernel.needed(*MODULES), SOURCE)
    modules, lab = kernel.needed(*MODULES), {"XRC_LAB_REAL": str(kernel.root), "XRC_LAB_DRIVER": real}
    if patched:
        uverbs = patched_uverbs(kernel, folder / suite, suite, PATCH)
        modules = [uverbs if path.name.startswith("ib_uverbs.") else path for path in modules]
        lab["XRC_LAB_PATCHED"] = "1"
    return "real", lab, Guest(folder / suite, kernel, modules, SOURCE, Qemu(folder / "qemu"), Adapters(folder / suite, real))


def run(folder, suite, real, patched, arguments):
    """Boots, waits, judges."""
    missing = tools_missing()
    if missing:
        raise Unavailable(f"not on this machine: {', '.join(missing)}")
    if os.uname().machine != "x86_64" or not busybox_is_static():
        raise Unavailable("x86_64 and a busybox that is linked statically are needed")
    kernel = DebugKernel(folder / suite, own_suite()) if suite == "debug" else Kernel(folder / suite, suite)
    print(f"Linux {kernel.version} ({suite})", flush=True)
    tests, lab, guest = lab_of(folder, suite, kernel, real, patched)
    seconds = guest.boot(guest_script(tests, lab, arguments), SECONDS)
    print(f"{seconds:.0f} s in the guest")
    return judge(guest)


def main():
    folder, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""
    word = sys.argv[3] if sys.argv[3:4] and sys.argv[3].startswith("--real") else ""
    real = word and (word.partition("=")[2] or "mlx4")
    patched = real and sys.argv[4:5] == ["--patched"]
    try:
        if real and real not in PROGRAMS:
            raise Unavailable(f"{word}: the adapters are a ConnectX-3 and a ConnectX-5, whose drivers are mlx4 and mlx5")
        if real and wanted == "debug":
            raise Unavailable("the kernel that is compiled here has none of these drivers; --real takes one of the distribution")
        return run(folder, SUITE_OF.get(wanted, wanted) or own_suite(), real, patched, sys.argv[3 + bool(real) + bool(patched):])
    except Unavailable as reason:
        print(f"skipped: a real kernel: {reason}\n0 passed, 0 failed, 1 skipped")
        return 77
    except Failed as what:
        print(f"failed: {what}\n0 passed, 1 failed, 0 skipped")
        return 1


if __name__ == "__main__":
    sys.exit(main())
