# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that bring a libibverbs of OFED's time: by RPATH, or by a script that sets
LD_LIBRARY_PATH, as commercial ones do.

The old library here has OFED's soname and symbols, finds no device, and says so as soon as a
process loads it.
"""

import json
import os
import re

import pytest

from check_workshop import compile_c, compile_demo

pytestmark = pytest.mark.any_model

LOADED = "the old libibverbs is loaded"


@pytest.fixture(scope="module")
def place(tmp_path_factory, source_root, build_root):
    """old/ has the library; solver/rpath finds it there, solver/plain does not; solver/wrapper sets
    LD_LIBRARY_PATH."""
    folder = tmp_path_factory.mktemp("solver")
    rows = (source_root / "abi" / "ofed-symbols.tab").read_text()
    names = sorted(set(re.findall(r"^(ibv_\w+|ibverbs_\w+)", rows, re.M)))
    functions = "".join(f"long {name}(void); long {name}(void) {{ return 0; }}\n" for name in names)
    (folder / "node.map"
     ).write_text("IBVERBS_1.0 { local: *; };\nIBVERBS_1.1 { global: ibv*; } IBVERBS_1.0;\n")
    compile_c(
        folder / "old" / "libibverbs.so.1",
        f'#include <unistd.h>\n{functions}__attribute__((constructor)) static void say(void)\n'
        f'{{ if (write(2, "{LOADED}\\n", {len(LOADED) + 1}) < 0) _exit(1); }}\n', "-shared", "-fPIC",
        "-w", f"-Wl,--version-script={folder}/node.map", "-Wl,-soname,libibverbs.so.1")
    for name, *flags in (("rpath", "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/old"),
                         ("plain",)):
        compile_demo(folder / name, build_root, source_root, *flags)
    wrapper = folder / "wrapper"
    wrapper.write_text(
        '#!/bin/sh\nhere=$(dirname "$0")\nLD_LIBRARY_PATH=$here/old\nexport LD_LIBRARY_PATH\n'
        'exec "$(dirname "$0")"/plain "$@"\n')
    wrapper.chmod(0o755)
    return folder


@pytest.fixture
def on_devices(run, softhca, sanitizer_env, in_memory):
    """on_devices(command...): on two emulated adapters, without LD_LIBRARY_PATH unless given."""

    def _on_devices(*command, **environment):
        env = {**sanitizer_env, "LD_LIBRARY_PATH": "", "TMPDIR": str(in_memory), **environment}
        return run([softhca, "run", "--devices=2", "--", *command], timeout=90, env=env)

    return _on_devices


def works(done):
    return done.returncode == 0 and LOADED not in done.stderr + done.stdout


@pytest.mark.parametrize("program", ["rpath", "wrapper"])
def test_without_xrc_compat_the_old_libibverbs_is_loaded(on_devices, place, program):
    done = on_devices(place / program, "-n", "1")
    assert done.returncode != 0 and LOADED in done.stderr


def test_run_loads_the_systems_libibverbs_instead(on_devices, xrc_compat, place):
    done = on_devices(xrc_compat, "run", "--", place / "rpath", "-n", "2", XRC_COMPAT_VERBOSE="1")
    assert works(done), done
    assert re.search(
        rf"xrc-compat: /\S+/libibverbs.so.1 takes the place of {place}/old/libibverbs.so.1\n",
        done.stderr)


def test_run_finds_the_old_libibverbs_in_ld_library_path(on_devices, xrc_compat, place):
    assert works(
        on_devices(xrc_compat, "run", "--", place / "plain", "-n", "1",
                   LD_LIBRARY_PATH=str(place / "old")))


def test_a_script_that_sets_ld_library_path_needs_the_option(on_devices, xrc_compat, place):
    """check cannot see the old library, so the user adds --system-libibverbs."""
    done = on_devices(xrc_compat, "run", "--", place / "wrapper", "-n", "1")
    assert done.returncode != 0 and LOADED in done.stderr
    assert works(
        on_devices(xrc_compat, "run", "--system-libibverbs", "--", place / "wrapper", "-n", "1"))


@pytest.mark.usefixtures("own_mounts")
@pytest.mark.parametrize("words, says", [
    ("run --system-libibverbs -- true",
     "xrc-compat: --system-libibverbs: this system has no libibverbs.so.1 "),
    ("run -- OLD -n 1", "xrc-compat: OLD loads the old libibverbs "),
    ("env --system-libibverbs",
     "xrc-compat: --system-libibverbs: this system has no libibverbs.so.1 for "),
    ("check OLD", "Verdict     broken\n            it brings an old libibverbs along"),
    ("run -- true", None),
    ("doctor", "is older than rdma-core"),
])
def test_system_without_libibverbs(run, xrc_compat, place, real_library, words, says):
    instead = f"{place}/old/libibverbs.so.1" if words == "doctor" else "/dev/null"
    hidden = f'mount --bind {instead} "$0" && exec "$@"'
    done = run(["unshare", "-m", "sh", "-c", hidden, os.path.realpath(real_library), xrc_compat,
                *words.replace("OLD", f"{place}/rpath").split()], env={"LD_LIBRARY_PATH": ""})
    assert (done.returncode == 127) == (words == "check OLD")
    if not says:
        assert done.stderr == ""
        return
    text = done.stdout * (words in ("check OLD", "doctor")) + done.stderr
    assert says.replace("OLD", f"{place}/rpath") in text
    assert text.count("install the distribution's libibverbs") == 1


def test_system_libibverbs_works_with_softhca(run, xrc_compat, place, model, sanitizer_env):
    done = run([
        xrc_compat, "run", "--softhca=2", "--system-libibverbs", "--", place / "wrapper", "-n", "1"
    ], timeout=90, env={**sanitizer_env, "LD_LIBRARY_PATH": ""})
    assert works(done), done


@pytest.mark.parametrize("words, program", [(["rpath"], "rpath"),
                                            (["--system-libibverbs"], "wrapper")])
def test_the_line_of_env_avoids_the_old_libibverbs(on_devices, xrc_compat, place, words,
                                                   program):
    words = [place / word if word == "rpath" else word for word in words]
    script = f'eval "$("$@" | sed -n 2p)"; exec {place / program} -n 1'
    assert works(on_devices("sh", "-c", script, "sh", xrc_compat, "env", *words))


@pytest.mark.parametrize(
    "words",
    [["check", "PROGRAM"], ["doctor"], ["ps"], ["selftest"], ["report", "--output", "REPORT"]])
def test_commands_never_load_the_old_library(on_devices, xrc_compat, place, tmp_path, words):
    places = {"PROGRAM": place / "plain", "REPORT": tmp_path / "report"}
    done = on_devices(xrc_compat, *(places.get(word, word) for word in words),
                      LD_LIBRARY_PATH=str(place / "old"))
    text = done.stdout + done.stderr
    if words[0] == "report":
        text += (tmp_path / "report").read_text()
    assert LOADED not in text
    assert "no RDMA device" not in text
    assert words[0] in ("ps", "doctor") or re.search(r"mlx[45]_0", text)
    # ps sees the tables that other tests forge.
    assert done.returncode == 0 or words[0] == "doctor" or (words[0], done.returncode) == ("ps", 1)


def test_check_and_doctor_report_the_old_libibverbs(on_devices, xrc_compat, place):
    """Without a device: the sample bundled_and_no_device of check_samples.py."""
    report = json.loads(on_devices(xrc_compat, "check", "--json", place / "rpath").stdout)
    assert (report["verdict"], report["old_libibverbs"]) == ("ready",
                                                             f"{place}/old/libibverbs.so.1")
    assert f"it brings an old libibverbs along ({place}/old/libibverbs.so.1)" in report["reason"]
    done = on_devices("env", f"LD_LIBRARY_PATH=/nonexistent:{place}/old", xrc_compat, "doctor",
                      "--json")
    rows = {row["what"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["LD_LIBRARY_PATH"]["verdict"] == "problem"
    assert f"{place}/old" in rows["LD_LIBRARY_PATH"]["text"]
    assert rows["devices"]["text"] == "2 of 2 can carry XRC"


def test_another_rdma_core_is_not_an_old_one(on_devices, xrc_compat, place, real_library, tmp_path):
    """The machine has a newer libibverbs in LD_LIBRARY_PATH, and the program gets that one."""
    os.symlink(os.path.realpath(real_library), tmp_path / "libibverbs.so.1")
    done = on_devices(xrc_compat, "run", "--", place / "plain", "-n", "1",
                      LD_LIBRARY_PATH=str(tmp_path), XRC_COMPAT_VERBOSE="1")
    assert works(done) and "takes the place" not in done.stderr
