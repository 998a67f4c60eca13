# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that look for an adapter by files find one in /dev/infiniband and /sys."""

import os
import re

import pytest

import models
from installed import need

SYSTEM_PYTHON = "/usr/bin/python3"
ADAPTERS = "/sys/class/infiniband"
NODES = ["rdma_cm", "uverbs0", "uverbs1"]
NODE_PATHS = [f"/dev/infiniband/{name}" for name in NODES]
PCI = "/sys/devices/pci5000:00/5000:00:01.0"

# {shell command: the words of its output}; ADAPTER is the second one.
FOUND = {
    "ls /dev/infiniband": NODES,
    "ls /dev/infiniband/*": NODE_PATHS,
    "echo /dev/infiniband/*": NODE_PATHS,
    "bash -c 'echo /dev/infiniband/u*'": NODE_PATHS[1:],
    "find /dev/infiniband | sort": ["/dev/infiniband", *NODE_PATHS],
    "find /dev/infiniband -type c | sort": NODE_PATHS,
    "cd /dev/infiniband && stat -c '%F %t:%T' *":
        "character special file a:3a character special file e7:c0 character special file e7:c1"
        .split(),
    "for t in e c r w; do test -$t /dev/infiniband/uverbs1 && echo $t; done": list("ecrw"),
    "bash -c 'for t in e c r w; do test -$t /dev/infiniband/rdma_cm && echo $t; done'":
        list("ecrw"),
    "test -e /dev/infiniband/uverbs2 || echo none": ["none"],
    f"ls {ADAPTERS}": ["ADAPTER0", "ADAPTER"],
    f"find {ADAPTERS} | sort": [ADAPTERS, f"{ADAPTERS}/ADAPTER0", f"{ADAPTERS}/ADAPTER"],
    f"find {ADAPTERS}/*/ -name node_type":
        [f"{ADAPTERS}/ADAPTER0/node_type", f"{ADAPTERS}/ADAPTER/node_type"],
    f"cp {ADAPTERS}/ADAPTER/node_type copy && cat copy": ["1:", "CA"],
    f"cp -rL {ADAPTERS}/ADAPTER/ports/1/gid_attrs . && cat gid_attrs/types/0":
        ["IB/RoCE", "v1"],
    f"tar -Pcf - {ADAPTERS} | tar -Pt | sort":
        [f"{ADAPTERS}/", f"{ADAPTERS}/ADAPTER0", f"{ADAPTERS}/ADAPTER"],
    f"grep -rh . {ADAPTERS}/ADAPTER/node_type": ["1:", "CA"],
    f"head -1 {ADAPTERS}/*/node_type | grep -c CA": ["2"],
    f"readlink -f {ADAPTERS}/ADAPTER/device": [PCI],
    f"realpath {ADAPTERS}/ADAPTER": [f"{PCI}/infiniband/ADAPTER"],
    f"cd {ADAPTERS}/ADAPTER/device && /bin/pwd && ls infiniband infiniband_verbs":
        [PCI, "infiniband:", "ADAPTER", "infiniband_verbs:", "uverbs1"],
    f"basename $(readlink {ADAPTERS}/ADAPTER/device/driver)": ["DRIVER_core"],
    f"cat {PCI}/vendor /sys/bus/pci/devices/5000:00:01.0/vendor": ["0x15b3"] * 2,
    "realpath /sys/class/pci_bus/5000:00/../../5000:00:01.0": [PCI],
    f"cat {ADAPTERS}/../../{PCI[5:]}/vendor": ["0x15b3"],
    "cat /dev/infiniband/../null && ls /dev/infiniband/.. | grep -x null": ["null"],
    f"ls {ADAPTERS}/../net | grep -x lo": ["lo"],
    "for d in module bus/pci class/pci_bus; do ls /sys/$d >1; ls /sys/$d/ | cmp - 1; done": [],
    "ls -d /sys/bus/pci/devices/5000*": [
        "/sys/bus/pci/devices/5000:00:00.0", "/sys/bus/pci/devices/5000:00:01.0"],
    "cat /sys/class/infiniband_verbs/uverbs1/dev /sys/class/misc/rdma_cm/dev":
        ["231:193", "10:58"],
}


@pytest.mark.parametrize("command", FOUND)
def test_commands_find_the_adapters(below, tmp_path, command):
    def named(text):
        return (text.replace("ADAPTER0", models.device(0)).replace("ADAPTER", models.device(1))
                .replace("DRIVER", models.driver()))
    done = below([], "sh", "-c", named(command), cwd=tmp_path)
    assert (done.stdout.split(), done.stderr) == ([*map(named, FOUND[command])], "")


def test_ls_shows_devices_and_links(below):
    """ls(1) asks for the attributes of each entry, too."""
    done = below([], "ls", "-l", "/dev/infiniband", f"{ADAPTERS}/")
    assert done.stderr == ""
    assert re.findall(r"^crw-rw-rw- .* (\d+), +(\d+) .* (\w+)$", done.stdout, re.M) == [
        ("10", "58", "rdma_cm"), ("231", "192", "uverbs0"), ("231", "193", "uverbs1")]
    assert re.findall(r"^l.* (\w+) -> ../../devices/(.*)$", done.stdout, re.M) == [
        (models.device(i), f"pci5000:00/5000:00:0{i}.0/infiniband/{models.device(i)}")
        for i in range(2)]


PYTHON = """
import ctypes, glob, os, pathlib, shutil, stat
ADAPTERS = "/sys/class/infiniband"
nodes = sorted(os.listdir("/dev/infiniband"))
print(*nodes)
for entry in os.scandir("/dev/infiniband"):
    assert stat.S_ISCHR(entry.stat().st_mode) and not entry.is_file()
print(*sorted(glob.glob(f"{ADAPTERS}/*/ports/1/state")))
print(*sorted(map(str, pathlib.Path(ADAPTERS).glob("*/fw_ver"))))
print(pathlib.Path(ADAPTERS, os.listdir(ADAPTERS)[0], "device").resolve().parent)
port = os.path.join(ADAPTERS, os.listdir(ADAPTERS)[0], "ports", "1")
print(*sorted(os.path.relpath(root, port) for root, dirs, files in os.walk(port)))
shutil.copy(glob.glob(f"{ADAPTERS}/*/node_type")[0], "copy")
print(open("copy").read().strip())
os.chdir("/dev/infiniband")
print(os.getcwd())
fd = os.open("uverbs1", os.O_RDWR)
assert os.fstat(fd) == os.stat("uverbs1") != os.stat("uverbs0")
assert os.fstat(fd).st_rdev == os.makedev(231, 193)
assert stat.S_ISCHR(os.fstat(fd).st_mode)
def statx(fd, path):
    st, EMPTY_PATH, ALL = ctypes.create_string_buffer(256), 0x1000, 0x7ff
    assert not ctypes.CDLL(None).statx(fd, path, EMPTY_PATH, ALL, st)
    return st.raw
assert statx(fd, b"") == statx(-100, b"uverbs1") != statx(-100, b"uverbs0")
os.open("rdma_cm", os.O_RDWR, dir_fd=os.open("/dev/infiniband", os.O_RDONLY))
"""


def test_python_finds_the_adapters(below, tmp_path):
    done = below([], SYSTEM_PYTHON, "-c", PYTHON, cwd=tmp_path)
    states, firmware = ([f"{ADAPTERS}/{models.device(i)}/{name}" for i in range(2)]
                        for name in ("ports/1/state", "fw_ver"))
    assert done.stdout.splitlines() == [" ".join(NODES), " ".join(states), " ".join(firmware),
                                        "/sys/devices/pci5000:00",
                                        ". gid_attrs gid_attrs/types gids pkeys", "1: CA",
                                        "/dev/infiniband"]


@pytest.mark.any_model
def test_a_descriptor_stays_a_devices_after_the_daemons_end(below, softhca):
    below([], SYSTEM_PYTHON, "-c", """
import os, stat, subprocess, sys
fd = os.open("/dev/infiniband/uverbs1", os.O_RDWR)
subprocess.run([sys.argv[1], "stop"], check=True)
assert stat.S_ISCHR(os.fstat(fd).st_mode) and os.fstat(fd).st_rdev == os.makedev(231, 193)
""", softhca)


def test_programs_with_fortify_find_the_adapters(below):
    """Functions that they call in place of readlink(), readlinkat() and getcwd()."""
    done = below([], SYSTEM_PYTHON, "-c", """
import ctypes, os, sys
libc, path, room = ctypes.CDLL(None), sys.argv[1].encode(), ctypes.create_string_buffer(4096)
for function, directory in ((libc.__readlink_chk, []), (libc.__readlinkat_chk, [-100])):
    size = ctypes.c_size_t(len(room))
    print(room[:function(*directory, path, room, size, size)].decode())
os.chdir(path)
assert libc.__getcwd_chk(room, size, size)
print(room.value.decode())
""", f"{ADAPTERS}/{models.device(1)}")
    place = f"{PCI[5:]}/infiniband/{models.device(1)}"
    assert done.stdout.split() == [f"../../{place}"] * 2 + [f"/sys/{place}"]


def test_the_pci_device_has_what_nccl_and_ucx_read(below):
    names = ("class", "numa_node", "local_cpulist", "max_link_speed", "max_link_width", "uevent")
    done = below([], "sh", "-c", f"cd {ADAPTERS}/{models.device(1)}/device && head -n9 "
                 + " ".join(names))
    texts = dict(re.findall(r"==> (\w+) <==\n(.*?)\n(?=\n|$)", done.stdout + "\n", re.S))
    assert texts["class"] == {"mlx4": "0x028000", "mlx5": "0x020000"}[models.driver()]
    node = "/sys/devices/system/node/node0/cpulist"
    here = [open(node).read().strip(), "0"] if os.path.exists(node) else ["", "-1"]
    assert [texts["local_cpulist"], texts["numa_node"]] == here
    assert texts["max_link_speed"].endswith("GT/s PCIe") and texts["max_link_width"] == "8"
    assert "PCI_SLOT_NAME=5000:00:01.0" in texts["uevent"].splitlines()


def test_ucx_names_the_adapter_as_the_system_device(below):
    """UCX finds it by its PCI address."""
    need("ucx_info")
    adapter = models.device(0)
    out = below([], "ucx_info", "-d", env={"UCX_NET_DEVICES": f"{adapter}:1"}).stdout
    assert f"System device: {adapter} (" in out


def test_hwloc_shows_the_adapters(below):
    need("hwloc-ls")
    out = below([], "hwloc-ls", "--of", "console", "--no-caches").stdout
    for index in range(2):
        assert f'OpenFabrics "{models.device(index)}"' in out, out
        assert f"PCI 5000:00:0{index}.0" in out, out


@pytest.mark.any_model
def test_a_daemon_below_another_has_devices_of_its_own(below, softhca):
    listed = below([], softhca, "run", "--devices=3", "--", "ls", "/sys/class/infiniband")
    assert len(listed.stdout.split()) == 3


@pytest.mark.any_model
def test_the_machines_pci_devices_are_listed_too(below):
    """A link leads to each."""
    place = "/sys/bus/pci/devices"
    if not os.path.isdir(place):
        pytest.skip("this machine has no PCI bus")
    own = sorted(os.listdir(place))
    listed = below([], "ls", place).stdout.split()
    assert sorted(set(listed) - {"5000:00:00.0", "5000:00:01.0"}) == own
    for name in own:
        assert below([], "readlink", "-f", f"{place}/{name}").stdout.strip() == os.path.realpath(
            f"{place}/{name}")


def test_lspci_lists_the_adapters_beside_the_machines_devices(run, below):
    need("lspci")
    out = below([], "lspci", "-nk").stdout
    part = {"mlx4": "1003", "mlx5": "1017"}[models.driver()]
    for index in range(2):
        assert re.search(rf"^5000:00:0{index}.0 .*15b3:{part}\n(\t.*\n)*\tKernel driver in use: "
                         rf"{models.driver()}_core$", out, re.M), out
    assert run(["lspci", "-n"]).stdout.splitlines()[0].split(" ", 1)[1] in out


def test_scripts_of_the_distribution_find_the_adapters(below):
    need("ibstatus")
    assert below([], "ibstatus", models.device(1)).stdout.startswith(
        f"Infiniband device '{models.device(1)}' port 1 status:")


@pytest.mark.any_model
def test_ordinary_sockets_stay_sockets(run, daemon):
    """Also in the daemon's own file system."""
    done = run([SYSTEM_PYTHON, "-c", """
import os, socket, stat, sys
with socket.socket(socket.AF_UNIX) as own:
    own.bind(sys.argv[1])
    for st in (os.stat(sys.argv[1]), os.fstat(own.fileno())):
        print(stat.S_ISSOCK(st.st_mode))
try:
    open(sys.argv[1])
except OSError as error:
    print(error.errno)
""", str(daemon.scratch / "own")])
    assert done.stdout.split() == ["True", "True", "6"], done


@pytest.mark.any_model
def test_ordinary_paths_take_no_system_call_more(run, daemon, tmp_path):
    need("strace")
    def calls(**env):
        """From the look at one file to that at another."""
        log = tmp_path / "calls"
        words = [f"-E{name}={value}" for name, value in env.items()]
        done = run(["strace", "-qq", "-o", log, *words, "stat", "-c%s", "/etc/passwd",
                    "/etc/group"], env={"LD_PRELOAD": ""})
        assert done.returncode == 0, done.stderr
        return log.read_text().rsplit('"/etc/passwd"', 1)[1].split('"/etc/group"')[0].count("\n")
    assert calls(LD_PRELOAD=daemon.preload) == calls() > 0
