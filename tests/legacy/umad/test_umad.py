# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs linked with libibumad.so.1 or .so.2 start with the companions that `run` preloads, and
read right values from their structs."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.any_model

CLIENTS = {
    "umad-2006": "libibumad.so.1", "umad-2007": "libibumad.so.1", "umad-2009": "libibumad.so.2",
    "umad-2010": "libibumad.so.2"
}


@pytest.fixture
def programs(build_root, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    return build_root / "tests" / "legacy" / "umad"


@pytest.fixture
def on_softhca(run, softhca, xrc_compat, programs, sanitizer_env):
    """on_softhca(program, option...): by `xrc-compat run` on two emulated adapters."""

    def _on_softhca(program, *options, **environment):
        return run(
            [softhca, "run", "--devices=2", "--", xrc_compat, "run", *options, "--", program],
            timeout=60, env={**sanitizer_env, **environment})

    return _on_softhca


@pytest.mark.usefixtures("todays_libibumad")
@pytest.mark.parametrize("name", CLIENTS)
def test_clients_of_libibumad_run(on_softhca, programs, name):
    done = on_softhca(programs / name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 adapters, all right\n", "")


@pytest.mark.usefixtures("todays_libibumad", "systems_class")
def test_a_script_whose_program_is_not_found_gets_all_companions(on_softhca, programs, tmp_path):
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nprogram={programs}/umad\nexec "$program-2007"\n')
    wrapper.chmod(0o755)
    assert on_softhca(wrapper).returncode == 127
    done = on_softhca(wrapper, "--companions")
    assert (done.returncode, done.stdout) == (0, "2 adapters, all right\n"), done.stderr


@pytest.mark.parametrize("name, soname", CLIENTS.items())
def test_clients_do_not_start_without_xrc_compat(run, softhca, programs, name, soname):
    done = run([softhca, "run", "--devices=1", "--", programs / name])
    assert done.returncode == 127 and f"{soname}: cannot open shared object file" in done.stderr


@pytest.mark.parametrize("name, soname", CLIENTS.items())
def test_run_preloads_the_needed_companions_and_no_others(on_softhca, programs, name, soname):
    done = on_softhca(programs / name, XRC_COMPAT_VERBOSE="1")
    named = re.findall(r"(libib\w+\.so\.\d) is preloaded", done.stderr)
    assert sorted(named) == sorted([soname] + ["libibcommon.so.1"] * (soname == "libibumad.so.1"))


@pytest.fixture
def systems_class(shim):
    """Programs of the system's class. A shim of the other class cannot be preloaded into them; the
    suite "both classes" tests those."""
    if shim.read_bytes()[4] != pathlib.Path("/bin/sh").read_bytes()[4]:
        pytest.skip("the shell is of the other ELF class")


@pytest.mark.usefixtures("todays_libibumad", "systems_class")
@pytest.mark.parametrize("words", [["env", "LANG=C", "PROGRAM"], ["./wrapper"], ["sh", "wrapper"],
                                   ["sh", "-e", "./wrapper"], ["env", "./wrapper"]])
def test_program_behind_a_launcher_or_script(run, softhca, xrc_compat, programs, tmp_path,
                                             sanitizer_env, words):
    """The program is named on the command line, or in the last line of a short script. A launcher
    or a shell may start that script."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nLANG=C\nexport LANG\nexec {programs}/umad-2007 "$@"\n')
    wrapper.chmod(0o755)
    command = [programs / "umad-2007" if word == "PROGRAM" else word for word in words]
    done = run([softhca, "run", "--devices=2", "--", xrc_compat, "run", "--", *command], timeout=60,
               env=sanitizer_env, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "2 adapters, all right\n"), done.stderr


def test_check_says_ready_and_names_the_companions(run, softhca, xrc_compat, programs):
    done = run([
        softhca, "run", "--devices=1", "--", xrc_compat, "check", "--json", programs / "umad-2007"
    ])
    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"], report["missing"]) == (0, "ready", [])
    assert [path.rsplit("/", 1)[1]
            for path in report["companions"]] == ["libibumad.so.1", "libibcommon.so.1"]
    assert "libibumad.so.1 and libibcommon.so.1" in report["reason"]


@pytest.mark.usefixtures("todays_libibumad")
def test_program_keeps_a_libibumad_of_its_own(on_softhca, programs, build_root, tmp_path):
    """LD_LIBRARY_PATH has a libibumad.so.1, so nothing is preloaded."""
    for library in ("libibumad.so.1", "libibcommon.so.1"):
        shutil.copy(build_root / "companions" / library, tmp_path)
    done = on_softhca(programs / "umad-2007", LD_LIBRARY_PATH=str(tmp_path), XRC_COMPAT_VERBOSE="1")
    assert done.returncode == 0 and "is preloaded" not in done.stderr


def test_env_prints_the_companions(run, xrc_compat, programs):
    done = run([xrc_compat, "env", programs / "umad-2009"], env={"LD_PRELOAD": ""})
    lines = [line for line in done.stdout.splitlines() if "LD_PRELOAD" in line]
    assert done.returncode == 0 and lines and all(
        "libxrc-compat.so.1:" in line and "libibumad.so.2" in line for line in lines)


@pytest.mark.usefixtures("systems_class")
@pytest.mark.parametrize("name", ["umad-2007", "umad-2009"])
def test_programs_of_libibumad_3_keep_their_structs(run, softhca, programs, build_root, name):
    """Programs linked with libibumad.so.3 also find the preloaded library's symbols first. ibstat
    still reads the structs of libibumad.so.3."""
    if not shutil.which("ibstat"):
        pytest.skip("no ibstat (infiniband-diags)")
    plain = run([softhca, "run", "--devices=2", "--", "ibstat"])
    companion = build_root / "companions" / CLIENTS[name]
    assert plain.returncode == 0 and plain.stdout.count("CA '") == 2
    with_both = run([
        softhca, "run", "--devices=2", "--", "sh", "-c",
        f"LD_PRELOAD={companion}:$LD_PRELOAD ibstat"
    ])
    assert (with_both.returncode, with_both.stdout) == (0, plain.stdout)


def test_clients_start_without_any_libibumad(on_softhca, programs, build_root, tmp_path):
    """A copy of the companion opens a libibumad.so.9, as if the machine had no .so.3."""
    companions = build_root / "companions"
    shutil.copy(companions / "libibcommon.so.1", tmp_path)
    data = (companions / "libibumad.so.1").read_bytes()
    assert data.count(b"libibumad.so.3\0") == 1
    (tmp_path / "libibumad.so.1").write_bytes(
        data.replace(b"libibumad.so.3\0", b"libibumad.so.9\0"))
    done = on_softhca(programs / "umad-2007", LD_LIBRARY_PATH=str(tmp_path), XRC_COMPAT_VERBOSE="1")
    assert (done.returncode, done.stdout) == (3, "no libibumad: umad_init fails\n")
    assert "libibumad.so.1: libibumad.so.9: cannot open shared object file" in done.stderr


IBCOMMON = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int sys_read_uint(char *, char *, unsigned *); int sys_read_guid(char *, char *, uint64_t *); int sys_read_gid(char *, char *, uint8_t *);
int sys_read_string(char *, char *, char *, int); void xdump(FILE *, char *, void *, int); uint32_t fhash(uint8_t *, int, uint32_t);
void ibwarn(const char *, char *, ...); void ibpanic(const char *, char *, ...);
int main(int c, char **v) { (void)c; unsigned u; uint64_t g; uint8_t gid[16]; char text[4], lid[8];
  int r = sys_read_uint(v[1], "lid", &u); printf("%d %u ", r, u); sys_read_guid(v[1], "guid", &g); xdump(stdout, "", &g, 8);
  printf("%d ", sys_read_gid(v[1], "gid", gid)); xdump(stdout, "", gid, 16);
  r = sys_read_string(v[1], "guid", text, 4); sys_read_string(v[1], "lid", lid, 8);
  printf("%d %s %s %d %d %d\n", r, text, lid, sys_read_guid(v[1], "lid", &g), sys_read_uint(v[1], "no", &u),
         fhash(gid, 16, 0) != fhash(gid, 15, 0)); ibwarn("main", "%d", 7); fflush(stdout); ibpanic("main", "end"); return 0; }
"""


def compile_with(library, source, program):
    """A program of the library's ELF class, linked with it."""
    option = "-m64" if library.read_bytes()[4] == 2 else "-m32"
    subprocess.run(["cc", option, "-x", "c", "-", "-o", program, "-x", "none", library],
                   input=source, text=True, check=True, timeout=60)


def test_libibcommon_answers_as_in_ofed(run, build_root, tmp_path):
    library = build_root / "companions" / "libibcommon.so.1"
    compile_with(library, IBCOMMON, tmp_path / "common")
    for name, text in (("lid", "0x11\n"), ("guid", "0002:c903:0011:2201\n"),
                       ("gid", "fe80:0000:0000:0000:0002:c903:0011:2201\n")):
        (tmp_path / name).write_text(text)
    done = run([tmp_path / "common", tmp_path], env={"LD_PRELOAD": str(library)})
    assert done.returncode == 255
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "0 17 0002 c903 0011 2201", "0 fe80 0000 0000 0000 0002 c903 0011 2201", "0 000 0x11 -22 -2 1"
    ]
    assert lines[3].startswith("ibwarn: [") and lines[3].endswith(
        "] main: 7") and lines[4].startswith("ibpanic: [")


def test_ibcm_opens_no_device(run, build_root, tmp_path):
    """ib_cm_open_device fails with ENOSYS, and Open MPI then tries another way to connect.
    ib_cm_listen fails with ENOSYS as well."""
    source = """#include <errno.h>
void *ib_cm_open_device(void *); int ib_cm_listen(void);
int main(void) { if (ib_cm_open_device(0) || errno != ENOSYS) return 1; errno = 0; return ib_cm_listen() != -1 || errno != ENOSYS; }"""
    library = build_root / "companions" / "libibcm.so.1"
    compile_with(library, source, tmp_path / "cm")
    assert run([tmp_path / "cm"], env={"LD_PRELOAD": str(library)}).returncode == 0
