# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat check` and `ps --core` on damaged files. They end with a documented status and print
only text and JSON.

XRC_COMPAT_FUZZ_RUNS: how many files for each (default 150). XRC_COMPAT_FUZZ_SEED: the seed of the
first one (default 1); "fresh" takes the clock. The seed alone determines a damaged program. For a
core file it determines only the damage: each run has a new core file.
"""

import contextlib
import json
import os
import random
import subprocess
import time

RUNS = int(os.environ.get("XRC_COMPAT_FUZZ_RUNS", "150"))
SEED = int(os.environ.get("XRC_COMPAT_FUZZ_SEED", "1").replace("fresh", str(int(time.time()))))
WORDS = [
    b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0", b"\x1b[2J"
]


def damaged(data, meaningful, dice):
    """The data with some bytes changed, mostly at the offsets @meaningful. A tenth is truncated."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 2, 4, 16, 64))):
        at = dice.choice(meaningful) if dice.random() < 0.8 else dice.randrange(len(data))
        word = dice.choice(WORDS) if dice.random() < 0.5 else dice.randbytes(dice.choice((1, 1, 4)))
        data[at:at + len(word)] = word[:len(data) - at]
    return bytes(data[:dice.randrange(len(data))] if dice.random() < 0.1 else data)


def outcome(argv, env):
    """(status, stdout) of a command. It fails if the command hangs or crashes, or prints control
    characters or no UTF-8."""
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, env=dict(os.environ, **env))
    for text in (done.stdout.decode("utf-8"), done.stderr.decode("utf-8")):
        wrong = {c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0}
        assert not wrong, (wrong, text)
        assert len(text) < 16 << 20, "floods the terminal"
    assert done.returncode >= 0, done
    return done.returncode, done.stdout.decode()


@contextlib.contextmanager
def repeatable(seed):
    """Adds to a failure how to repeat it."""
    try:
        yield
    except (AssertionError, ValueError, subprocess.TimeoutExpired) as error:
        command = f'XRC_COMPAT_FUZZ_SEED={seed} XRC_COMPAT_FUZZ_RUNS=1 meson test -C build "tools fuzz"'
        raise AssertionError(f"{error}\nto repeat it: {command}") from error


def each_damaged(originals):
    """(seed, name, contents) of each damaged file."""
    # The commands rarely read fields that are zero.
    meaningful = {name: [i for i, byte in enumerate(data) if byte] for name, data in originals}
    for seed in range(SEED, SEED + RUNS):
        dice = random.Random(seed)
        name, data = dice.choice(originals)
        yield seed, name, damaged(data, meaningful[name], dice)


CHECK_STATUSES = {0, 1, 2, 3, 4, 5, 125, 126, 127}


def check_as_json(xrc_compat, words, env):
    """The status of `check --json`, which is documented and also in its JSON."""
    status, text = outcome([xrc_compat, "check", "--json", *words], env)
    assert status in CHECK_STATUSES and json.loads(text)["exit_status"] == status
    return status


def test_check(xrc_compat, build_root, probe, fakes, tmp_path):
    env = {**fakes, "FAKE_DEVICES": "mlx4_0", "LD_LIBRARY_PATH": ""}
    legacy = build_root / "tests" / "e2e" / "door" / "linked-lazy"
    originals = [(path.name, path.read_bytes()) for path in (legacy, probe)]
    program = tmp_path / "program"
    statuses = set()
    for seed, name, data in each_damaged(originals):
        program.write_bytes(data)
        program.chmod(0o755)
        words = [program] if name == legacy.name else [legacy, "--plugin", program]
        with repeatable(seed):
            # The loader reads outside of some damaged files. Whether it crashes depends on the
            # addresses that the kernel chose: on some files, in one of 80 runs.
            assert any((status := check_as_json(xrc_compat, words, env)) == outcome(
                [xrc_compat, "check", *words], env)[0] for _ in range(3))
            statuses.add(status)
    assert RUNS < 20 or len(statuses) >= 3, "nearly every file was refused for one reason"


def test_core_files(xrc_compat, by_libdw, cores):
    """The damage is in the headers and notes, which stand first."""
    subprocess.run(["sh", "-c", "kill -SEGV $$"], check=False, **cores.options)
    core = cores.only()
    data = core.read_bytes()
    statuses = set()
    for seed, _, head in each_damaged([("core", data[:8192])]):
        core.write_bytes(head + data[8192:])
        with repeatable(seed):
            statuses.add(outcome([xrc_compat, "ps", "--core", core], {"PATH": ""})[0])
    assert statuses <= {0, 125} and (RUNS < 20 or len(statuses) == 2), statuses
