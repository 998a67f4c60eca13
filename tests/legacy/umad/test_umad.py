# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs linked with libibumad.so.1 or .so.2 start with the companions that `run` preloads, and
read right values from their structs."""

import errno
import os
import re
import shutil

import pytest

CLIENTS = {
    "umad-2006": "libibumad.so.1", "umad-2007": "libibumad.so.1", "umad-2009": "libibumad.so.2",
    "umad-2010": "libibumad.so.2"
}

# What `run` says of each companion with XRC_COMPAT_VERBOSE=1.
PRELOADED = re.compile(r"(libib\w+\.so\.\d) is preloaded")


@pytest.fixture
def programs(build_root, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    return build_root / "tests" / "legacy" / "umad"


@pytest.mark.usefixtures("todays_libibumad")
@pytest.mark.parametrize("name, soname", CLIENTS.items())
def test_clients_run_with_no_companion_but_the_needed(below_shim, run, softhca, programs, name,
                                                      soname):
    """A client of libibumad.so.1 also needs libibcommon.so.1. Without xrc-compat none starts."""
    done = below_shim(programs / name, XRC_COMPAT_VERBOSE="1")
    assert (done.returncode, done.stdout) == (0, "2 adapters, all right\n"), done.stderr
    assert set(PRELOADED.findall(done.stderr)) == {
        soname, *["libibcommon.so.1"] * (soname == "libibumad.so.1")
    }
    done = run([softhca, "run", "--devices=1", "--", programs / name])
    assert done.returncode == 127 and f"{soname}: cannot open shared object file" in done.stderr


@pytest.mark.usefixtures("todays_libibumad")
@pytest.mark.parametrize("name", ["mvapich-umad", "mvapich2-umad"])
def test_mpi_clients_of_libibumad_run(below_shim, programs, in_memory, name):
    """Every MVAPICH of OFED 1.2 to 1.5.1 was linked with libibumad.so.1."""
    done = below_shim(programs.parent / "clients" / name, TMPDIR=str(in_memory))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith(" messages verified, all right\n")


@pytest.fixture
def wrapper(shell_script, systems_class):
    """wrapper(line...): a shell script of these lines."""
    return lambda *lines: shell_script("wrapper", "\n".join(lines))


@pytest.mark.any_model
@pytest.mark.usefixtures("todays_libibumad")
@pytest.mark.parametrize("words", [["env", "LANG=C", "PROGRAM"], ["SCRIPT"], ["sh", "SCRIPT"],
                                   ["sh", "-e", "SCRIPT"], ["env", "SCRIPT"]])
def test_program_behind_a_launcher_or_script(below_shim, programs, wrapper, words):
    """The program is named on the command line, or in the last line of a short script. A launcher
    or a shell may start that script."""
    places = {
        "PROGRAM": programs / "umad-2007",
        "SCRIPT": wrapper("LANG=C", "export LANG", f'exec {programs}/umad-2007 "$@"')
    }
    done = below_shim(*(places.get(word, word) for word in words))
    assert (done.returncode, done.stdout) == (0, "2 adapters, all right\n"), done.stderr


@pytest.mark.any_model
@pytest.mark.usefixtures("todays_libibumad")
def test_a_script_whose_program_is_not_found_gets_all_companions(below_shim, programs, wrapper):
    script = wrapper(f"program={programs}/umad", 'exec "$program-2007"')
    assert below_shim(script).returncode == 127
    done = below_shim(script, options=["--companions"])
    assert (done.returncode, done.stdout) == (0, "2 adapters, all right\n"), done.stderr


@pytest.mark.usefixtures("todays_libibumad")
def test_a_library_without_libibumad_gets_the_structs_of_the_program(below_shim, programs, wrapper):
    """With --companions libibumad.so.1 comes first, but the program is linked with .so.2."""
    script = wrapper(f"program={programs}/umad-2009", 'exec "$program-library"')
    done = below_shim(script, options=["--companions"])
    assert (done.returncode, done.stdout) == (0, "2 adapters, all right\n"), done.stderr


@pytest.mark.any_model
@pytest.mark.usefixtures("todays_libibumad")
def test_program_keeps_a_libibumad_of_its_own(below_shim, programs, build_root, tmp_path):
    """LD_LIBRARY_PATH has a libibumad.so.1, so nothing is preloaded."""
    for library in ("libibumad.so.1", "libibcommon.so.1"):
        shutil.copy(build_root / "companions" / library, tmp_path)
    done = below_shim(programs / "umad-2007", LD_LIBRARY_PATH=str(tmp_path), XRC_COMPAT_VERBOSE="1")
    assert (done.returncode, PRELOADED.findall(done.stderr)) == (0, [])


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
        f"LD_PRELOAD={companion}:$LD_PRELOAD LD_DEBUG=bindings ibstat"
    ])
    assert (with_both.returncode, with_both.stdout) == (0, plain.stdout)
    assert re.search(rf"binding file \S*ibstat .* to {companion} .*`umad_get_ca'",
                     with_both.stderr), "ibstat calls the companion"


@pytest.mark.any_model
def test_clients_start_without_any_libibumad(below_shim, programs, build_root, tmp_path):
    """A copy of the companion opens a libibumad.so.9, as if the machine had no .so.3."""
    companions = build_root / "companions"
    shutil.copy(companions / "libibcommon.so.1", tmp_path)
    data = (companions / "libibumad.so.1").read_bytes()
    assert data.count(b"libibumad.so.3\0") == 1
    (tmp_path / "libibumad.so.1").write_bytes(
        data.replace(b"libibumad.so.3\0", b"libibumad.so.9\0"))
    done = below_shim(programs / "umad-2007", LD_LIBRARY_PATH=str(tmp_path), XRC_COMPAT_VERBOSE="1")
    assert (done.returncode, done.stdout) == (3, "no libibumad: umad_init fails\n")
    assert "libibumad.so.1: libibumad.so.9: cannot open shared object file" in done.stderr
    # A value that begins with 0 keeps the library silent, as in base/settings.c.
    done = below_shim(programs / "umad-2007", LD_LIBRARY_PATH=str(tmp_path), XRC_COMPAT_VERBOSE="01")
    assert (done.returncode, "libibumad.so.9" in done.stderr) == (3, False)


def test_libibcm_opens_no_device(run, build_root, programs):
    """Open MPI tries another way to connect after ENOSYS."""
    done = run([programs / "ibcm"], env={"LD_LIBRARY_PATH": str(build_root / "companions")})
    refused = os.strerror(errno.ENOSYS)
    assert (done.returncode, done.stdout) == (
        0, f"ib_cm_open_device: {refused}\nib_cm_listen: -1 {refused}\n")
