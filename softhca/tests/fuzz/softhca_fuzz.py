#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Builds a fuzz target of the emulated HCA with clang's libFuzzer and sanitizers, and runs it for a
while.

usage: softhca_fuzz.py SOURCE-ROOT WORK-DIRECTORY TARGET MODEL SOURCE...
By default it runs 2000 inputs, the same ones each time. SOFTHCA_FUZZ_SECONDS: how long it runs
instead. Its corpus then stays in the work directory, and later runs of this kind begin with it.
XRC_COMPAT_FUZZ_SEED: the seed of the changes (default 1); "fresh" takes the clock. libFuzzer keeps
an input that fails, and the command that repeats the failure is printed.
Exit status 77 when clang has no libFuzzer here.
"""

import concurrent.futures
import fcntl
import functools
import json
import os
import pathlib
import shlex
import shutil
import signal
import struct
import subprocess
import sys

SECONDS = int(os.environ.get("SOFTHCA_FUZZ_SECONDS", "0"))
RUNS = 2000
# 0: libFuzzer takes the clock
SEED = os.environ.get("XRC_COMPAT_FUZZ_SEED", "1").replace("fresh", "0")
FLAGS = [
    "-std=gnu11", "-D_GNU_SOURCE", "-gline-tables-only", "-O1", "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"
]

# most of the test's time is the compiler's
CLANG = ["ccache", "clang"] if shutil.which("ccache") else ["clang"]


def clang(words):
    return subprocess.run([*CLANG, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)


def skip_unless_possible(work):
    probe = work / "probe.c"
    probe.write_text(
        "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n ? 0 : 0; }\n"
    )
    try:
        done = clang(["-fsanitize=fuzzer,address,undefined", probe, "-o", work / "probe"])
    except FileNotFoundError:
        print("skipped: clang is not installed")
        sys.exit(77)
    if done.returncode:
        print("skipped: this clang has no libFuzzer:",
              done.stdout.splitlines()[-1] if done.stdout else "")
        sys.exit(77)


@functools.lru_cache()
def libc_options(root, work):
    """Returns the compiler options that the build adds if the C library lacks functions."""
    build = next(
        folder for folder in work.resolve().parents if (folder / "compile_commands.json").exists())
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if entry["file"].endswith("softhca/server/daemon.c"):
            return [word for word in words if word.startswith("-DHAVE_")] + (
                ["-include", root / "include" / "portable.h"] if "-include" in words else [])
    sys.exit("compile_commands.json knows no softhca/server/daemon.c")


def compile_one(root, work, source, newest_header):
    """The object file of @source. Compiles it if it is older than the source or any header."""
    target = work / (source.relative_to(root).as_posix().replace("/", "_") + ".o")
    if not target.exists() or target.stat().st_mtime < max(source.stat().st_mtime, newest_header):
        done = clang([
            *FLAGS, *libc_options(root, work), "-fsanitize=fuzzer-no-link", "-I", root, "-c", source,
            "-o", target
        ])
        if done.returncode:
            sys.exit(f"{source}:\n{done.stdout}")
    return target


def build(root, work, target, sources):
    headers = root.glob("softhca/**/*.h")
    newest = max(header.stat().st_mtime for header in headers)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda source: compile_one(root, work, source, newest), sources))
    done = clang(["-fsanitize=fuzzer,address,undefined", "-Wl,--wrap=hca_now", *objects, "-o",
                  work / target])
    if done.returncode:
        sys.exit(done.stdout)


ARENA, CLIENT = 0xa5 << 56, 0x5a << 56  # the target replaces these by addresses
RAW_RESPONSE, WITH_FILE, WITH_CHANNEL = 4, 16, 32


def command(number, room, layout, *values, flags=0):
    """One command as the target reads it; @room in words, @layout as for struct without the
    response's address."""
    body = (b"" if flags & RAW_RESPONSE else bytes(8)) + struct.pack("<" + layout, *values)
    assert len(body) % 4 == 0
    return bytes([number, flags, room, len(body) // 4]) + body


class Mlx4:
    """The parts of commands that libmlx4 appends."""

    first_qp, target_tag = 0x40, 0x800000

    def cq(self, at):
        return "QQ", (ARENA | at, ARENA | at + 0x1000)

    srq = cq

    def resize(self, at):
        return "Q", (ARENA | at,)

    def qp(self, at, sends, receives, index):
        return "QQ4BI", (ARENA | at, ARENA | at + 0x3000, 3, 6, 0, 0, 0)


class Mlx5:
    """The same of libmlx5. Its QP numbers follow those of the two SRQs."""

    first_qp, target_tag = 0x42, 0

    def cq(self, at):
        return "QQIBBHHHI", (ARENA | at, ARENA | at + 0x1000, 64, 0, 0, 0, 0, 0, 0)

    def srq(self, at):
        return "QQIIII", (ARENA | at, ARENA | at + 0x1000, 0, 0, 5, 0)

    def resize(self, at):
        return "QHHI", (ARENA | at, 64, 0, 0)

    def qp(self, at, sends, receives, index):
        return "QQIIIIIIQ", (ARENA | at, ARENA | at + 0x3000, 16 if sends else 0, receives,
                             4 if receives else 0, 2, index, 0, 0)


def with_part(number, room, layout, values, part, flags=0):
    return command(number, room, layout + part[0], *values, *part[1], flags=flags)


def create_qp(driver, kind, pd, cq, buffer, recv=4, srq=None):
    sends, recvs = (0 if kind == 10 else 4), (0 if kind in (9, 10) or srq is not None else recv)
    return with_part(
        24, 8, "Q9I4B",
        (0, pd, cq, cq, srq or 0, sends, recvs, 1, bool(recvs), 0, 1, kind, srq is not None, 0),
        driver.qp(buffer, sends, recvs, 0 if kind == 10 else buffer >> 14))


def modify_qp(handle, state, mask, peer):
    dest = struct.pack("<16xIHH8B", 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    return command(26, 0, "32s32s7I2H16B", dest, dest, handle, mask, 0, 0, 0, peer, 0xf, 0, 0,
                   state, 0, 3, 0, 0, 1, 1, 1, 1, 8, 1, 1, 0, 0, 0, 0, flags=RAW_RESPONSE)


def usual_commands(driver):
    """The commands of a program that uses every object. The fuzzer starts from them, because it
    rarely finds them by itself."""
    begin = [
        command(3, 3, ""),
        command(9, 3, "QQQII", CLIENT, 65536, CLIENT, 0, 0xf),
        command(17, 1, ""),
        with_part(18, 4, "QIIiI", (0, 15, 0, -1, 0), driver.cq(0x1000)),
        with_part(18, 4, "QIIiI", (0, 15, 0, 7, 0), driver.cq(0x3000), flags=WITH_CHANNEL),
        with_part(32, 6, "QIIII", (0, 0, 7, 1, 0), driver.srq(0x5000)),
        command(37, 1, "II", 9, 0o100, flags=WITH_FILE),
        command(37, 1, "II", 0xffffffff, 0o100),
        with_part(39, 6, "QIIIIIIII", (0, 1, 0, 7, 1, 0, 0, 5, 2), driver.srq(0x7000)),
    ]  # handles: PD 0, MR 1, CQs 2 3, SRQ 4, domains 5 6, XRC SRQ 7
    first = driver.first_qp
    qps = [
        create_qp(driver, 2, 0, 2, 0x10000),
        create_qp(driver, 3, 0, 2, 0x14000),
        create_qp(driver, 4, 0, 2, 0x18000),
        create_qp(driver, 2, 0, 3, 0x1c000, srq=4),
        create_qp(driver, 9, 0, 2, 0x20000),
        create_qp(driver, 10, 5, 0, 0),
        command(40, 8, "QIIB7x", 0, 5, (first + 5) | driver.target_tag, 10)
    ]  # handles 8 to 14
    masks = {
        8: (0x39, 0x129181, 0x12e01), 12: (0x39, 0x101181, 0x12e01), 13: (0x39, 0x129181, 0x10201)
    }
    work = []
    for handle, peer in ((8, first), (12, first + 5), (13, first + 4)):
        work += [
            modify_qp(handle, state, mask, peer) for state, mask in enumerate(masks[handle], 1)
        ]
        work += [command(25, 32, "II", handle, 0)]
    more = [
        with_part(19, 2, "II", (3, 31), driver.resize(0x30000)),
        command(34, 4, "II", 4, 0),
        command(33, 0, "IIII", 4, 2, 0, 3, flags=RAW_RESPONSE),
        command(11, 2, "IIQQQII", 1, 7, CLIENT, 4096, CLIENT, 0, 1),
        command(1, 44, ""),
        command(2, 10, "B7x", 1)
    ]
    end = [command(27, 1, "II", handle, 0) for handle in range(14, 7, -1)]
    end += [
        command(35, 1, "II", 7, 0),
        command(35, 1, "II", 4, 0),
        command(20, 2, "II", 2, 0),
        command(20, 2, "II", 3, 0)
    ]
    end += [
        command(number, 0, "I", handle, flags=RAW_RESPONSE)
        for number, handle in ((38, 6), (38, 5), (13, 1), (4, 0))
    ]
    parts = [begin, qps, work, more, end]
    return [b"\0" + b"".join(sum(parts[:count], [])) for count in range(1, 6)]


DRIVERS = {"connectx3": Mlx4(), "connectx5": Mlx5()}


def write_seeds(corpus, target, model):
    seeds = usual_commands(DRIVERS[model]) if target == "commands" else []
    paths = [corpus / f"seed-{number}" for number in range(len(seeds))]
    for path, seed in zip(paths, seeds):
        path.write_bytes(seed)
    return paths


def refused_seed(program, seeds, env):
    """What the target says about a command of @seeds that is refused, or an empty string."""
    done = subprocess.run([program, *seeds], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=dict(env, SOFTHCA_FUZZ_VALID="1"), timeout=120,
                          errors="replace")
    return done.stdout if done.returncode else ""


def run(work, target, model):
    corpus = work / f"{'corpus' if SECONDS else 'inputs'}-{target}-{model}"
    findings = work / f"findings-{target}-{model}"
    if not SECONDS:
        shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(exist_ok=True)
    findings.mkdir(exist_ok=True)
    seeds = write_seeds(corpus, target, model)
    env = dict(os.environ, SOFTHCA_MODEL=model, ASAN_OPTIONS="detect_leaks=1:handle_abort=1",
               UBSAN_OPTIONS="print_stacktrace=1")
    refusal = refused_seed(work / target, seeds, env) if seeds else ""
    if refusal:
        print(refusal)
        return 1
    # Without -use_cmp=0 libFuzzer puts addresses into inputs, which differ from run to run.
    limit = [f"-max_total_time={SECONDS}"] if SECONDS else [f"-runs={RUNS}", "-use_cmp=0"]
    # -len_control=0: otherwise libFuzzer tries only inputs shorter than one command for seconds.
    argv = [
        work / target, f"-seed={SEED}", *limit, "-max_len=2048", "-len_control=0",
        "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1",
        f"-artifact_prefix={findings}/", corpus
    ]
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=env, stdin=subprocess.DEVNULL, timeout=SECONDS + 120,
                          errors="replace")
    lines = done.stdout.splitlines()
    if done.returncode < 0:
        lines.append(f"{target}: ended by {signal.Signals(-done.returncode).name}")
    lines += [
        f"to repeat it: SOFTHCA_MODEL={model} {work / target} {line.split()[-1]}" for line in lines
        if "Test unit written to" in line
    ]
    if not done.returncode:
        lines = [line for line in lines if line.startswith(("stat::", "Done")) or " were " in line]
    print("\n".join(lines[-60:]))
    return 1 if done.returncode else 0


def main(argv):
    root, work = pathlib.Path(argv[1]).resolve(), pathlib.Path(argv[2])
    target, model = argv[3:5]
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two targets share their objects
        skip_unless_possible(work)
        build(root, work, target, [pathlib.Path(source).resolve() for source in argv[5:]])
    return run(work, target, model)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
