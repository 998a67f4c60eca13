# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`report` and `trace` write new regular files only. In a directory that others can write, a name
may be a link to any file or a FIFO that nothing reads."""

import os
import socket

import pytest

pytestmark = pytest.mark.any_model

WRITERS = {
    "report": ["report", "--output", "NAME"], "trace": ["trace", "--output", "NAME", "--", "true"],
    "events": ["trace", "--perfetto", "NAME", "--", "true"]
}


def link_to_file(name):
    (name.parent / "precious").write_text("precious")
    name.symlink_to(name.parent / "precious")


def make_socket(name):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(name))


KINDS = {
    "a symbolic link to a file": link_to_file,
    "a symbolic link to nothing": lambda name: name.symlink_to(name.parent / "planted"),
    "a symbolic link to a device": lambda name: name.symlink_to("/dev/full"),
    "a FIFO": os.mkfifo, "a directory": os.mkdir, "a device or socket": make_socket
}


@pytest.fixture
def write(run, xrc_compat, tmp_path):
    """write(words, name): the result of the command; it must be refused without delay."""

    def _write(words, name):
        done = run([xrc_compat, *(name if word == "NAME" else word for word in words)], timeout=20,
                   cwd=tmp_path)
        assert (done.returncode, done.stdout) == (125, ""), done
        assert "name a file in a directory of your own, or /dev/stdout for a pipe" in done.stderr
        return done.stderr

    return _write


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", KINDS)
def test_only_a_new_file_is_written(write, tmp_path, writer, kind):
    name = tmp_path / "name"
    KINDS[kind](name)
    before = sorted(os.listdir(tmp_path))
    assert f"xrc-compat: {name} is {kind.split(' to ')[0]}; the " in write(WRITERS[writer], name)
    assert sorted(os.listdir(tmp_path)) == before
    assert "precious" not in before or (tmp_path / "precious").read_text() == "precious"


def test_a_link_behind_an_existing_file_is_refused(write, tmp_path):
    name = tmp_path / "name"
    name.write_text("precious")
    link_to_file(tmp_path / "name.1")
    assert f"xrc-compat: {name}.1 is a symbolic link; " in write(WRITERS["trace"], name)
    assert name.read_text() == "precious"


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_is_refused(write, writer, device):
    """Root must not make /dev/null.1."""
    assert f"{device} is a device or socket; the " in write(WRITERS[writer], device)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", ["/sys/trace", "missing/trace"])
def test_a_directory_that_takes_no_file_is_named(write, writer, name):
    """Not even root makes a file in /sys."""
    assert f" to {name}: " in write(WRITERS[writer], name)


def test_a_report_that_finds_no_room_is_an_error(run, xrc_compat):
    done = run(["sh", "-c", '"$0" report --output /dev/stdout >/dev/full', xrc_compat], timeout=20)
    assert done.returncode == 125
    assert "xrc-compat: cannot write the report to /dev/stdout: No space" in done.stderr
