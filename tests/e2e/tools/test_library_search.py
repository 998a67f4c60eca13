# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat check` finds the very libraries that the loader takes: the same programs are given to
both."""

import itertools
import json
import os
import pathlib
import re
import shutil
import socket

import pytest

from compiling import compile_c

OLD, NEW = "-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Folders a, b, c and d with a libdeep.so each; a and b also have a libouter.so that needs
    libdeep.so."""
    folder = tmp_path_factory.mktemp("search")
    for name in "abcd":
        (folder / name).mkdir()
        compile_c(folder / name / "libdeep.so", f"int deep(void) {{ return {ord(name)}; }}",
                  "-shared", "-fPIC", "-Wl,-soname,libdeep.so")
    return folder


def outer(place, folder, *flags):
    """libouter.so in @folder, which needs libdeep.so."""
    return compile_c(place / folder / "libouter.so",
                     "int deep(void); int outer(void) { return deep(); }", "-shared", "-fPIC",
                     "-Wl,-soname,libouter.so", place / "d" / "libdeep.so", *flags)


def program(place, library, *flags):
    return compile_c(place / "program", "int outer(void); int main(void) { return !outer(); }",
                     library, "-Wl,--allow-shlib-undefined", *flags)


def rpath(folder):
    return f"-Wl,-rpath,{folder}"


def by_loader(run, program, env):
    """{library: file} as ldd prints it; None for one that is not found."""
    found = {}
    for name, path in re.findall(r"^\s*(lib(?:outer|deep)\.so) => (\S+|not found)",
                                 run(["ldd", program], env=env).stdout, re.M):
        found[name] = None if path.startswith("not") else os.path.realpath(path)
    return found


def by_check(run, xrc_compat, program, env):
    report = json.loads(run([xrc_compat, "check", program, "--json"], env=env).stdout)
    found = {name: None for name in report["missing"]}
    found.update({lib["name"]: os.path.realpath(lib["path"]) for lib in report["libraries"]
                  if lib["name"] in ("libouter.so", "libdeep.so")})
    return found


def same(run, xrc_compat, program, **env):
    expected = by_loader(run, program, env)
    assert expected, "the loader said nothing"
    assert by_check(run, xrc_compat, program, env) == expected
    return expected


@pytest.mark.parametrize("tags, outer_tags, environment",
                         itertools.product([(OLD, "a"), (NEW, "a")], [None, (OLD, "b"), (NEW, "b")],
                                           ["", "c"]))
def test_order(run, xrc_compat, place, tags, outer_tags, environment):
    library = outer(place, "a",
                    *([outer_tags[0], rpath(f"{place}/{outer_tags[1]}")] if outer_tags else []))
    binary = program(place, library, tags[0], rpath(f"{place}/{tags[1]}"))
    same(run, xrc_compat, binary, LD_LIBRARY_PATH=f"{place}/{environment}" if environment else "")


@pytest.mark.parametrize("separator", [":", ";"])
def test_separators_of_the_environment(run, xrc_compat, place, separator):
    binary = program(place, outer(place, "a"))
    found = same(run, xrc_compat, binary,
                 LD_LIBRARY_PATH=separator.join(["/nonexistent", f"{place}/a", f"{place}/b"]))
    assert found["libdeep.so"] == str(place / "a" / "libdeep.so")


@pytest.mark.parametrize(
    "rpath",
    ["$ORIGIN/a", "${ORIGIN}/a", "/nonexistent:$ORIGIN/../" + "%s/a", "$ORIGIN/$LIB:$ORIGIN/a"])
def test_tokens(run, xrc_compat, place, rpath):
    rpath = rpath.replace("%s", place.name)
    binary = program(place, outer(place, "a"), OLD, f"-Wl,-rpath,{rpath}")
    assert same(run, xrc_compat, binary)["libouter.so"] == str(place / "a" / "libouter.so")


def test_origin_of_a_program_behind_a_link(run, xrc_compat, place):
    """ldd would look beside the link; the loader of a process that the kernel starts does not."""
    program(place, outer(place, "a"), OLD, "-Wl,-rpath,$ORIGIN/a")
    (place / "links").mkdir(exist_ok=True)
    link = place / "links" / "program"
    link.unlink(missing_ok=True)
    link.symlink_to("../program")
    assert by_check(run, xrc_compat, link, {})["libouter.so"] == str(place / "a" / "libouter.so")


def test_lib_token_is_this_systems(run, xrc_compat, place):
    binary = program(place, outer(place, "a"), OLD, f"-Wl,-rpath,$ORIGIN/$LIB:{place}/b")
    for name in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"):
        (place / name).mkdir(parents=True, exist_ok=True)
        (place / name / "libouter.so").write_bytes((place / "a" / "libouter.so").read_bytes())
    same(run, xrc_compat, binary, LD_LIBRARY_PATH=f"{place}/c")


def test_files_of_another_machine_are_passed_over(run, xrc_compat, place):
    (place / "other").mkdir(exist_ok=True)
    image = bytearray((place / "d" / "libdeep.so").read_bytes())
    image[4] = 3 - image[4]  # the other ELF class
    (place / "other" / "libdeep.so").write_bytes(image)
    binary = program(place, outer(place, "a"), OLD, rpath(f"{place}/a"))
    found = same(run, xrc_compat, binary, LD_LIBRARY_PATH=f"{place}/other:{place}/c")
    assert found["libdeep.so"] == str(place / "a" / "libdeep.so")
    binary = program(place, outer(place, "b"), NEW, rpath(f"{place}/b"))
    found = same(run, xrc_compat, binary, LD_LIBRARY_PATH=f"{place}/other:{place}/c")
    assert found["libdeep.so"] == str(place / "c" / "libdeep.so")


def test_what_is_nowhere(run, xrc_compat, place):
    binary = program(place, outer(place, "a"))
    assert same(run, xrc_compat, binary, LD_LIBRARY_PATH="")["libouter.so"] is None


def bind(path):
    with socket.socket(socket.AF_UNIX) as endpoint:
        os.chdir(path.parent)  # the address of a socket is short
        endpoint.bind(path.name)


def altered(changes, size=None):
    """Writes a copy of the file that makes it: a library of which these bytes are others, cut off
    at @size."""
    def write(path):
        image = bytearray((path.parent.parent / "d" / "libdeep.so").read_bytes())
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
    """odd(make): a program, the LD_LIBRARY_PATH with which the loader first meets what `make`
    makes, and its path."""
    folder = place / "odd"
    monkeypatch.chdir(tmp_path)

    def _odd(make):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        make(folder / "libdeep.so")
        return program(place, outer(place, "a")), f"{folder}:{place}/a", str(folder / "libdeep.so")

    return _odd


@pytest.mark.parametrize("make", GIVES_UP.values(), ids=GIVES_UP)
def test_the_loader_gives_up(run, xrc_compat, odd, make):
    binary, folders, file = odd(make)
    assert run([binary], env={"LD_LIBRARY_PATH": folders}).returncode == 127
    report = json.loads(
        run([xrc_compat, "check", binary, "--json"], env={"LD_LIBRARY_PATH": folders}).stdout)
    assert report["exit_status"] == 127
    # The loader says of a socket that there is no such file.
    assert report["missing"] == ["libdeep.so"] or report["loader_gives_up"].startswith(f"{file}: ")


@pytest.mark.parametrize("make", PASSES_OVER.values(), ids=PASSES_OVER)
def test_the_loader_passes_over(run, xrc_compat, place, odd, make):
    binary, folders, _ = odd(make)
    assert same(run, xrc_compat, binary,
                LD_LIBRARY_PATH=folders)["libdeep.so"] == str(place / "a" / "libdeep.so")
