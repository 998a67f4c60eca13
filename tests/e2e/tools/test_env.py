# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat env` prints lines that work as they are, through every launcher."""

import os
import subprocess

import pytest

pytestmark = pytest.mark.any_model


# Launchers that take variables as the real ones do, and start the program. srun keeps what is set
# already (tried with Slurm 24.11).
NAME_VALUE = 'while [ "$1" = %s ]; do export "$2"; shift 2; done; exec "$@"'
LAUNCHERS = {
    "mpirun -x": NAME_VALUE % "-x",
    "mpirun -e": NAME_VALUE % "-e",
    "mpiexec -genv": 'while [ "$1" = -genv ]; do export "$2=$3"; shift 3; done; exec "$@"',
    # By a remote shell, in an environment of its own, as sshd and mpispawn do.
    "mpirun_rsh": 'shift 3; exec env -i PATH="$PATH" sh -c "exec env $*"',
    "ssh": 'shift; exec env -i PATH="$PATH" sh -c "$*"',
    "srun": """case $1 in --export=ALL,*)
        IFS=,; set -f
        for v in ${1#--export=ALL,}; do printenv "${v%%=*}" >/dev/null || export "$v"; done
        shift
    esac; exec "$@\"""",
}


@pytest.fixture
def typed(run, tmp_path):
    """typed(line, **environment): the result of a line that is typed where such launchers are on
    PATH."""
    for launcher, script in LAUNCHERS.items():
        file = tmp_path / launcher.split()[0]
        if launcher != "mpirun -e":
            file.write_text(f"#!/bin/sh\n{script}\n")
            file.chmod(0o755)

    def _typed(line, **environment):
        if line.startswith("mpirun -e"):
            (tmp_path / "mpirun").write_text(f"#!/bin/sh\n{LAUNCHERS['mpirun -e']}\n")
        return run(["sh", "-c", line], env={
            "PATH": f"{tmp_path}:{os.environ['PATH']}", "LD_PRELOAD": "", **environment
        }, timeout=60)

    return _typed


def line_of(result, launcher):
    [line] = [line for line in result.stdout.splitlines() if line.startswith(launcher + " ")]
    return line


GIVEN = pytest.mark.parametrize("given, seen", [
    ({"LD_PRELOAD": ""}, ("{probe}", "libibverbs.so.1")),
    ({"LD_PRELOAD": "libm.so.6:{other}"}, ("{probe}:libm.so.6:{other}", "libibverbs.so.1")),
    ({"LD_PRELOAD": "", "MV2_LIBIBVERBS_PATH": "/my/own.so"}, ("{probe}", "/my/own.so")),
], ids=["alone", "beside-another", "own-setting"])
EVERY_LAUNCHER = pytest.mark.parametrize("launcher", ["export", *LAUNCHERS])


@pytest.fixture
def shown(helpers, tmp_path):
    script = tmp_path / "show"
    script.write_text(f"#!/bin/sh\nexec {helpers}/show-start quirk=$MV2_LIBIBVERBS_PATH\n")
    script.chmod(0o755)
    return script


@GIVEN
@pytest.mark.parametrize("where", ["typed", "printed"])
@EVERY_LAUNCHER
def test_the_line_for_each_launcher_gives_what_run_would(clean, run, probe, shown, typed, launcher,
                                                         where, given, seen):
    """The line puts the library first in LD_PRELOAD. It keeps the LD_PRELOAD of the shell that
    printed the line, or in which it is typed. MV2_LIBIBVERBS_PATH is that of the shell that printed
    the line, or the default; launchers of other MPI libraries do not set it."""
    # The line for a remote shell has the value of $LIB in the shell that printed it.
    other = "/$LIB/x.so" if where == "typed" else "libdl.so.2"
    given = {name: value.format(other=other) for name, value in given.items()}
    if launcher in ("mpirun -x", "mpirun -e"):
        seen = (seen[0], given.get("MV2_LIBIBVERBS_PATH", "") if where == "typed" else "")
    elif where == "typed" and "MV2_LIBIBVERBS_PATH" in given:
        seen = (seen[0], "libibverbs.so.1")
    line = line_of(clean(run, "env", **({"LD_PRELOAD": ""} if where == "typed" else given)),
                   launcher)
    command = f"{line}; {shown}" if launcher == "export" else line.replace("PROGRAM", str(shown))
    result = typed(command, **(given if where == "typed" else {}))
    assert f"preload={seen[0].format(probe=probe, other=other)}\n" in result.stdout, (line, result)
    assert f"argv=quirk={seen[1]}\n" in result.stdout, (line, result)


@EVERY_LAUNCHER
def test_variables_of_programs_are_passed_on(clean, run, typed, launcher):
    """Only variables that the library and the emulator read in the program are passed on. A value
    may hold any character."""
    strange = "/tmp/it's a $HOME; `x`"
    line = line_of(
        clean(run, "env", LD_PRELOAD="", XRC_COMPAT_VERBOSE="1", SOFTHCA_DIR=strange,
              SOFTHCA_MODEL="connectx5"), launcher)
    assert "SOFTHCA_MODEL" not in line and "XRC_COMPAT_LIBRARY" not in line
    if launcher == "mpirun_rsh":
        # a blank cannot pass through its command line
        line = line.replace(line[line.index(" SOFTHCA_DIR="):line.index(" PROGRAM")], "")
    result = typed(f"{line}; printenv" if launcher ==
                   "export" else line.replace("PROGRAM", "printenv"))
    assert "\nXRC_COMPAT_VERBOSE=1\n" in "\n" + result.stdout
    assert launcher == "mpirun_rsh" or f"\nSOFTHCA_DIR={strange}\n" in "\n" + result.stdout


@pytest.mark.parametrize("launcher", ["ssh", "srun"])
def test_each_argument_of_the_program_arrives_as_one_word(clean, run, typed, helpers, launcher,
                                                          tmp_path):
    """A blank cannot pass through the command line of mpirun_rsh."""
    program = tmp_path / "show it"
    program.symlink_to(helpers / "show-start")
    result = typed(line_of(clean(run, "env", program, "a b", "$HOME", "q'q"), launcher))
    assert result.stdout.count("argv=") == 4, result
    assert all(f"argv={word}\n" in result.stdout for word in ("a b", "$HOME", "q'q"))


@pytest.mark.parametrize("launcher", ["ssh", "mpirun_rsh", "srun"])
def test_a_line_of_softhca_run_finds_the_adapter_in_an_emptied_environment(run, softhca, xrc_compat,
                                                                           build_root, typed,
                                                                           launcher, tmp_path,
                                                                           sanitizer_env):
    program = build_root / "demo" / "xrc-cluster"
    script = f'line=$("$0" env "$1" | grep "^{launcher} ") && env -i PATH="{tmp_path}:$PATH" sh -c "$line"'
    result = run([softhca, "run", "--devices=2", "--", "sh", "-c", script, xrc_compat, program],
                 timeout=60, env=sanitizer_env)
    assert result.returncode == 0 and "receive completions" in result.stdout, result


@pytest.mark.parametrize("words, begins, ends", [
    ("mpirun_rsh -np 2 a b ./program x", "mpirun_rsh -np 2 a b LD_PRELOAD=", "./program x"),
    ("srun -n 4 ./program 'a b'", "srun -n 4 env LD_PRELOAD=", "./program 'a b'"),
    ("ssh host ./program", "ssh host env LD_PRELOAD=", "./program"),
    ("mpiexec.hydra -n 4 ./program", "mpiexec.hydra -genv LD_PRELOAD ", "-n 4 ./program"),
    ("mpirun.openmpi -n 4 ./program", "mpirun.openmpi -x LD_PRELOAD=", "-n 4 ./program"),
    ("srun -n 4 solver.exe", "srun -n 4 env LD_PRELOAD=", "solver.exe"),
    ("srun -p test sh", "srun -p test env LD_PRELOAD=", "sh"),  # both are programs on PATH
])
def test_a_named_launcher_gets_one_line(clean, tmp_path, words, begins, ends):
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)

    def here(argv):
        return subprocess.run(["sh", "-c", f'"$@" {words}', "sh", *map(str, argv)],
                              capture_output=True, text=True, cwd=tmp_path, timeout=60)

    result = clean(here, "env", LD_PRELOAD="")
    [line] = result.stdout.splitlines()
    assert (f"the last one, {ends}, is taken for it" in result.stderr) == ("./" not in words)
    assert line.startswith(begins) and line.endswith(f" {ends}")
    # What a script starts may be MVAPICH2 2.3.
    assert ("MV2_LIBIBVERBS_PATH" in line) == ("openmpi" not in words)


def test_mpirun_gets_a_line_for_each_launcher_of_that_name(clean, run):
    lines = clean(run, "env", "mpirun", "/bin/true", LD_PRELOAD="").stdout.splitlines()
    assert sum(line.startswith("#") for line in lines) == 3
    assert [line.split()[1] for line in lines[1::2]] == ["-x", "-genv", "-e"]


def test_env_is_refused_without_the_library(clean, run):
    result = clean(run, "env", XRC_COMPAT_LIBRARY="/nonexistent/lib.so")
    assert (result.returncode, result.stdout) == (125, "")
    assert "/nonexistent/lib.so" in result.stderr
