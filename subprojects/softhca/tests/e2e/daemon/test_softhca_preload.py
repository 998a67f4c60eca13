# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The preloaded library beside sanitizers and an allocator, what it shows at which path, and what
it and the command say without a daemon."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

import models
from bare_verbs import script
from built import PROGRAMS
from installed import need, need_sanitizers
from waiting import stop, wait_for_the_end

pytestmark = pytest.mark.any_model

SOURCES = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_program_with_a_sanitizer(run, softhca, tmp_path, sanitizer):
    """AddressSanitizer wants to be the first library, which the preloaded one is."""
    need_sanitizers(sanitizer)
    program = tmp_path / "program"
    root = SOURCES.parents[1]
    sources = [*(SOURCES / name for name in ("data/data_path.c", "pair.c", "rig.c",
                                               "rig_must.c")),
               *(root / "tests" / "harness" / name for name in ("row.c", "rows_main.c"))]
    subprocess.run(["gcc", "-O1", "-D_GNU_SOURCE", f"-fsanitize={sanitizer}", f"-I{root}",
                    f"-I{root}/tests", *sources, "-o", program, "-libverbs", "-ldl"], check=True)
    done = run([softhca, "run", "--", program, "a fenced read returns what was written before"],
               env={"ASAN_OPTIONS": "detect_leaks=0"}, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                    reason="the sanitizer has an allocator of its own")
def test_program_with_an_allocator_that_maps_memory(passes):
    passes([], "allocator")


# ---- paths ----


def test_adapters_are_listed_in_the_order_of_their_numbers(below):
    need("ibv_devices")
    listing = below(["--devices=12"], "ibv_devices").stdout.splitlines()[2:]
    assert [line.split()[0] for line in listing] == [*map(models.device, range(12))]


@pytest.mark.parametrize("end", ["", "/", "//"])
def test_the_list_of_adapters_is_that_of_the_host(below, end):
    need("perl")
    done = below(["--devices=3"], "perl", "-e", "opendir L, shift; print join(' ', readdir L)",
                 f"/sys/class/infiniband_verbs{end}", env={"SOFTHCA_HOST": models.device(2)})
    assert [name for name in done.stdout.split() if "uverbs" in name] == ["uverbs2"]


def test_the_list_of_adapters_begins_anew(below):
    need("perl")
    done = below([], "perl", "-e", "opendir L, shift; print join(' ', readdir L), ' '; rewinddir L; "
                 "print join(' ', readdir L)", "/sys/class/infiniband_verbs")
    names = done.stdout.split()
    assert {"uverbs0", "uverbs1"} < set(names) and names == 2 * names[:len(names) // 2]


def test_a_setting_of_libmlx5_by_the_user_stays(below):
    lines = below([], "env", env={"MLX_QP_ALLOC_TYPE": "ANON"}).stdout.splitlines()
    assert "MLX_QP_ALLOC_TYPE=ANON" in lines and "MLX_CQ_ALLOC_TYPE=PREFER_CONTIG" in lines


def test_the_child_of_a_program_that_maps_no_rings_asks_for_them(below):
    """UCX in its parent has replaced mmap(), so that the setting has lost its first letter."""
    done = below([], "env", env={"MLX_QP_ALLOC_TYPE": "-REFER_CONTIG"})
    assert "MLX_QP_ALLOC_TYPE=PREFER_CONTIG" in done.stdout.splitlines()


def test_a_program_maps_one_doorbell_page(run, daemon):
    """BlueFlame and the clock would be further pages."""
    done = run(script("""
import mmap, os
fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
mmap.mmap(fd, 4096)
try:
    mmap.mmap(fd, 8192)
except OSError as error:
    assert error.errno == 22
else:
    raise SystemExit("two pages")
"""))
    assert done.returncode == 0, done.stderr


@pytest.mark.on_model("connectx3", "connectx5")
def test_a_uverbs_device_links_to_the_pci_device(below):
    """libibverbs of rdma-core 17 to 27 finds the provider by the modalias there."""
    out = below([], "sh", "-c", 'cd /sys/class/infiniband_verbs/uverbs1 && test -L device && '
                'cat device/modalias device/vendor device/device && ls device/infiniband')
    modalias, vendor, part, name = out.stdout.split()
    assert name == models.device(1) and vendor == "0x15b3"
    assert modalias.startswith(f"pci:v0000{vendor[2:].upper()}d0000{part[2:].upper()}sv")


def test_other_device_classes_are_the_kernels(run, daemon):
    """Their names begin as those that the emulator shows."""
    for name in ("infiniband_mad", "infiniband_verbs2"):
        (daemon.directory / "sys" / "class" / name).mkdir()
    listing = ["/usr/bin/python3", "-c", "import os; print(os.listdir('/sys/class'), *("
               "os.path.exists('/sys/class/infiniband' + end) for end in ('_mad', '_verbs2')))"]
    assert run(listing).stdout == run(listing, env={"LD_PRELOAD": ""}).stdout != ""


@pytest.mark.parametrize("name", ["uverbs0x", "uverbs256", "uverbs-1", "uverbs2"])
def test_another_name_is_not_a_device(run, daemon, name):
    done = run(["/usr/bin/python3", "-c", "import os, sys; print(os.access(sys.argv[1], os.F_OK), "
                "os.path.exists(sys.argv[1])); os.open(sys.argv[1], os.O_RDWR)",
                f"/dev/infiniband/{name}"])
    assert done.returncode == 1 and "FileNotFoundError" in done.stderr, done.stderr
    assert done.stdout == "False False\n"


# ---- no daemon ----

DEVICES = "import ctypes\nv = library()\nv.ibv_get_device_list(None)\nv.ibv_get_device_list(None)"


def make_open_directory(place):
    place.mkdir()
    place.chmod(0o755)


@pytest.mark.parametrize("make, words", [
    (lambda place: None, "; 'softhca start' starts one\n"),
    (make_open_directory, "or open to others; name another directory with SOFTHCA_DIR\n"),
    (lambda place: place.touch(), ": Not a directory\n"),
], ids=["nothing", "open", "file"])
def test_one_message_without_a_daemon(run, softhca, tmp_path, make, words):
    place = tmp_path / "d"
    make(place)
    env = {"SOFTHCA_DIR": str(place), "LD_PRELOAD": str(softhca.parent / "libsofthca.so")}
    done = run(script(DEVICES), env=env)
    assert done.stderr.count("\n") == 1 and words in done.stderr
    # A program that does not look for adapters gets no message.
    assert run(["true"], env=env).stderr == ""
    status = run([softhca, "status"], env={"SOFTHCA_DIR": str(place)})
    assert status.returncode == 1 and words in status.stderr


@pytest.mark.on_model("connectx3", "connectx5")
@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_statx_may_be_refused(below, error):
    """Containers of older Docker refuse it, and older kernels lack it."""
    need("strace")
    done = below([], "strace", "-f", "-qq", "-o/dev/null", "-etrace=statx",
                 f"-einject=statx:error={error}", PROGRAMS / "softhca-completions",
                 "one event per arming")
    assert done.stderr == ""


def test_one_message_after_the_daemon_was_killed(run, daemon):
    daemon.kill()
    done = run(script("assert not any(map(v.ibv_open_device, v.ibv_get_device_list(None)[:2]))"))
    assert done.returncode == 0 and done.stderr.count("has ended without a word") == 1, done.stderr


@pytest.mark.parametrize("words", ["status", "stop", "ctl objects"])
def test_a_stopped_daemon_does_not_answer(run, daemon, words):
    stop(daemon.pid)
    began = time.monotonic()
    try:
        done = run([daemon.softhca, *words.split()], env={"LD_PRELOAD": ""}, timeout=60)
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    assert done.returncode == 1 and "does not answer; is it stopped?" in done.stderr
    assert time.monotonic() - began < 8
    if words == "stop":
        wait_for_the_end(daemon.pid)  # it has read the request now
        daemon.ended = True
