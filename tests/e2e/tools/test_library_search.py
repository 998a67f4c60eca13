# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat check` asks the loader which libraries a program gets, also where the loader gives
up."""

import json
import os
import pathlib
import shutil
import socket
import time

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

    def _check(program, folders="", cwd=None, before=()):
        report = json.loads(
            run([*before, xrc_compat, "check", program, "--json"],
                env={"LD_LIBRARY_PATH": folders}, cwd=cwd).stdout)
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


@pytest.mark.parametrize("folders", ["a", "./a", ":nowhere"], ids=["relative", "dot", "empty"])
def test_libraries_by_a_relative_path_are_found(check, place, folders):
    report = check("../program" if folders[0] == ":" else "./program", folders,
                   cwd=place / "a" if folders[0] == ":" else place)
    assert (report["missing"], report["exit_status"]) == ([], 1)
    assert os.path.basename(report["found"]["libdeep.so"]) == "libdeep.so"


# ---- plugins ----


@pytest.fixture
def mpi(tmp_path):
    """mpi(folder): (a program that is linked with libmpi.so.1 of that folder, the folder of Open
    MPI's plugins)."""

    def _mpi(name="mpi"):
        folder = tmp_path / name
        (folder / "openmpi").mkdir(parents=True)
        library = compile_c(folder / "libmpi.so.1", "int mpi(void) { return 0; }", "-shared",
                            "-fPIC", "-Wl,-soname,libmpi.so.1")
        program = compile_c(folder / "program", "int mpi(void); int main(void) { return mpi(); }",
                            library, "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
        return program, folder / "openmpi"

    return _mpi


XRC = "int ibv_open_xrc_domain(void); int m(void) { return ibv_open_xrc_domain(); }"


def plugin(folder, name, *libraries, source=XRC):
    return compile_c(folder / f"mca_{name}.so", source, "-shared", "-fPIC", *libraries)


def needs_xrc(report):
    return any(line.startswith("ibv_open_xrc_domain,") for line in report["needs"])


def lacks_a_library(folder):
    gone = compile_c(folder / "libgone.so", "int gone;", "-shared", "-fPIC",
                     "-Wl,-soname,libgone.so")
    plugin(folder, "plm_tm", gone)
    gone.unlink()


def cut_off(folder):
    path = plugin(folder, "plm_tm")
    path.write_bytes(path.read_bytes()[:6000])


def pipe_without_a_writer(folder):
    os.mkfifo(folder / "mca_plm_tm.so")


@pytest.mark.parametrize("break_plugin", [lacks_a_library, cut_off, pipe_without_a_writer],
                         ids=lambda how: how.__name__)
def test_a_broken_plugin_does_not_hide_the_others(run, check, mpi, break_plugin):
    program, folder = mpi()
    plugin(folder, "btl_openib")
    break_plugin(folder)
    assert run([program]).returncode == 0
    report = check(program)
    assert (report["missing"], report["loader_gives_up"]) == ([], None)
    assert report["verdict"] != "broken" and needs_xrc(report), report
    assert report["missing_for_plugins"] == (["libgone.so"]
                                             if break_plugin is lacks_a_library else [])


def test_a_plugin_whose_library_never_opens_leaves_the_verdict_open(run, check, mpi):
    """The loader hangs for 5 s. check does not ask for the other plugins, which may hang, too."""
    program, folder = mpi()
    fifo = compile_c(folder / "libfifo.so", "int fifo;", "-shared", "-fPIC",
                     "-Wl,-soname,libfifo.so")
    for name in "abcdef":
        plugin(folder, name, fifo, "-Wl,-rpath,$ORIGIN", source="int m;")
    fifo.unlink()
    os.mkfifo(fifo)
    began = time.monotonic()
    report = check(program)
    assert time.monotonic() - began < 15
    assert report["verdict"] == "cannot tell" and "opening a plugin" in report["reason"]


def test_a_plugin_may_need_what_the_program_has_loaded(check, mpi):
    """The program's RUNPATH does not serve its plugin, but the loader has libmpi.so.1 already."""
    program, folder = mpi()
    plugin(folder, "btl_openib", folder.parent / "libmpi.so.1")
    report = check(program)
    assert (report["missing"], report["missing_for_plugins"]) == ([], [])
    assert needs_xrc(report)


def test_plugins_are_read_in_a_folder_with_a_blank(run, xrc_compat, check, mpi):
    program, folder = mpi("open mpi")
    named = plugin(folder, "btl_openib")
    assert needs_xrc(check(program))
    other, _ = mpi("other")
    done = run([xrc_compat, "check", "--json", "--plugin", named, other])
    assert needs_xrc(json.loads(done.stdout)), done


# ---- the loader cannot be asked ----


def test_a_program_with_an_audit_library_is_not_judged_by_its_imports(check, place):
    program = compile_c(place / "audited", "int main(void) { return 0; }",
                        f"-Wl,--audit={place}/libaudit.so")
    report = check(program)
    assert (report["verdict"], report["exit_status"]) == ("cannot tell", 3)
    assert "DT_AUDIT" in report["reason"]


def test_without_a_descriptor_for_the_loader_nothing_is_said_to_be_unneeded(check, place):
    report = check(place / "program", before=["sh", "-c", 'ulimit -n 5; exec "$@"', "sh"])
    assert report["verdict"] == "cannot tell" and "Too many open files" in report["reason"]
