# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that open libibverbs.so and other development names work where only libibverbs.so.1 is
installed: as HP-MPI and Platform MPI do (opened.c), and as MVAPICH2 2.3.5 does."""

import os
import re
import shlex

import pytest

from facts import DEVELOPMENT

FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/i386-linux-gnu", "/usr/lib64", "/usr/lib32",
           "/usr/lib"]


HIDE = """
for folder in FOLDERS; do
    place=PLACE$folder
    mkdir -p $place && mount -t tmpfs tmpfs $place && mkdir $place/upper $place/work &&
        mount -t overlay -o lowerdir=$folder,upperdir=$place/upper,workdir=$place/work overlay $folder &&
        (cd $folder && rm -f NAMES) || exit 77
done
exec "$@"
"""


@pytest.fixture
def runtime_only(run, tmp_path):
    """A command that starts another one on this system without the development names, with mounts
    of its own."""
    folders = [folder for folder in FOLDERS if not os.path.islink(folder) and
               any(os.path.lexists(f"{folder}/{name}") for name in DEVELOPMENT)]
    script = HIDE.replace("FOLDERS", " ".join(folders)).replace("PLACE", str(tmp_path))
    command = ["unshare", "--mount", *["--user", "--map-root-user"] * (os.geteuid() != 0), "sh",
               "-c", script.replace("NAMES", " ".join(DEVELOPMENT)), "sh"]
    if run([*command, "true"]).returncode:
        pytest.skip("no files can be hidden here: no mounts of its own, or no overlay")
    return command


@pytest.fixture
def program(build_root):
    return build_root / "tests" / "legacy" / "opened" / "opened"


@pytest.fixture
def on_devices(run, softhca, runtime_only, sanitizer_env):
    """on_devices(command...): on two emulated adapters, where no development package is."""
    return lambda *command, **environment: run(
        [*runtime_only, softhca, "run", "--devices=2", "--", *command], timeout=90,
        env={**sanitizer_env, "LD_LIBRARY_PATH": "", **environment})


def all_right(done):
    return (done.returncode, done.stdout, done.stderr) == (0, "all right\n", "")


def test_without_xrc_compat_no_library_is_found(on_devices, program):
    done = on_devices(program)
    assert (done.returncode, done.stdout) == (
        1, "libibverbs.so: cannot open shared object file: No such file or directory\n")


def test_run_lets_the_program_open_check_and_close_it_and_use_xrc(on_devices, xrc_compat, program):
    assert all_right(on_devices(xrc_compat, "run", "--", program))


@pytest.mark.parametrize("mode", ["--poll", "--event"])
def test_mvapich2_finds_the_library_by_its_development_name(on_devices, xrc_compat, build_root,
                                                            mode, in_memory):
    """The variable would lead it to no library."""
    client = build_root / "tests" / "legacy" / "clients" / "mvapich2-dlopen"
    done = on_devices(xrc_compat, "run", "--", client, mode, TMPDIR=str(in_memory),
                      MV2_LIBIBVERBS_PATH="/nonexistent.so")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.any_model
@pytest.mark.usefixtures("systems_class")
def test_the_line_of_env_serves_hosts_without_development_packages(on_devices, run, xrc_compat,
                                                                   program):
    """The line is printed on a host that may have the packages."""
    printed = run([xrc_compat, "env", "srun", program],
                  env={"LD_PRELOAD": "", "LD_LIBRARY_PATH": ""})
    [line] = printed.stdout.splitlines()
    assert "MV2_" not in line
    line = line.removeprefix("srun ").replace("${LD_PRELOAD:+:$LD_PRELOAD}", ":$LD_PRELOAD")
    assert all_right(on_devices("sh", "-c", line))


@pytest.mark.any_model
@pytest.mark.usefixtures("systems_class")
def test_a_script_needs_the_option(on_devices, xrc_compat, program, shell_script):
    script = shell_script("script", f"program={shlex.quote(str(program))}\nexec $program")
    assert on_devices(xrc_compat, "run", "--", script).returncode == 1
    assert all_right(on_devices(xrc_compat, "run", "--companions", "--", script))


@pytest.mark.any_model
def test_check_names_the_companion_and_the_libibverbs(on_devices, xrc_compat, program):
    text = on_devices(xrc_compat, "check", program).stdout
    assert re.search(r"^Companions +/\S+/libibverbs\.so$", text, re.M), text
    assert re.search(r"^libibverbs +/\S+/libibverbs\.so\.1$", text, re.M), text
    assert "gives them to it; xrc-compat brings along libibverbs.so\n" in text


@pytest.mark.any_model
def test_no_companion_where_the_development_package_is_installed(run, xrc_compat, program,
                                                                 real_library):
    if not os.path.exists(os.path.join(os.path.dirname(real_library), "libibverbs.so")):
        pytest.skip("no libibverbs.so is installed")
    done = run([xrc_compat, "run", "--", program, "libibverbs.so"],
               env={"XRC_COMPAT_VERBOSE": "1", "LD_LIBRARY_PATH": ""})
    assert done.returncode == 0 and "is preloaded" not in done.stderr


@pytest.mark.any_model
def test_no_companion_whose_library_is_missing(run, runtime_only, xrc_compat, program, tmp_path,
                                               real_library):
    """The loader would start no program of the job."""
    empty = tmp_path / "empty"
    empty.write_text("")
    done = run([*runtime_only, "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', empty,
                os.path.realpath(real_library), xrc_compat, "run", "--companions", "--", "true"],
               env={"LD_LIBRARY_PATH": ""})
    assert done.returncode == 0, done


@pytest.mark.parametrize("name, today", DEVELOPMENT.items())
@pytest.mark.any_model
def test_each_name_leads_to_todays_library(on_devices, xrc_compat, build_root, program, name,
                                           today):
    """opened has only libibverbs.so in it, so --companions brings the others."""
    loaded = on_devices("ldd", build_root / "companions" / name).stdout
    if f"{today} => /" not in loaded:
        pytest.skip(f"{today} is not installed")
    assert all_right(on_devices(xrc_compat, "run", "--companions", "--", program, name))
