# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat check` asks the loader which libraries a program gets, also where the loader gives
up."""

import json
import os
import pathlib
import shutil
import socket

import pytest

from compiling import compile_c


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a program, a/libouter.so, which the program finds by $ORIGIN, and a/libdeep.so,
    which libouter.so needs."""
    folder = tmp_path_factory.mktemp("search")
    (folder / "a").mkdir()
    deep = compile_c(folder / "a" / "libdeep.so", "int deep(void) { return 1; }", "-shared",
                     "-fPIC", "-Wl,-soname,libdeep.so")
    outer = compile_c(folder / "a" / "libouter.so",
                      "int deep(void); int outer(void) { return deep(); }", "-shared", "-fPIC",
                      "-Wl,-soname,libouter.so", deep)
    compile_c(folder / "program", "int outer(void); int main(void) { return !outer(); }", outer,
              "-Wl,--allow-shlib-undefined", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/a")
    return folder


@pytest.fixture
def check(run, xrc_compat):
    """check(program, folders): the report with this LD_LIBRARY_PATH; "found" is {library: path}."""

    def _check(program, folders=""):
        report = json.loads(
            run([xrc_compat, "check", program, "--json"], env={"LD_LIBRARY_PATH": folders}).stdout)
        report["found"] = dict(lib.split(" => ") for lib in report["libraries"])
        return report

    return _check


def test_origin_is_the_folder_of_the_program_and_not_of_a_link_to_it(check, place):
    """ldd would look beside the link; the loader of a process that the kernel starts does not."""
    (place / "links").mkdir()
    link = place / "links" / "program"
    link.symlink_to("../program")
    assert check(link)["found"]["libouter.so"] == str(place / "a" / "libouter.so")


def bind(path):
    with socket.socket(socket.AF_UNIX) as endpoint:
        os.chdir(path.parent)  # the address of a socket is short
        endpoint.bind(path.name)


def altered(changes, size=None):
    """Writes a copy of the file that makes it: a library of which these bytes are others, cut off
    at @size."""
    def write(path):
        image = bytearray((path.parent.parent / "a" / "libdeep.so").read_bytes())
        for at, value in changes.items():
            image[at] = value
        path.write_bytes(image[:size])
    return write


GIVES_UP = {
    "empty": pathlib.Path.touch,
    "text": lambda path: path.write_text("no library\n" * 10),
    "folder": pathlib.Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/null"),
    "socket": bind,
    "cut off": altered({}, 40),
    "of another class and cut off": altered({4: 1}, 40),
}
PASSES_OVER = {
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "of another machine": altered({18: 8, 19: 0}),  # MIPS
}


@pytest.fixture
def odd(place, tmp_path, monkeypatch):
    """odd(make): the folder in which `make` makes libdeep.so, which the loader meets first."""
    folder = place / "odd"
    monkeypatch.chdir(tmp_path)

    def _odd(make):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        make(folder / "libdeep.so")
        return str(folder)

    return _odd


@pytest.mark.parametrize("make", GIVES_UP.values(), ids=GIVES_UP)
def test_check_reports_where_the_loader_gives_up(run, check, place, odd, make):
    folder = odd(make)
    folders = f"{folder}:{place}/a"
    assert run([place / "program"], env={"LD_LIBRARY_PATH": folders}).returncode == 127
    report = check(place / "program", folders)
    assert report["exit_status"] == 127
    # The loader says of a socket that there is no such file.
    assert report["missing"] == ["libdeep.so"] or report["loader_gives_up"].startswith(
        f"{folder}/libdeep.so: ")


@pytest.mark.parametrize("make", PASSES_OVER.values(), ids=PASSES_OVER)
def test_check_skips_the_files_that_the_loader_skips(check, place, odd, make):
    report = check(place / "program", f"{odd(make)}:{place}/a")
    assert report["found"]["libdeep.so"] == str(place / "a" / "libdeep.so")
