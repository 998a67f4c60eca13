# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat env` prints lines that work as they are; `xrc-compat doctor` finds each trouble and says what to do."""

import os
import re
import shutil
import subprocess

import pytest

LOADER = "/lib64/ld-linux-x86-64.so.2"


@pytest.fixture
def tool(fakes, xrc_compat, tmp_path):
    """tool(run, *arguments, **environment): the command in a clean environment on a machine with one good device."""

    def _tool(run, *arguments, **environment):
        sanitizers = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        values = {**sanitizers, **fakes, "PATH": os.environ["PATH"], "FAKE_DEVICES": "mlx4_0", "XRC_COMPAT_TABLE_DIR": str(tmp_path),
                  **environment}
        words = [f"{name}={value}" for name, value in values.items()]
        return run(["env", "-i", *words, xrc_compat, *arguments])

    return _tool


def test_env_names_the_library_in_a_line_for_each_launcher(tool, run, probe):
    lines = tool(run, "env").stdout.splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    assert len(commands) == len(lines) / 2 >= 5
    assert all(str(probe) in line for line in commands)
    for word in ("Open MPI", "Intel MPI", "Platform MPI", "Slurm"):
        assert any(word in line for line in lines if line.startswith("#"))


# Launchers that take variables as the real ones do, and start the program. srun keeps what is set already (tried with Slurm 24.11).
NAME_VALUE = 'while [ "$1" = %s ]; do export "$2"; shift 2; done; exec "$@"'
LAUNCHERS = {
    "mpirun -x": NAME_VALUE % "-x",
    "mpirun -e": NAME_VALUE % "-e",
    "mpiexec -genv": 'while [ "$1" = -genv ]; do export "$2=$3"; shift 3; done; exec "$@"',
    "mpirun_rsh": 'shift 3; exec env "$@"',
    "srun": """case $1 in --export=ALL,*)
        IFS=,; set -f
        for v in ${1#--export=ALL,}; do printenv "${v%%=*}" >/dev/null || export "$v"; done
        shift
    esac; exec "$@\"""",
}


@pytest.mark.parametrize("given, seen", [
    ({"LD_PRELOAD": ""}, ("{probe}", "libibverbs.so.1")),
    ({"LD_PRELOAD": "libm.so.6 libdl.so.2"}, ("{probe}:libm.so.6 libdl.so.2", "libibverbs.so.1")),
    ({"LD_PRELOAD": "", "MV2_LIBIBVERBS_PATH": "/my/own.so"}, ("{probe}", "/my/own.so")),
], ids=["alone", "beside-another", "own-setting"])
@pytest.mark.parametrize("launcher", ["export", *LAUNCHERS])
def test_the_line_for_each_launcher_gives_what_run_would(tool, run, probe, helpers, tmp_path, launcher, given, seen):
    """The line preloads the library before what is preloaded already, and sets what the quirks' table says, unless it is set."""
    [line] = [line for line in tool(run, "env").stdout.splitlines() if line.startswith(launcher + " ")]
    show = f"{helpers}/show-start quirk=$MV2_LIBIBVERBS_PATH"
    shown = tmp_path / "show"
    shown.write_text(f"#!/bin/sh\nexec {show}\n")
    shown.chmod(0o755)
    script = tmp_path / launcher.split()[0]
    script.write_text(f"#!/bin/sh\n{LAUNCHERS.get(launcher)}\n")
    script.chmod(0o755)
    command = f"{line}; {shown}" if launcher == "export" else line.replace("PROGRAM", str(shown))
    result = run(["sh", "-c", command], env={"PATH": f"{tmp_path}:{os.environ['PATH']}", **given})
    assert f"preload={seen[0].format(probe=probe)}\n" in result.stdout, result
    assert f"argv=quirk={seen[1]}\n" in result.stdout, result


def test_env_without_the_library(tool, run):
    result = tool(run, "env", XRC_COMPAT_LIBRARY="/nonexistent/lib.so")
    assert (result.returncode, result.stdout) == (125, "")
    assert "xrc-compat doctor" in result.stderr


def problems(result):
    return [line.split(None, 1)[1] for line in result.stdout.splitlines() if line.startswith("PROBLEM")]


def test_healthy_machine(tool, run):
    result = tool(run, "doctor")
    assert (problems(result), result.returncode) == ([], 0)
    assert result.stdout.endswith("Nothing is wrong.\n")


def test_companions_are_looked_for(tool, run, build_root):
    result = tool(run, "doctor")
    assert re.search(rf"^ok +companions +libibumad.so.1 and others, in {build_root}/companions$", result.stdout, re.M)


@pytest.mark.parametrize("environment, where, what, advice", [
    ({"XRC_COMPAT_LIBRARY": "/nonexistent/lib.so"}, "library", "is not there", "XRC_COMPAT_LIBRARY"),
    ({"XRC_COMPAT_LIBRARY": "/etc/passwd"}, "library", "is not a shared library", "install xrc-compat again"),
    ({"FAKE_DEVICES": ""}, "devices", "there is no RDMA device", "load the kernel's driver"),
    ({"FAKE_DEVICES": "rxe0"}, "devices", "none of 1 has XRC", "--softhca"),
    ({"FAKE_DEVICES": "mlx5_9"}, "devices", "mlx5_9 cannot be opened", "permissions"),
    ({"FAKE_DEVICES": "crash"}, "devices", "cannot be listed", "ibv_devinfo"),
    ({"XRC_COMPAT_TABLE_DIR": "/nonexistent"}, "table directory", "/nonexistent", "XRC_COMPAT_TABLE_DIR"),
    ({"XRC_COMPAT_TABLE_DIR": "."}, "table directory", ".: the directory must be an absolute path", "on a local file system"),
    ({"XRC_COMPAT_TABLE_DIR": "/etc/passwd"}, "table directory", "/etc/passwd: Not a directory", "on a local file system"),
    ({"XRC_COMPAT_TABLE_DIR": "/proc"}, "table directory", "/proc: ", "on a local file system"),
    ({"XRC_COMPAT_VERBSE": "1"}, "variables", "XRC_COMPAT_VERBSE is set, but nothing reads it", "env-vars"),
    ({"SOFTHCA_DIRECTORY": "x"}, "variables", "SOFTHCA_DIRECTORY", "env-vars"),
])
def test_each_trouble_is_found_alone_and_with_advice(tool, run, environment, where, what, advice):
    result = tool(run, "doctor", **environment)
    [problem] = problems(result)
    assert problem.startswith(where) and what in problem
    assert advice in result.stdout
    assert result.returncode == 1


@pytest.mark.parametrize("name", ["with blank", "with:colon", "with$dollar"])
@pytest.mark.parametrize("command", ["env", "doctor"])
def test_a_library_whose_path_ld_preload_cannot_carry(tool, run, probe, tmp_path, command, name):
    (tmp_path / name).mkdir()
    result = tool(run, command, XRC_COMPAT_LIBRARY=str(shutil.copy(probe, tmp_path / name)))
    assert result.returncode in (1, 125)
    assert "cannot stand in LD_PRELOAD" in result.stdout + result.stderr


def test_a_library_that_is_a_program(tool, run):
    [problem] = problems(tool(run, "doctor", XRC_COMPAT_LIBRARY="/proc/self/exe"))
    assert "is not a shared library" in problem


# Run in a mount namespace: makes a machine that runs systemd, with the configuration files in the folder $1, and becomes a user.
LOGIN = """
cp -a /etc/. "$1/all" && rm -rf "$1"/all/systemd/logind.conf* && cp -a "$1/etc/." "$1/all" && mount --bind "$1/all" /etc &&
mount -t tmpfs none /run && mkdir -p /run/systemd/system && cp -a "$1/run/." /run &&
mount -t tmpfs none /usr/local/lib && cp -a "$1/lib/." /usr/local/lib &&
shift && exec setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
"""
YES, NO = "[Login]\nRemoveIPC=yes\n", "[Login]\nRemoveIPC=no\n"
MAIN, DROP_INS = "systemd/logind.conf", "systemd/logind.conf.d"


def own_mounts():
    """In a plain chroot there are none: unshare needs the root directory to be a mount."""
    return os.geteuid() == 0 and not subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode


@pytest.mark.skipif(not own_mounts(), reason="needs root and mounts of its own for another machine's configuration")
@pytest.mark.parametrize("files, removes", [
    ({}, True),
    ({f"etc/{MAIN}": YES}, True),
    ({f"etc/{MAIN}": NO}, False),
    ({f"etc/{MAIN}": "[Login]\n#RemoveIPC=yes\n RemoveIPC = Off\n"}, False),
    ({f"etc/{MAIN}": NO + "RemoveIPC=yes\n"}, True),
    ({f"etc/{MAIN}": NO + "RemoveIPC=perhaps\nRemoveIPC=yes, please\n"}, False),
    ({f"etc/{MAIN}": NO + "[Other]\nRemoveIPC=yes\n"}, False),
    ({f"run/{MAIN}": NO}, False),
    ({f"etc/{MAIN}": "[Login]\n", f"run/{MAIN}": NO}, True),  # one hides the other
    ({f"etc/{MAIN}": NO, f"lib/{DROP_INS}/10.conf": YES}, True),  # drop-ins come after it, wherever they are
    ({f"etc/{MAIN}": YES, f"run/{DROP_INS}/10.conf": NO}, False),
    ({f"etc/{DROP_INS}/10.conf": YES, f"lib/{DROP_INS}/20.conf": NO}, False),  # in the order of their names
    ({f"etc/{DROP_INS}/20.conf": YES, f"lib/{DROP_INS}/10.conf": NO}, True),
    ({f"etc/{DROP_INS}/10.conf": NO, f"run/{DROP_INS}/10.conf": YES}, False),
    ({f"etc/{DROP_INS}/10.conf": "", f"lib/{DROP_INS}/10.conf": NO}, True),
    ({f"etc/{DROP_INS}/10.conf.old": NO, f"etc/{DROP_INS}/.10.conf": NO}, True),
])
def test_tables_that_systemd_removes_at_log_out(tool, run, tmp_path, files, removes):
    os.chmod(tmp_path, 0o755)
    for folder in ("all", "etc", "run", "lib"):
        (tmp_path / folder).mkdir()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def as_user(argv, **kwargs):
        return run(["unshare", "-m", "sh", "-c", LOGIN, "sh", tmp_path, *argv], **kwargs)

    result = tool(as_user, "doctor", XRC_COMPAT_TABLE_DIR="/dev/shm")
    found = [line for line in result.stdout.splitlines() if "/dev/shm" in line]
    assert len(found) == 1, result
    assert found[0].startswith("PROBLEM") == removes
    assert ("RemoveIPC=no" in result.stdout) == removes


def test_a_preload_that_is_not_there(tool, run, fakes):
    result = tool(run, "doctor", LD_PRELOAD=f"{fakes['LD_PRELOAD']}:/nonexistent/libold.so")
    [problem] = problems(result)
    assert problem.startswith("LD_PRELOAD") and "/nonexistent/libold.so" in problem


@pytest.mark.skipif(not os.path.exists(LOADER), reason="only on x86-64 it is known what the loader puts for $LIB")
@pytest.mark.parametrize("token", ["$LIB", "${LIB}"])
def test_a_preload_for_both_word_sizes(tool, run, fakes, build_root, tmp_path, token):
    """As `xrc-compat env` and `run` set it where the libraries of both are installed."""
    folder = tmp_path / re.sub("^/(usr/)?", "", os.path.dirname(os.path.realpath(LOADER)))
    folder.mkdir(parents=True)
    shutil.copy(build_root / "tests" / "e2e" / "tools" / "libprobe.so", folder / "libours.so")
    assert problems(tool(run, "doctor", LD_PRELOAD=f"{fakes['LD_PRELOAD']}:{tmp_path}/{token}/libours.so")) == []
    [problem] = problems(tool(run, "doctor", LD_PRELOAD=f"{fakes['LD_PRELOAD']}:{tmp_path}/{token}/libold.so"))
    assert f"{folder}/libold.so in LD_PRELOAD" in problem


@pytest.mark.parametrize("command", ["env", "doctor"])
def test_wrong_usage(tool, run, command):
    assert tool(run, command, "nonsense").returncode == 125
    assert tool(run, command, "--help").returncode == 0
