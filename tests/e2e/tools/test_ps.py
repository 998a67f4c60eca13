# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat ps` and `gc` show the registrations of an old program, and refuse files among the
tables that are no tables or belong to another user."""

import json
import os
import pathlib
import re

import pytest

import models
from holder import QPS, Holder, expected, pairs, registrations

pytestmark = pytest.mark.any_model


def test_one_line_per_registration_as_the_program_made_them(holder, tool):
    rows = registrations(tool)
    st = holder.domain.stat()
    assert len(rows) == QPS + 1
    assert pairs(rows) == expected(holder, "creator", "registrant")
    for row in rows:
        assert (row["device"], row["kept"], row["state"]) == (models.device(0), "kernel", "live")
        assert (row["creator"], row["command"], row["uid"]) == (
            holder.pids["creator"], "hold-registrati", os.getuid())
        assert 0 <= row["age"] < 30
        assert row["domain"] == f"{os.major(st.st_dev)}:{os.minor(st.st_dev)}:{st.st_ino}"


@pytest.mark.parametrize("words", [["leave"]])
def test_a_process_that_unregistered_from_its_last_qp_is_still_listed(holder, tool):
    """The process still has the domain open."""
    [row] = [row for row in registrations(tool) if row["pid"] == holder.pids["registrant"]]
    assert (row["qp"], row["kept"], row["state"]) == (None, None, "live")
    assert pairs(row for row in registrations(tool) if row["qp"] is not None) == expected(
        holder, "creator")


def test_the_files_of_a_crashed_run_are_shown_and_only_then_collected(holder, tool, tables):
    files = sorted(tables.iterdir())
    assert len(files) == 2  # one for each process
    assert tool("gc").stdout == "".join(f"kept {file}: a process is using it\n" for file in files)
    holder.kill("creator")
    states = {(row["qp"], row["pid"]): row["state"] for row in registrations(tool)}
    assert states.pop((holder.numbers["registrant"][0], holder.pids["registrant"])) == "live"
    assert set(states.values()) == {"stale"} and len(states) == QPS
    holder.kill("registrant")
    rows = registrations(tool)
    assert pairs(rows) == expected(holder, "creator", "registrant")
    assert {row["state"] for row in rows} == {"stale"}
    assert tool("gc", "--dry-run").stdout == "".join(
        f"would remove {file}: no process is using it\n" for file in files)
    report = json.loads(tool("gc", "--dry-run", "--json").stdout)
    assert report == {"directory": str(tables), "tables": [
        {"table": str(file), "action": "would remove", "reason": "no process is using it"}
        for file in files]}
    assert sorted(tables.iterdir()) == files
    assert tool("gc").stdout == "".join(
        f"removed {file}: no process is using it\n" for file in files)
    assert not list(tables.iterdir())
    assert json.loads(tool("gc", "--json").stdout)["tables"] == []


def test_the_text_has_the_default_or_the_chosen_columns(holder, tool):
    heading, *lines = tool("ps").stdout.splitlines()
    assert heading.split() == [
        "DEVICE", "QP", "KEPT", "PID", "COMMAND", "AGE", "STATE", "DOMAIN"
    ]
    assert sorted((int(line.split()[1], 16), int(line.split()[3])) for line in lines) == expected(
        holder, "creator", "registrant")
    assert tool("ps", "--noheadings").stdout.count("\n") == QPS + 1
    assert tool("ps", "-o", "pid,QP,table").stdout.splitlines()[0].split() == ["PID", "QP", "TABLE"]
    row = json.loads(tool("ps", "-o", "PID,STATE", "--json").stdout)["registrations"][0]
    assert sorted(row) == ["pid", "state"]


def test_a_column_tells_the_runs_of_the_emulator_apart(holder, tool):
    def runs():
        rows = json.loads(tool("ps", "-o", "RUN", "--json").stdout)["registrations"]
        return {row["run"] for row in rows}

    [run] = runs()
    assert (pathlib.Path(run) / "socket").is_socket()
    holder.kill("creator")
    assert runs() == {None, run}


def test_a_hostile_name_is_escaped_in_text_and_json(table, tool):
    file, data = table
    assert data.count(b"hold-registrati") == 1
    file.write_bytes(data.replace(b"hold-registrati", b"\x1b[2J\xff\xc2\x9b\"\\\xc3\xbc\x7fxxx"))
    file.chmod(0o600)
    text = tool("ps").stdout
    assert "\x1b" not in text and "\x9b" not in text
    assert {row["command"] for row in registrations(tool)} == {'?[2J???"\\\u00fc?xxx'}
    file.rename(f"{file}\x1b[2J")
    assert tool("gc").stdout == f"removed {file}?[2J: no process is using it\n"


def test_a_process_of_another_pid_namespace_is_foreign(run, tables, softhca, xrc_compat, helpers,
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
    ], dict(os.environ, XRC_COMPAT_TABLE_DIR=str(tables)), tmp_path / "domain")
    try:
        rows = registrations(tool)
        assert {row["state"] for row in rows} == {"foreign"} and len(rows) == QPS + 1
        assert "a process is using it" in tool("gc").stdout
    finally:
        held.end()


# ---- files that are no tables of the user ----

def test_ps_and_gc_refuse_a_hostile_file_with_a_reason(table, tool):
    """Every kind of file is in tests/unit/compat/regtab/test_regtab_files.c."""
    file, data = table
    file.write_bytes(bytes((i * 197 + 11) % 256 for i in range(len(data))))
    file.chmod(0o600)
    result = tool("ps", status=1)
    assert result.stdout.count("\n") == 1
    assert str(file) in result.stderr and re.search(r": \w[^:]*\n$", result.stderr)
    report = json.loads(tool("ps", "--json", status=1).stdout)
    assert report["registrations"] == []
    assert [row["table"] for row in report["refused"] if row["reason"]] == [str(file)]
    result = tool("gc", status=1)
    assert result.stdout == "" and f"left alone {file}: " in result.stderr
    assert file.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_table_of_another_user_is_refused_to_a_user_and_shown_to_root(
        table, tool, tables, run, xrc_compat):
    _, data = table
    file = tables / "xrc-compat-23456-mlx4_0-plantd"
    file.write_bytes(data)
    file.chmod(0o600)
    os.chown(file, 12345, 12345)
    assert {row["uid"] for row in registrations(tool)} == {12345}
    tables.chmod(0o755)
    argv = ["setpriv", "--reuid=23456", "--regid=23456", "--clear-groups", xrc_compat, "ps"]
    result = run(argv, env={"XRC_COMPAT_TABLE_DIR": str(tables)})
    assert result.returncode == 1 and "it belongs to another user" in result.stderr


# ---- the command line ----

@pytest.mark.parametrize("words", [["ps"], ["ps", "--json"], ["gc"], ["gc", "--json"]],
                         ids=" ".join)
@pytest.mark.parametrize("directory, why", [("/nonexistent", "No such file or directory"),
                                            (".", "it must be an absolute path")])
def test_an_unreadable_directory_is_an_error(tool, words, directory, why):
    result = tool(*words, status=125, XRC_COMPAT_TABLE_DIR=directory)
    assert result.stdout == "" and f"{directory}: {why}\n" in result.stderr


def test_help_lists_every_column_and_so_does_the_manual(tool, source_root):
    shown = re.findall(r"^  ([A-Z]+) ", tool("ps", "--help").stdout, re.M)
    assert len(shown) > 8
    page = (source_root / "man" / "xrc-compat.1").read_text()
    assert re.findall(r"^\.It Li ([A-Z]+) Ta ", page, re.M) == shown
