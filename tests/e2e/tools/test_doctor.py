# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat doctor` finds each problem and prints how to solve it."""

import errno
import json
import os
import pathlib
import re
import shutil

import pytest

import models
from terminal import Terminal
from waiting import read_until

pytestmark = pytest.mark.any_model

LOADER = "/lib64/ld-linux-x86-64.so.2"


def problems(result):
    return [
        line.split(None, 1)[1] for line in result.stdout.splitlines() if line.startswith("PROBLEM")
    ]


def test_a_healthy_machine_has_no_problem_and_has_companions(clean, build_root):
    result = clean("doctor")
    assert (problems(result), result.returncode) == ([], 0)
    notes = re.findall(r"^note +(\w+)", result.stdout, re.M)
    assert notes in ([], ["modules"])  # the adapter is none of this machine
    last = ", but old programs may fail here: see each note" if notes else ""
    assert result.stdout.endswith(f"\nNothing is wrong{last}.\n")
    assert re.search(rf"^ok +companions +libibumad.so.1 and others, in {build_root}/companions$",
                     result.stdout, re.M)


def test_a_file_that_is_no_library_is_named(run, xrc_compat, tmp_path):
    library = tmp_path / "libibverbs.so.1"
    library.write_text(100 * "no library ")
    done = run([xrc_compat, "doctor"], env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert f"the devices cannot be listed: {library}: invalid ELF header" in done.stdout, done


def test_the_rows_have_columns(clean):
    rows = [line for line in clean("doctor").stdout.splitlines()
            if line.startswith(("ok ", "note ", "PROBLEM "))]
    assert len(rows) > 4
    assert [row for row in rows if not re.match(r".{25} \S", row)] == []


@pytest.mark.parametrize("variable, value, where, what, advice", [
    ("XRC_COMPAT_LIBRARY", "/nonexistent/lib.so", "library", "No such file", "XRC_COMPAT_LIBRARY"),
    ("XRC_COMPAT_LIBRARY", "/etc/passwd", "library", "is not a", "XRC_COMPAT_LIBRARY"),
    ("FAKE_DEVICES", "", "devices", "there is no RDMA device", "load the kernel's driver"),
    ("FAKE_DEVICES", "rxe0", "devices", "none of 1 has XRC: rxe0 (fake)",
     "softhca --machines=HOSTFILE"),
    ("FAKE_DEVICES", "mlx5_9", "devices", "mlx5_9 cannot be opened", "permissions"),
    ("FAKE_DEVICES", "mlx5_8", "devices", "mlx5_8 cannot be queried: Input/output", "dmesg"),
    ("FAKE_XRCD_ERRNO", str(errno.EOPNOTSUPP), "devices", "none of 1 has XRC: mlx4_0 (fake)",
     "no XRC in the provider"),
    ("FAKE_XRCD_ERRNO", str(errno.EPERM), "devices",
     "mlx4_0 cannot open an XRC domain: Operation not permitted", "dmesg"),
    ("FAKE_DEVICES", "crash", "devices", "cannot be listed", "ibv_devinfo"),
    ("FAKE_DEVICES", "refused", "devices", "cannot be listed: No such file", "ibv_devinfo"),
    ("XRC_COMPAT_TABLE_DIR", "/tmp", "variables", "TABLE_DIR is set, but nothing of xrc-compat reads it", "--help"),
    ("XRC_COMPAT_VERBSE", "1", "variables", "XRC_COMPAT_VERBSE is set, but nothing", "--help"),
    ("SOFTHCA_DIRECTORY", "x", "variables", "SOFTHCA_DIRECTORY", "--help"),
])
def test_each_problem_is_found_alone_and_with_advice(clean, variable, value, where, what, advice):
    result = clean("doctor", **{variable: value})
    [problem] = problems(result)
    assert problem.startswith(where) and what in problem
    assert advice in result.stdout
    assert result.returncode == 1


def test_a_relative_library_in_a_removed_directory_is_a_problem(run, xrc_compat, tmp_path):
    script = 'mkdir gone && cd gone && rmdir ../gone && XRC_COMPAT_LIBRARY=x.so exec "$0" doctor'
    result = run(["sh", "-c", script, xrc_compat], cwd=tmp_path)
    assert result.returncode == 1 and problems(result)[0].startswith("library ")


@pytest.mark.skipif(not os.path.exists(LOADER),
                    reason="the test knows the value of $LIB only on x86-64")
@pytest.mark.parametrize("token", ["$LIB", "${LIB}", ""])
def test_a_missing_preload_is_a_problem_and_lib_is_expanded(clean, fakes, probe, tmp_path, token):
    """`xrc-compat env` and `run` put $LIB into LD_PRELOAD if the 32-bit and the 64-bit library are
    both installed."""
    lib = re.sub("^/(usr/)?", "", os.path.dirname(os.path.realpath(LOADER)))
    (tmp_path / lib).mkdir(parents=True)
    shutil.copy(probe, tmp_path / lib / "libours.so")
    given = f"{fakes['LD_PRELOAD']}:{tmp_path}/{token or lib}"
    for word in (f"{given}/libours.so", f"{fakes['LD_PRELOAD']} $ORIGIN/lib.so"):
        assert problems(clean("doctor", LD_PRELOAD=word)) == []
    [problem] = problems(clean("doctor", LD_PRELOAD=f"{given}/libold.so"))
    assert problem.startswith("LD_PRELOAD")
    assert f"{tmp_path}/{lib}/libold.so in LD_PRELOAD" in problem


# ---- devices and ports ----

def rows_of(result):
    return {row["what"]: row for row in json.loads(result.stdout)["rows"]}


def test_one_line_for_each_device(run, softhca, xrc_compat, model):
    """Name, driver, firmware, and each port's state, LID and link layer."""
    result = run([softhca, "run", "--devices=2", "--", xrc_compat, "doctor"])
    driver, firmware = models.driver(), r"\d+\.\d+\.\d+"
    lines = re.findall(rf"^ok       ({driver}_\d)  +(.*)$", result.stdout, re.M)
    assert [name for name, _ in lines] == [f"{driver}_0", f"{driver}_1"]
    for _, text in lines:
        assert re.fullmatch(
            rf"{driver}, firmware {firmware}, XRC; port 1 ACTIVE, LID \d+, InfiniBand", text), text


def test_ports_that_are_down_are_a_problem(run, softhca, xrc_compat):
    script = '"$0" ctl port "$2"_0 1 down && "$1" doctor --json'
    result = run([
        softhca, "run", "--devices=1", "--", "sh", "-c", script, softhca, xrc_compat,
        models.driver()
    ])
    rows, document = rows_of(result), json.loads(result.stdout)
    assert rows["ports"]["verdict"] == "problem" and rows["devices"]["verdict"] == "ok"
    assert result.returncode == 1
    assert document["problems"] == sum(row["verdict"] == "problem" for row in document["rows"])
    assert rows["ports"]["text"] == f"no port is ACTIVE; port 1 of {models.driver()}_0 is DOWN"
    assert "cable" in rows["ports"]["advice"]
    [device] = document["devices"]
    port = device["ports"][0]
    assert (port["state"], port["phys_state"], port["link_layer"]) == ("DOWN", 2, "InfiniBand")


@pytest.mark.parametrize("port, says", [
    ("2,5,0,1", "no subnet manager"),
    ("3,5,7,1", "no subnet manager"),
    ("1,2,0,1", "finds no other end"),
    ("1,3,0,1", "is disabled"),
    ("1,3,0,2", "ip link set"),
    ("4,5,0,2", "address by GID"),
    ("4,5,7,1", None),  # one active port is enough
])
def test_the_likely_reason_why_no_port_is_active(clean, port, says):
    result = clean("doctor", "--json", FAKE_PORT=port)
    advice = rows_of(result).get("ports", {"advice": None})["advice"]
    assert says in advice if says else advice is None


def test_the_modules_that_hp_mpi_looks_for_are_listed_or_a_note(clean, run, softhca, xrc_compat):
    row = rows_of(run([softhca, "run", "--", xrc_compat, "doctor", "--json"]))["modules"]
    assert (row["verdict"], row["text"]) == ("ok", "lsmod lists ib_core")
    modules = pathlib.Path("/proc/modules")
    if modules.exists() and "\nib_core " in "\n" + modules.read_text():
        pytest.skip("this machine has the module")
    row = rows_of(clean("doctor", "--json"))["modules"]
    assert (row["verdict"], row["text"]) == ("note", "lsmod does not list ib_core")
    assert "modprobe ib_uverbs" in row["advice"] and "MPI_HASIC_IBV=1" in row["advice"]


def test_a_renamed_device_is_a_note_with_the_udev_rule(clean):
    result = clean("doctor", "--json", FAKE_DEVICES="ibp3s0")
    row = rows_of(result)["device names"]
    assert row["verdict"] == "note" and result.returncode == 0
    assert "udev has renamed ibp3s0" in row["text"] and "_0 do not find it" in row["text"]
    assert 'PROGRAM="rdma_rename %k NAME_KERNEL"' in row["advice"]
    assert "rdma dev set ibp3s0 name " in row["advice"]


def test_a_kernel_that_shares_no_receive_qps_is_a_note(clean):
    """qedr before Linux 5.11."""
    result = clean("doctor", "--json", FAKE_DEVICES="qedr0")
    row, [device] = rows_of(result)["qedr0"], json.loads(result.stdout)["devices"]
    assert (row["verdict"], device["open_qp"], result.returncode) == ("note", False, 0)
    assert "without sharing of receive QPs" in row["text"] and "Linux 5.11" in row["advice"]
    assert clean("doctor", FAKE_DEVICES="qedr0").stdout.endswith("here: see each note.\n")


def test_a_process_that_can_make_no_table_is_a_note(clean):
    """Programs run without it."""
    result = clean("doctor", before=["prlimit", "--fsize=4096"])
    assert re.search(r"^note +table +a process cannot make a registration table: File too large$",
                     result.stdout, re.M)
    assert "ulimit -f" in result.stdout and result.returncode == 0


def test_the_limit_of_locked_memory_is_told(clean):
    """Root may lock more, so it is no problem for root."""
    result = clean("doctor", before=["prlimit", "--memlock=65536:65536"])
    assert re.search(r"^\w+ +locked memory +64 KiB may be locked$", result.stdout, re.M), result


@pytest.mark.parametrize("name, release", [
    ("libibverbs.so.1.5.22.4", r"rdma-core 22"), ("libibverbs.so.1.1.17", r"rdma-core 17"),
    ("libibverbs.so.1.14.99.0", r"rdma-core 99"),  # a later release needs no change of doctor
    ("libibverbs.so.1", r"rdma-core \d+ or later, its file name does not tell")
])
def test_the_release_of_a_libibverbs_is_named(run, xrc_compat, real_library, tmp_path, name,
                                              release):
    shutil.copy(os.path.realpath(real_library), tmp_path / name)
    if name != "libibverbs.so.1":
        (tmp_path / "libibverbs.so.1").symlink_to(name)
    text = run([xrc_compat, "doctor"], env={"LD_LIBRARY_PATH": str(tmp_path)}).stdout
    assert re.search(rf"^ok +LD_LIBRARY_PATH +{tmp_path}/{name}, {release}$", text, re.M), text
    assert re.search(rf"^ok +libibverbs +{os.path.realpath(real_library)}, rdma-core \d+", text, re.M)


def test_root_of_a_user_namespace_may_not_lock_all_memory(clean, run):
    if run(["unshare", "-r", "true"]).returncode:
        pytest.skip("no user namespaces here")
    inside = ["unshare", "-r", "sh", "-c", 'ulimit -l 64 && exec "$@"', "sh"]
    [problem] = problems(clean("doctor", before=inside))
    assert problem.startswith("locked memory")


# ---- how it is printed ----

def test_the_text_fits_80_columns_and_marks_problems(softhca, xrc_compat, tmp_path):
    """No word is broken, and a problem is marked unless NO_COLOR is set."""
    argv = [str(softhca), "run", "--devices=1", "--", str(xrc_compat), "doctor"]
    for no_color in ("", "1"):
        env = dict(os.environ, TERM="xterm", NO_COLOR=no_color,
                   XRC_COMPAT_LIBRARY="/nonexistent/directory/library.so", LD_PRELOAD="")
        with Terminal(argv, 24, 80, env) as terminal:
            text = read_until(terminal.ours, re.compile(rb"Take the problems.*\n").search)
        plain = re.sub(r"\x1b\[[\d;]*m", "", text)
        # A path that is longer than the column stands alone.
        assert all(
            len(line) <= 80 or len(line.split()[-1]) > 50
            for line in plain.replace("\r", "").splitlines()), plain
        assert ("\x1b[1;31mPROBLEM\x1b[0m" in text) == (not no_color)
        assert "install xrc-compat completely" in re.sub(r"\s+", " ", plain)
