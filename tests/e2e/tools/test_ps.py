# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat ps` shows the registrations of an old program, and refuses files that only have the
name of a table. `gc` says that there is nothing to collect."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import models
from holder import HIDE, QPS, Holder, expected, pairs, registrations

pytestmark = pytest.mark.any_model


def test_one_line_per_registration_as_the_program_made_them(holder, tool):
    rows = registrations(tool, holder)
    assert len(rows) == QPS + 1
    assert pairs(rows) == expected(holder, "creator", "registrant")
    for row in rows:
        assert (row["device"], row["kept"], row["state"]) == (models.device(0), "kernel", "live")
        assert (row["creator"], row["command"], row["uid"]) == (
            holder.pids["creator"], "hold-registrati", os.getuid())
        assert 0 <= row["age"] < 30
        assert row["table"].startswith(f"/proc/{row['pid']}/fd/")
        assert "xrc-compat-registrations" in os.readlink(row["table"])


@pytest.mark.parametrize("words", [["leave"]])
def test_a_process_that_unregistered_from_its_last_qp_is_still_listed(holder, tool):
    """The process still has the domain open."""
    rows = registrations(tool, holder)
    [row] = [row for row in rows if row["pid"] == holder.pids["registrant"]]
    assert (row["qp"], row["kept"], row["state"]) == (None, None, "live")
    assert pairs(row for row in rows if row["qp"] is not None) == expected(holder, "creator")


@pytest.mark.parametrize("words", [["domains"]])
def test_registrations_beyond_a_table_are_told_once(holder, tool):
    """A table has 64 domains, and the creator has opened 66."""
    pid = holder.pids["creator"]
    assert re.findall(rf"process {pid}: (\d+) more registrations", tool("ps").stderr) == ["2"]
    assert len(registrations(tool, holder)) == QPS + 1


def test_a_killed_process_leaves_no_row(holder, tool):
    holder.kill("creator")
    [row] = registrations(tool, holder)
    assert (row["pid"], row["creator"]) == (holder.pids["registrant"], None)
    holder.kill("registrant")
    assert registrations(tool, holder) == []


def test_gc_has_nothing_to_collect(tool):
    for words in (["gc"], ["gc", "--dry-run"]):
        assert tool(*words).stdout == (
            "nothing to collect: a registration table ends with its process\n")
    assert json.loads(tool("gc", "--json").stdout) == {"directory": "/proc", "tables": []}


def test_the_text_has_the_default_or_the_chosen_columns(holder, tool):
    heading, *lines = tool("ps").stdout.splitlines()
    assert heading.split() == ["DEVICE", "QP", "PID", "COMMAND", "AGE", "DOMAIN"]
    own = [line.split() for line in lines if int(line.split()[2]) in holder.pids.values()]
    assert sorted((int(line[1], 16), int(line[2])) for line in own) == expected(
        holder, "creator", "registrant")
    assert heading not in tool("ps", "--noheadings").stdout.splitlines()
    assert tool("ps", "-o", "pid,QP,table").stdout.splitlines()[0].split() == ["PID", "QP", "TABLE"]
    row = json.loads(tool("ps", "-o", "PID,STATE", "--json").stdout)["registrations"][0]
    assert sorted(row) == ["pid", "state"]


def test_a_column_tells_the_runs_of_the_emulator_apart(holder, tool):
    [run] = {row["run"] for row in registrations(tool, holder)}
    assert (pathlib.Path(run) / "socket").is_socket()


def test_processes_of_another_pid_namespace_have_a_pid_here(run, softhca, xrc_compat, helpers,
                                                            tmp_path, tool):
    program = helpers / "hold-registrations"
    unshare = [
        "unshare", *(["--user", "--map-current-user"] if os.geteuid() else []), "--pid",
        "--mount-proc", "--fork", "--kill-child"
    ]
    if run([*unshare, "true"]).returncode != 0:
        pytest.skip("no pid namespaces here")
    held = Holder([
        *unshare, softhca, "run", "--devices=1", "--", xrc_compat, "run", "--", program,
        tmp_path / "domain", QPS
    ], dict(os.environ), tmp_path / "domain")
    try:
        rows = registrations(tool, held)
        assert len(rows) == QPS + 1
        for row in rows:
            inner = re.search(r"NSpid:.*\s(\d+)\n",
                              pathlib.Path(f"/proc/{row['pid']}/status").read_text())[1]
            assert int(inner) in held.pids.values()
        inside = run(["nsenter", f"--target={rows[0]['pid']}", "--pid", "--mount",
                      *(["--user", "--preserve-credentials"] if os.geteuid() else []),
                      xrc_compat, "ps", "--json"])
        assert {row["pid"] for row in json.loads(inside.stdout)["registrations"]} == set(
            held.pids.values()), inside.stderr
    finally:
        held.end()


def test_without_memfd_create_programs_run_unseen(softhca, xrc_compat, helpers, tmp_path, tool):
    """Linux before 3.17 has no memfd_create, and a container may forbid it."""
    held = Holder([
        softhca, "run", "--devices=1", "--", helpers / "locked", "memfd_create", xrc_compat,
        "run", "--", helpers / "hold-registrations", tmp_path / "domain", QPS
    ], dict(os.environ, XRC_COMPAT_VERBOSE="1"), tmp_path / "domain")
    try:
        assert len(held.numbers["creator"]) == QPS and registrations(tool, held) == []
    finally:
        held.end()
    assert b"the registration table: Operation not permitted; xrc-compat ps does not show" in (
        held.process.stderr.read())


def test_ps_says_that_it_cannot_look_without_memfd_create(run, xrc_compat, helpers):
    shown = run([helpers / "locked", "memfd_create", xrc_compat, "ps"])
    assert (shown.returncode, shown.stdout) == (125, "")
    assert "no registrations can be read: Operation not permitted; try: xrc-compat doctor" in (
        shown.stderr)


@pytest.mark.usefixtures("systems_class")  # the loader of 32-bit programs needs statx
def test_ps_does_without_statx(holder, run, xrc_compat, helpers):
    """Older versions of Docker forbid it."""
    shown = run([helpers / "locked", "statx", xrc_compat, "ps", "--noheadings", "-o", "PID"])
    assert {str(pid) for pid in holder.pids.values()} <= set(shown.stdout.split()), shown


# ---- files that only have the name of a table ----

FORGE = """
import os, sys
fd = os.memfd_create("xrc-compat-registrations", os.MFD_ALLOW_SEALING)
os.write(fd, bytes(i * 197 % 256 for i in range(20000)))
print(flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def forger(command=FORGE, **options):
    with subprocess.Popen([sys.executable, "-c", command], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, **options) as process:
        process.stdout.readline()
        yield process.pid
        process.stdin.close()


def test_a_forged_table_is_refused_with_a_reason(tool):
    """Every kind of forgery is in tests/unit/table/test_content.c."""
    with forger() as pid:
        result = tool("ps", status=1)
        assert re.search(rf"process {pid} \(python.*\): /proc/{pid}/fd/\d+: it is not a registration "
                         r"table\n", result.stderr)
        report = json.loads(tool("ps", "--json", status=1).stdout)
        assert pid in {row["pid"] for row in report["refused"] if row["reason"]}
        assert f"process {pid} (" in tool("ps", "--stacks", status=1).stderr
        named = tool("ps", "--stacks", pid, status=1)
        assert f"process {pid} (" in named.stderr, named


# A table with one domain, which was opened in an hour from now (table/layout.h).
FORGE_FUTURE = """
import fcntl, os, struct, sys, time
MAGIC, VERSION, DOMAINS, PLACES, HEADER = 0x4c42415443525800, 5, 64, 1024, "3Q4I"
fd = os.memfd_create("xrc-compat-registrations", os.MFD_ALLOW_SEALING)
domain = struct.pack("64s5Q", b"mlx4_0", 1, 0, 2, 3, int(time.time()) + 3600)
size = struct.calcsize(HEADER) + DOMAINS * len(domain)
layout = VERSION << 56 | len(domain) << 32 | size
header = struct.pack(HEADER, MAGIC, layout, 0, os.getpid(), PLACES, 0, 0)
os.write(fd, (header + domain).ljust(size + 4 * PLACES, bytes(1)))
fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
print(flush=True)
sys.stdin.read()
"""


def test_an_entry_from_the_future_has_age_0(tool):
    """The clock may have been set back since the process opened its domain."""
    with forger(FORGE_FUTURE) as pid:
        rows = tool("ps", "--noheadings", "-o", "PID,AGE,DEVICE").stdout.splitlines()
        report = json.loads(tool("ps", "--json", "-o", "PID,AGE").stdout)
    assert [str(pid), "0s", "mlx4_0"] in [row.split() for row in rows]
    assert {"pid": pid, "age": 0} in report["registrations"]


@pytest.mark.parametrize("make", ["mkfifo", "echo forged >"])
def test_a_file_of_that_name_on_a_disk_is_not_opened(own_mounts, run, tmp_path, xrc_compat, make):
    """Opened for reading, a FIFO waits for a writer. The name is that of a table if the file is in
    the root directory of ps, which here has the directories of / and the file."""
    root = tmp_path / "root"
    root.mkdir()
    name = "memfd:xrc-compat-registrations (deleted)"
    script = f"""
mount -t tmpfs root {root} && cd {root} && {make} "{name}" || exit 9
for top in /*; do
	if [ -L "$top" ]; then cp -P "$top" .
	elif [ -d "$top" ]; then mkdir ".$top" && mount --rbind "$top" ".$top"
	fi
done
exec 8<>"{name}" 9<"{name}" 8<&-
echo $$ && chroot . readlink /proc/$$/fd/9
exec chroot . timeout 20 {xrc_compat} ps --json
"""
    result = run(["unshare", "-m", "sh", "-c", script])
    pid, target, report = result.stdout.split("\n", 2)
    assert target == f"/{name}"
    assert result.returncode in (0, 1), result
    assert int(pid) not in {row["pid"] for row in json.loads(report)["refused"]}


def test_a_listing_without_refusals_exits_with_0(own_mounts, softhca, xrc_compat, helpers, run,
                                                 tmp_path):
    """In a PID namespace of its own ps sees no table that another test forges."""
    script = f"""
: >{tmp_path}/roles
cd {tmp_path} && {xrc_compat} run -- {helpers}/hold-registrations domain {QPS} >roles &
until [ "$(wc -l <{tmp_path}/roles)" = 2 ]; do sleep 0.1; done
exec {xrc_compat} ps --noheadings
"""
    listed = run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", softhca,
                  "run", "--devices=1", "--", "sh", "-c", script], timeout=60)
    assert (listed.returncode, listed.stderr) == (0, ""), listed
    assert len(listed.stdout.splitlines()) == QPS + 1


def test_a_process_that_the_kernel_does_not_show_is_named(tool):
    if os.geteuid() == 0:
        pytest.skip("root sees every process")
    with forger(HIDE) as pid:
        assert re.search(rf"process {pid} \(python.*: the kernel does not let this user read it|"
                         r"in all \d+ processes of this user cannot be read", tool("ps").stderr)
        report = json.loads(tool("ps", "--json").stdout)
        assert pid in {row["pid"] for row in report["unread"]}


def test_a_table_in_another_user_namespace_is_named(holder, run, xrc_compat):
    """As in a second container of Apptainer."""
    other = ["unshare", "--user", "--map-current-user"]
    if run([*other, "true"]).returncode:
        pytest.skip("no user namespaces here")
    done = run([*other, xrc_compat, "ps", "--json"])
    unread = {row["pid"] for row in json.loads(done.stdout)["unread"]}
    assert set(holder.pids.values()) <= unread, done
    for words in [], ["--stacks"]:
        error = run([*other, xrc_compat, "ps", *words]).stderr
        assert re.fullmatch(r".*process \d+ .*: the kernel does not let this user read it\n"
                            r".*in all \d+ processes of this user cannot be read; .*\n", error), error


# ---- the command line ----

def test_help_lists_every_column_and_so_does_the_manual(tool, source_root):
    shown = re.findall(r"^  ([A-Z]+) ", tool("ps", "--help").stdout, re.M)
    assert len(shown) > 8
    page = (source_root / "man" / "xrc-compat.1").read_text()
    assert re.findall(r"^\.It Li ([A-Z]+) Ta ", page, re.M) == shown
