#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Measures the emulated HCA, each model of it: latency, bandwidth, and what it costs when nothing
happens.

usage: softhca_speed.py SOFTHCA-COMMAND
Prints a table with the targets; exit status 1 when one is missed, 77 when perftest is not
installed. What other programs do on the machine meanwhile shows: each figure is the median of
several runs, in which the models take turns, and the load is printed with them.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5
IDLE_SECONDS = 5
MODELS = {"connectx3": "mlx4", "connectx5": "mlx5"}

# Server in the background, then the client until it gets through.
PAIR = r"""
port=$1 device=$2; shift 2
"$@" -d ${device}_0 -p $port > "$SOFTHCA_DIR/server.out" 2>&1 & server=$!
for try in $(seq 200); do
    grep -q ":$(printf %04X $port) 00000000.*0A" /proc/net/tcp /proc/net/tcp6 && break
    sleep 0.02
done
timeout 50 "$@" -d ${device}_1 -p $port localhost || { kill $server; exit 1; }
wait $server
"""

HOLDER = r"""
import ctypes, time
v = ctypes.CDLL("libibverbs.so.1")
for function in (v.ibv_get_device_list, v.ibv_open_device, v.ibv_create_cq):
    function.restype = ctypes.c_void_p
v.ibv_open_device.argtypes = [ctypes.c_void_p]
v.ibv_create_cq.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                            ctypes.c_int]
devices = ctypes.cast(v.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))
assert v.ibv_create_cq(v.ibv_open_device(devices[0]), 16, None, None, 0)
print("ready", flush=True)
time.sleep(600)
"""


def perftest(softhca, model, run, *words):
    """Columns of the one line of results."""
    done = subprocess.run([
        softhca, "run", f"--model={model}", "--", "bash", "-c", PAIR, "pair",
        str(19100 + os.getpid() % 500 + run), MODELS[model], *words
    ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    line = re.search(r"^[ \t]*\d+[ \t]+\d+[ \t]+[\d. \t]+$", done.stdout, re.M)
    if done.returncode or not line:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}")
    return line.group().split()


def latency(softhca, model, run):
    """Typical one-way latency in microseconds of 64 byte messages, with events."""
    return float(
        perftest(softhca, model, run, "ib_send_lat", "-F", "-c", "XRC", "-e", "-s", "64", "-n",
                 "2000")[4])


def bandwidth(program, connection):
    def measure(softhca, model, run):
        """Average bandwidth in GB/s of messages of 64 KiB."""
        words = ["-c", connection, "-s", "65536", "-n", "5000", "--report_gbits"]
        return float(perftest(softhca, model, run, program, "-F", *words)[3]) / 8

    return measure


def xrc_against_rc(softhca, model, run):
    """What XRC has of the bandwidth of RC, each at its best of several runs in turn."""
    best = {"RC": 0, "XRC": 0}
    for turn in range(RUNS):
        for connection, so_far in best.items():
            best[connection] = max(
                so_far,
                bandwidth("ib_send_bw", connection)(softhca, model, run * RUNS + turn))
    return best["XRC"] / best["RC"]


def processor_time(pid):
    """Seconds that the process has had, to the nanosecond."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def idle(contexts):
    def measure(softhca, model, run):
        """Per cent of one processor that the daemon takes while @contexts contexts with a CQ do
        nothing."""
        with tempfile.TemporaryDirectory(dir="/tmp") as directory:
            env = dict(os.environ, SOFTHCA_DIR=f"{directory}/d")
            subprocess.run([softhca, "start", f"--model={model}"], env=env, check=True,
                           stdout=subprocess.DEVNULL, timeout=20)
            env["LD_PRELOAD"] = str(pathlib.Path(softhca).parent / "libsofthca.so")
            holders = [
                subprocess.Popen(["/usr/bin/python3", "-c", HOLDER], env=env,
                                 stdout=subprocess.PIPE, text=True) for _ in range(contexts)
            ]
            try:
                for holder in holders:
                    assert holder.stdout.readline() == "ready\n"
                status = subprocess.run([softhca, "status"], env=env, stdout=subprocess.PIPE,
                                        text=True, timeout=20).stdout
                pid = re.search(r"pid (\d+)", status).group(1)
                time.sleep(0.5)
                before, begin = processor_time(pid), time.monotonic()
                time.sleep(IDLE_SECONDS)
                return 100 * (processor_time(pid) - before) / (time.monotonic() - begin)
            finally:
                for holder in holders:
                    holder.kill()
                    holder.wait()
                subprocess.run([softhca, "stop"], env=env, timeout=20)

    return measure


# what, unit, measure, runs, target, whether the target is the most (or the least), how many times
# worse than the first model the others may be
ROWS = (
    ("XRC send, events, 64 bytes: typical latency", "us", latency, RUNS, 60, True, 1.3),
    ("RC RDMA write, 64 KiB: bandwidth", "GB/s", bandwidth("ib_write_bw",
                                                           "RC"), RUNS, 1.5, False, 1.2),
    ("XRC RDMA write, 64 KiB: bandwidth", "GB/s", bandwidth("ib_write_bw",
                                                            "XRC"), RUNS, 1.5, False, 1.2),
    ("RC send, 64 KiB: bandwidth", "GB/s", bandwidth("ib_send_bw", "RC"), RUNS, 1.5, False, 1.2),
    ("XRC send, 64 KiB: bandwidth", "GB/s", bandwidth("ib_send_bw", "XRC"), RUNS, 1.5, False, 1.2),
    ("XRC send against RC send, 64 KiB: bandwidth", "", xrc_against_rc, 1, 0.98, False, None),
    ("idle, no context: processor", "%", idle(0), 1, 0.01, True, None),
    ("idle, 3 contexts: processor", "%", idle(3), 1, 0.5, True, None),
)


def print_model(model, values, unit, target, most):
    """Whether the target is met."""
    median, best = statistics.median(values), (min if most else max)(values)
    good = median <= target if most else median >= target
    print(
        f"    {model:42}{median:9.2f}{best:9.2f}{'<=' if most else '>=':>5}{target:5g} {unit}{'' if good else '  MISSED'}",
        flush=True)
    return good


def print_ratio(first, values, most, limit):
    """How many times worse the other model is; whether that is not too much."""
    ratio = statistics.median(values) / statistics.median(first)
    ratio = ratio if most else 1 / ratio
    good = ratio <= limit
    print(
        f"    {'against the first':42}{ratio:9.2f}{'':9}{'<=':>5}{limit:5g}{'' if good else '  MISSED'}",
        flush=True)
    return good


def measure_row(softhca, what, unit, measure, runs, target, most, limit):
    """The models take turns, so that what else the machine does meets them alike. Whether all
    targets are met."""
    values = {model: [] for model in MODELS}
    for run in range(runs):
        for model in MODELS:
            values[model].append(measure(softhca, model, run))
    print(what)
    good = [print_model(model, values[model], unit, target, most) for model in MODELS]
    first, *others = values.values()
    return all(good + [print_ratio(first, other, most, limit) for other in others if limit])


def main(argv):
    if len(argv) != 2:
        print(__doc__.split("\n")[2], file=sys.stderr)
        return 2
    if not shutil.which("ib_send_lat"):
        print("skipped: perftest is not installed")
        return 77
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before")
    print(f"{'measured':46}{'median':>9}{'best':>9}{'target':>10}")
    good = [measure_row(argv[1], *row) for row in ROWS]
    print(f"load {os.getloadavg()[0]:.1f} after")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
