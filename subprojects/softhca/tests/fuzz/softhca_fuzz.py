#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Builds a fuzz target of the emulated HCA with clang's libFuzzer and sanitizers, and runs it for a
while.

usage: softhca_fuzz.py SOURCE-ROOT WORK-DIRECTORY TARGET MODEL SOURCE...
By default it runs 2000 inputs, the same ones each time. SOFTHCA_FUZZ_SECONDS: how long it runs
instead. Its corpus then stays in the work directory, and later runs of this kind begin with it.
SOFTHCA_FUZZ_SEED: the seed of the changes (default 1); "fresh" takes the clock. libFuzzer keeps
an input that fails, and the command that repeats the failure is printed.
Exit status 77 when clang has no libFuzzer here.
"""

import concurrent.futures
import fcntl
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys

SECONDS = int(os.environ.get("SOFTHCA_FUZZ_SECONDS", "0"))
RUNS = 2000
# 0: libFuzzer takes the clock
SEED = os.environ.get("SOFTHCA_FUZZ_SEED", "1").replace("fresh", "0")
FUZZER = "-fsanitize=fuzzer,address,undefined"
FLAGS = [
    "-std=gnu11", "-D_GNU_SOURCE", "-gline-tables-only", "-O0", "-fno-omit-frame-pointer",
    "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=undefined",
    *os.environ["SOFTHCA_FUZZ_FLAGS"].split()
]
WRAP = [f"-Wl,--wrap={name}" for name in ("hca_now", "fabric_send", "carrier_open", "carrier_address",
                                           "carrier_reach", "carrier_leave", "carrier_send")]
# most of the test's time is the compiler's
CLANG = ["ccache", "clang"] if shutil.which("ccache") else ["clang"]


def clang(*words):
    """The complaint of the compiler, or an empty string."""
    done = subprocess.run([*CLANG, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    return (done.stdout or "failed") if done.returncode else ""


def skip_unless_possible(work):
    probe = work / "probe.c"
    probe.write_text("int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }\n")
    if not shutil.which("clang") or clang(FUZZER, probe, "-o", work / "probe"):
        print("skipped: there is no clang with libFuzzer here")
        sys.exit(77)


def build(root, work, target, sources):
    flags = work / "flags"
    if not flags.exists() or flags.read_text() != " ".join(FLAGS):
        flags.write_text(" ".join(FLAGS))
    shared = [flags, *root.glob("**/*.h")]
    newest_shared = max(file.stat().st_mtime for file in shared)

    def compile_one(source):
        """The object file of @source, compiled if the source, the flags or any header are newer."""
        built = work / (source.relative_to(root).as_posix().replace("/", "_") + ".o")
        if not built.exists() or built.stat().st_mtime < max(source.stat().st_mtime, newest_shared):
            if complaint := clang(*FLAGS, "-include", root / "base" / "libc.h", "-I", root,
                                  "-I", root / "tests", "-c", source, "-o", built):
                sys.exit(f"{source}:\n{complaint}")
        return built

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    linked = work / f"{target}.new"
    if complaint := clang(FUZZER, *WRAP, *objects, "-o", linked):
        sys.exit(complaint)
    linked.rename(work / target)  # the test of another model may be about to execute it


ARENA, CLIENT = 0xa5 << 56, 0x5a << 56  # the target replaces these by addresses
RAW_RESPONSE, WITH_FILE, WITH_CHANNEL = 4, 16, 32
RC, UC, UD, XRC_SEND, XRC_RECV = 2, 3, 4, 9, 10

# IB_USER_VERBS_CMD_...
NUMBERS = {
    "QUERY_DEVICE": 1, "QUERY_PORT": 2, "ALLOC_PD": 3, "DEALLOC_PD": 4, "REG_MR": 9,
    "REREG_MR": 11, "DEREG_MR": 13, "CREATE_COMP_CHANNEL": 17, "CREATE_CQ": 18, "RESIZE_CQ": 19,
    "DESTROY_CQ": 20, "CREATE_QP": 24, "QUERY_QP": 25, "MODIFY_QP": 26, "DESTROY_QP": 27,
    "CREATE_SRQ": 32, "MODIFY_SRQ": 33, "QUERY_SRQ": 34, "DESTROY_SRQ": 35, "OPEN_XRCD": 37,
    "CLOSE_XRCD": 38, "CREATE_XSRQ": 39, "OPEN_QP": 40
}


def command(name, room, layout, *values, part=("", ()), flags=0):
    """One command as the target reads it. @room is in words. @layout and @part, which the provider
    appends, are as for struct, without the response's address."""
    body = struct.pack("<" + layout + part[0], *values, *part[1])
    if not flags & RAW_RESPONSE:
        body = bytes(8) + body
    assert len(body) % 4 == 0
    return bytes([NUMBERS[name], flags, room, len(body) // 4]) + body


class Mlx4:
    """The parts that libmlx4 appends."""

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


DRIVERS = {"connectx3": Mlx4(), "connectx5": Mlx5()}


def create_qp(driver, kind, pd, cq, buffer, srq=None):
    sends, index = (0, 0) if kind == XRC_RECV else (4, buffer >> 14)
    receives = 0 if kind in (XRC_SEND, XRC_RECV) or srq is not None else 4
    return command("CREATE_QP", 8, "Q9I4B", 0, pd, cq, cq, srq or 0, sends, receives, 1,
                   bool(receives), 0, 1, kind, srq is not None, 0,
                   part=driver.qp(buffer, sends, receives, index))


def to_rts(handle, peer, *masks):
    """To INIT, RTR and RTS with these masks."""
    dest = struct.pack("<16xIHH8B", 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    return [
        command("MODIFY_QP", 0, "32s32s7I2H16B", dest, dest, handle, mask, 0, 0, 0, peer, 0xf, 0, 0,
                state, 0, 3, 0, 0, 1, 1, 1, 1, 8, 1, 1, 0, 0, 0, 0, flags=RAW_RESPONSE)
        for state, mask in enumerate(masks, 1)
    ]


def qp_commands(driver):
    """A part that creates QPs of every kind, and a part that connects them."""
    first = driver.first_qp
    return [[  # handles 8 to 14
        create_qp(driver, RC, 0, 2, 0x10000),
        create_qp(driver, UC, 0, 2, 0x14000),
        create_qp(driver, UD, 0, 2, 0x18000),
        create_qp(driver, RC, 0, 3, 0x1c000, srq=4),
        create_qp(driver, XRC_SEND, 0, 2, 0x20000),
        create_qp(driver, XRC_RECV, 5, 0, 0),
        command("OPEN_QP", 8, "QIIB7x", 0, 5, (first + 5) | driver.target_tag, XRC_RECV),
    ], [
        *to_rts(8, first, 0x39, 0x129181, 0x12e01),
        *to_rts(12, first + 5, 0x39, 0x101181, 0x12e01),
        *to_rts(13, first + 4, 0x39, 0x129181, 0x10201),
        *[command("QUERY_QP", 32, "II", handle, 0) for handle in (8, 12, 13)],
    ]]


def usual_commands(driver):
    """The commands of a program that uses every object, in parts. The fuzzer starts from them,
    because it rarely finds them by itself."""
    return [[  # handles: PD 0, MR 1, CQs 2 3, SRQ 4, domains 5 6, XRC SRQ 7
        command("ALLOC_PD", 3, ""),
        command("REG_MR", 3, "QQQII", CLIENT, 65536, CLIENT, 0, 0xf),
        command("CREATE_COMP_CHANNEL", 1, ""),
        command("CREATE_CQ", 4, "QIIiI", 0, 15, 0, -1, 0, part=driver.cq(0x1000)),
        command("CREATE_CQ", 4, "QIIiI", 0, 15, 0, 7, 0, part=driver.cq(0x3000),
                flags=WITH_CHANNEL),
        command("CREATE_SRQ", 6, "QIIII", 0, 0, 7, 1, 0, part=driver.srq(0x5000)),
        command("OPEN_XRCD", 1, "II", 9, 0o100, flags=WITH_FILE),
        command("OPEN_XRCD", 1, "II", 0xffffffff, 0o100),
        command("CREATE_XSRQ", 6, "QIIIIIIII", 0, 1, 0, 7, 1, 0, 0, 5, 2, part=driver.srq(0x7000)),
    ], *qp_commands(driver), [
        command("RESIZE_CQ", 2, "II", 3, 31, part=driver.resize(0x30000)),
        command("QUERY_SRQ", 4, "II", 4, 0),
        command("MODIFY_SRQ", 0, "IIII", 4, 2, 0, 3, flags=RAW_RESPONSE),
        command("REREG_MR", 2, "IIQQQII", 1, 7, CLIENT, 4096, CLIENT, 0, 1),
        command("QUERY_DEVICE", 44, ""),
        command("QUERY_PORT", 10, "B7x", 1),
    ], [
        *[command("DESTROY_QP", 1, "II", handle, 0) for handle in range(14, 7, -1)],
        *[command("DESTROY_SRQ", 1, "II", handle, 0) for handle in (7, 4)],
        *[command("DESTROY_CQ", 2, "II", handle, 0) for handle in (2, 3)],
        *[command("CLOSE_XRCD", 0, "I", handle, flags=RAW_RESPONSE) for handle in (6, 5)],
        command("DEREG_MR", 0, "I", 1, flags=RAW_RESPONSE),
        command("DEALLOC_PD", 0, "I", 0, flags=RAW_RESPONSE),
    ]]


def write_seeds(corpus, model):
    seed = b"\0"
    for number, part in enumerate(usual_commands(DRIVERS[model])):
        seed += b"".join(part)
        (corpus / f"seed-{number}").write_bytes(seed)


def output_of(argv, env, seconds):
    """(exit status, the last lines of the output; on success only the statistics). A program that
    hangs is aborted, and the sanitizer prints where it was."""
    done = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=env, errors="replace",
                            stdin=subprocess.DEVNULL)
    try:
        output, _ = done.communicate(timeout=seconds + 120)
    except subprocess.TimeoutExpired:
        done.send_signal(signal.SIGABRT)
        output, _ = done.communicate(timeout=30)
    lines = output.splitlines()
    if done.returncode < 0:
        lines.append(f"ended by {signal.Signals(-done.returncode).name}")
    if not done.returncode:
        lines = [line for line in lines if line.startswith(("stat::", "Done")) or " were " in line]
    return done.returncode, lines[-60:]


def run(work, target, model):
    corpus = work / f"{'corpus' if SECONDS else 'inputs'}-{target}-{model}"
    findings = work / f"findings-{target}-{model}"
    if not SECONDS:
        shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(exist_ok=True)
    findings.mkdir(exist_ok=True)
    program = work / target
    env = dict(os.environ, SOFTHCA_MODEL=model, ASAN_OPTIONS="detect_leaks=1:handle_abort=1",
               UBSAN_OPTIONS="print_stacktrace=1")
    status = 0
    if target == "commands":
        write_seeds(corpus, model)
        status, lines = output_of([program, *corpus.glob("seed-*")],
                                  dict(env, SOFTHCA_FUZZ_VALID="1"), 0)
    if not status:
        # Without -use_cmp=0 libFuzzer puts addresses into inputs, which differ from run to run.
        limit = [f"-max_total_time={SECONDS}"] if SECONDS else [f"-runs={RUNS}", "-use_cmp=0"]
        # Without -len_control=0 libFuzzer tries inputs shorter than one command for seconds.
        status, lines = output_of([
            program, f"-seed={SEED}", *limit, "-max_len=2048", "-len_control=0", "-timeout=20",
            "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={findings}/", corpus
        ], env, SECONDS)
    lines += [f"to repeat it: SOFTHCA_MODEL={model} {program} {line.split()[-1]}"
              for line in lines if "Test unit written to" in line]
    print("\n".join(lines))
    return 1 if status else 0


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
