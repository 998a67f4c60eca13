# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat doctor` finds each trouble and says what to do."""

import os
import re
import shutil
import subprocess

import pytest

LOADER = "/lib64/ld-linux-x86-64.so.2"


def problems(result):
    return [line.split(None, 1)[1] for line in result.stdout.splitlines() if line.startswith("PROBLEM")]


def test_healthy_machine(clean, run):
    result = clean(run, "doctor")
    assert (problems(result), result.returncode) == ([], 0)
    assert result.stdout.endswith("Nothing is wrong.\n")


def test_companions_are_looked_for(clean, run, build_root):
    result = clean(run, "doctor")
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
def test_each_trouble_is_found_alone_and_with_advice(clean, run, environment, where, what, advice):
    result = clean(run, "doctor", **environment)
    [problem] = problems(result)
    assert problem.startswith(where) and what in problem
    assert advice in result.stdout
    assert result.returncode == 1


@pytest.mark.parametrize("name", ["with blank", "with:colon", "with$dollar"])
@pytest.mark.parametrize("command", ["env", "doctor"])
def test_a_library_whose_path_ld_preload_cannot_carry(clean, run, probe, tmp_path, command, name):
    (tmp_path / name).mkdir()
    result = clean(run, command, XRC_COMPAT_LIBRARY=str(shutil.copy(probe, tmp_path / name)))
    assert result.returncode in (1, 125)
    assert "cannot stand in LD_PRELOAD" in result.stdout + result.stderr


def test_a_library_that_is_a_program(clean, run):
    [problem] = problems(clean(run, "doctor", XRC_COMPAT_LIBRARY="/proc/self/exe"))
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
def test_tables_that_systemd_removes_at_log_out(clean, run, tmp_path, files, removes):
    os.chmod(tmp_path, 0o755)
    for folder in ("all", "etc", "run", "lib"):
        (tmp_path / folder).mkdir()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def as_user(argv, **kwargs):
        return run(["unshare", "-m", "sh", "-c", LOGIN, "sh", tmp_path, *argv], **kwargs)

    result = clean(as_user, "doctor", XRC_COMPAT_TABLE_DIR="/dev/shm")
    found = [line for line in result.stdout.splitlines() if "/dev/shm" in line]
    assert len(found) == 1, result
    assert found[0].startswith("PROBLEM") == removes
    assert ("RemoveIPC=no" in result.stdout) == removes


def test_a_preload_that_is_not_there(clean, run, fakes):
    result = clean(run, "doctor", LD_PRELOAD=f"{fakes['LD_PRELOAD']}:/nonexistent/libold.so")
    [problem] = problems(result)
    assert problem.startswith("LD_PRELOAD") and "/nonexistent/libold.so" in problem


@pytest.mark.skipif(not os.path.exists(LOADER), reason="only on x86-64 it is known what the loader puts for $LIB")
@pytest.mark.parametrize("token", ["$LIB", "${LIB}"])
def test_a_preload_for_both_word_sizes(clean, run, fakes, build_root, tmp_path, token):
    """As `xrc-compat env` and `run` set it where the libraries of both are installed."""
    folder = tmp_path / re.sub("^/(usr/)?", "", os.path.dirname(os.path.realpath(LOADER)))
    folder.mkdir(parents=True)
    shutil.copy(build_root / "tests" / "e2e" / "tools" / "libprobe.so", folder / "libours.so")
    assert problems(clean(run, "doctor", LD_PRELOAD=f"{fakes['LD_PRELOAD']}:{tmp_path}/{token}/libours.so")) == []
    [problem] = problems(clean(run, "doctor", LD_PRELOAD=f"{fakes['LD_PRELOAD']}:{tmp_path}/{token}/libold.so"))
    assert f"{folder}/libold.so in LD_PRELOAD" in problem


def test_wrong_usage(clean, run):
    assert clean(run, "doctor", "nonsense").returncode == 125
