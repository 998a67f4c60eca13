# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat ps` and `gc` refuse files among the tables that are no tables, are damaged, or belong
to another user."""

import json
import os
import re

import pytest

from holder import registrations

pytestmark = pytest.mark.any_model


def other_bytes(file, data):
    file.write_bytes(bytes((i * 197 + 11) % 256 for i in range(len(data))))


def symbolic_link(file, data):
    target = file.parent / "elsewhere"
    target.write_bytes(data)
    target.chmod(0o600)
    file.symlink_to(target)


@pytest.mark.parametrize("command", ["ps", "gc"])
def test_a_relative_table_directory_is_refused_as_by_the_library(tool, command):
    done = tool(command, status=125, XRC_COMPAT_TABLE_DIR=".")
    assert (done.stdout, done.stderr) == ("",
                                          "xrc-compat: the table directory .: Invalid argument\n")


# Every kind of file, with its reason, is in tests/unit/compat/regtab/test_regtab_files.c.
HOSTILE = [other_bytes, symbolic_link]


@pytest.mark.parametrize("spoil", HOSTILE, ids=lambda spoil: spoil.__name__)
def test_ps_and_gc_refuse_a_hostile_file_with_a_reason(table, tool, spoil):
    file, data = table
    old = os.umask(0o077)
    try:
        spoil(file, data)
    finally:
        os.umask(old)
    result = tool("ps", status=1)
    assert result.stdout.count("\n") == 1
    assert str(file) in result.stderr and re.search(r": \w[^:]*\n$", result.stderr)
    report = json.loads(tool("ps", "--json", status=1).stdout)
    assert report["registrations"] == [] and [row["table"]
                                              for row in report["refused"]] == [str(file)]
    assert report["refused"][0]["reason"]
    result = tool("gc", status=1)
    assert result.stdout == "" and f"left alone {file}: " in result.stderr
    assert os.path.lexists(file)


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
