# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat env` prints lines that work as they are, through every launcher."""

import json
import os
import shlex
import shutil

import pytest

from check_samples import MUSL
from check_workshop import compile_c
from installed import need

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
def typed(run, tmp_path, shell_script):
    """typed(line, **environment): the result of a line that is typed where such launchers are on
    PATH."""
    for launcher, script in LAUNCHERS.items():
        if launcher != "mpirun -e":
            shell_script(launcher.split()[0], script)

    def _typed(line, **environment):
        if line.startswith("mpirun -e"):
            shell_script("mpirun", LAUNCHERS["mpirun -e"])
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
def shown(helpers, shell_script):
    return shell_script("show", f"exec {helpers}/show-start quirk=$MV2_LIBIBVERBS_PATH")


def test_json_has_the_value_and_its_libraries(tool, helpers):
    """A script that writes job files needs no launcher's line."""
    document = json.loads(tool("env", "--json", "mpirun", helpers / "show-start",
                               LD_PRELOAD="libm.so.6").stdout)
    [library] = document["libraries"]
    assert library.endswith("/libxrc-compat.so.1")
    assert document["ld_preload"] == f"{library}:libm.so.6"


@pytest.fixture
def shows(probe, shown, typed):
    """shows(line, launcher, preload, quirk, **environment): runs the line where these variables
    are set, and checks both that its program sees."""
    def _shows(line, launcher, preload, quirk, **environment):
        command = f"{line}; {shown}" if launcher == "export" else line.replace(
            "PROGRAM", str(shown))
        result = typed(command, **environment)
        assert f"preload={preload}\n" in result.stdout, (line, result)
        assert f"argv=quirk={quirk}\n" in result.stdout, (line, result)
    return _shows


# They do not set MV2_LIBIBVERBS_PATH.
OTHER_MPI = ("mpirun -x", "mpirun -e")


@GIVEN
@EVERY_LAUNCHER
def test_the_line_gives_what_run_would_where_it_is_printed(clean, probe, shows, launcher, given,
                                                           seen):
    """The line puts the library first in the LD_PRELOAD of the shell that printed the line. It has
    that shell's MV2_LIBIBVERBS_PATH, or the default."""
    # The line for a remote shell has the value of $LIB in the shell that printed it.
    other = "libdl.so.2"
    given = {name: value.format(other=other) for name, value in given.items()}
    line = line_of(clean("env", **given), launcher)
    shows(line, launcher, seen[0].format(probe=probe, other=other),
          "" if launcher in OTHER_MPI else seen[1])


@GIVEN
@EVERY_LAUNCHER
def test_the_line_keeps_the_ld_preload_where_it_is_typed(clean, probe, shows, launcher, given,
                                                         seen):
    other = "/$LIB/x.so"
    given = {name: value.format(other=other) for name, value in given.items()}
    line = line_of(clean("env", LD_PRELOAD=""), launcher)
    own = given.get("MV2_LIBIBVERBS_PATH", "")
    shows(line, launcher, seen[0].format(probe=probe, other=other),
          own if launcher in OTHER_MPI else "libibverbs.so.1", **given)


@EVERY_LAUNCHER
def test_variables_of_programs_are_passed_on(clean, typed, launcher):
    """Only variables that the library and the emulator read in the program are passed on. A value
    may hold any character."""
    strange = "/tmp/it's a $HOME; `x`"
    line = line_of(
        clean("env", LD_PRELOAD="", XRC_COMPAT_VERBOSE="1", SOFTHCA_DIR=strange,
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
def test_each_argument_of_the_program_arrives_as_one_word(clean, typed, helpers, launcher,
                                                          tmp_path):
    """A blank cannot pass through the command line of mpirun_rsh."""
    program = tmp_path / "show it"
    program.symlink_to(helpers / "show-start")
    result = typed(line_of(clean("env", program, "a b", "$HOME", "q'q"), launcher))
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
    ("mpiexec.hydra -n 4 solver.exe", "mpiexec.hydra -genv LD_PRELOAD ", "-n 4 solver.exe"),
    ("srun -n 4 /nowhere/solver x", "srun -n 4 env LD_PRELOAD=", "/nowhere/solver x"),
])
def test_a_named_launcher_gets_one_line(clean, tmp_path, shell_script, words, begins, ends):
    shell_script("program", "")

    result = clean("env", *shlex.split(words), before=["env", f"--chdir={tmp_path}"], LD_PRELOAD="")
    [line] = result.stdout.splitlines()
    assert ("is taken for it" in result.stderr) == ("./" not in words)
    assert line.startswith(begins) and line.endswith(f" {ends}")
    # What a script starts may be MVAPICH2 2.3.
    assert ("MV2_LIBIBVERBS_PATH" in line) == ("openmpi" not in words)


@pytest.mark.parametrize("words", ["srun -n 4 sh input", "srun -n 4 solver", "ssh host sh",
                                   "mpirun_rsh -np 2 a b solver input"])
def test_a_launcher_that_wants_the_place_of_the_program_is_told_its_path(clean, words):
    """The variables stand directly in front of the program."""
    result = clean("env", *words.split(), LD_PRELOAD="")
    assert (result.returncode, result.stdout) == (125, "")
    assert "write the path of the program" in result.stderr
    assert clean("env", "--json", *words.split()).returncode == 0


@pytest.fixture
def mpirun(shell_script):
    """mpirun(version): an mpirun that prints this with --version."""
    return lambda version: shell_script("mpirun", f"echo '{version}'")


# What each mpirun prints. HP-MPI and Platform MPI do so with -version, by their user's guides.
VERSIONS = {"mpirun (Open MPI) 1.6.5": "-x", "prterun (PRRTE) 3.0.5": "-x",
            "HYDRA build details:\n    Version: 4.0.2": "-genv",
            "Intel(R) MPI Library for Linux* OS, Version 2019": "-genv",
            "mpirun: HP-MPI 02.03.01.00 Linux x86-64": "-e",
            "mpirun: Platform MPI 09.01.02.00": "-e"}


@pytest.mark.parametrize("version, option", VERSIONS.items())
def test_mpirun_is_asked_which_launcher_it_is(clean, mpirun, version, option):
    [line] = clean("env", mpirun(version), "/bin/true", LD_PRELOAD="").stdout.splitlines()
    assert line.split()[1] == option and line.endswith(" /bin/true")


def test_an_mpirun_that_does_not_tell_gets_a_line_for_each_launcher(clean, mpirun):
    lines = clean("env", mpirun("usage"), "/bin/true", LD_PRELOAD="").stdout.splitlines()
    assert [line[:2] for line in lines[::2]] == ["# "] * 3
    assert [line.split()[1] for line in lines[1::2]] == ["-x", "-genv", "-e"]


def test_a_launcher_alone_gets_its_line_for_any_program(clean):
    result = clean("env", "srun", LD_PRELOAD="")
    assert result.stdout.startswith("srun env LD_PRELOAD=") and result.stdout.endswith(" PROGRAM\n")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("option, keeps", [("-x", True), ("-genv", True), ("-e", False)])
def test_platform_mpi_would_expand_lib(clean, mpirun, option, keeps):
    """Its user's guide says that -e replaces variables in the value."""
    result = clean("env", mpirun("usage"), "/bin/true", LD_PRELOAD="/$LIB/x.so")
    [line] = [line for line in result.stdout.splitlines() if f" {option} LD_PRELOAD" in line]
    assert ("$LIB" in line) == keeps and "/x.so" in line


OPEN_MPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]


@pytest.mark.parametrize("by_file", [False, True])
def test_each_program_of_an_open_mpi_job_gets_the_variables(clean, run, probe, helpers, tmp_path,
                                                            by_file):
    """-x holds up to the next ':' only, and reaches no program of an appfile."""
    need(OPEN_MPI[0])
    show = str(helpers / "show-start")
    parts = ["-np", "1", show, ":", "-np", "1", show]
    if run([*OPEN_MPI, *parts], timeout=60).returncode:
        pytest.skip("this mpirun starts no two programs, as Debian 13's Open MPI 5.0.7")
    if by_file:
        parts = ["--app", str(tmp_path / "app")]
    *comment, line = clean("env", *OPEN_MPI, *parts, LD_PRELOAD="").stdout.splitlines()
    if by_file:
        told, begin = comment[0].split(" with: ")
        assert told == f"# begin each line of {tmp_path}/app"
        (tmp_path / "app").write_text(f"{begin} -np 1 {show} first\n{begin} -np 1 {show} second\n")
    done = run(["sh", "-c", line], env={"LD_PRELOAD": ""}, timeout=60)
    assert done.stdout.count(f"preload={probe}\n") == 2, (line, done)


def test_the_programs_of_an_appfile_are_looked_at(clean, build_root, mpirun, tmp_path):
    """Without a program of its own the line would lack their companions."""
    client = build_root / "tests" / "legacy" / "umad" / "umad-2009"
    (tmp_path / "app").write_text(f"-h a -np 2 {client} -x\n-h b -np 2 {client}\n")
    result = clean("env", mpirun("mpirun: Platform MPI 09.01.02.00"), "-prot", "-f",
                   tmp_path / "app", LD_PRELOAD="", LD_LIBRARY_PATH="")
    comment, line = result.stdout.splitlines()
    assert comment.startswith(f"# begin each line of {tmp_path}/app with: -e LD_PRELOAD=")
    assert comment.count("libibumad.so.2") == 1 and "LD_PRELOAD" not in line
    assert result.stderr == ""


def test_a_program_is_looked_at_once_and_a_library_named_once(clean, build_root, mpirun, tmp_path):
    client = build_root / "tests" / "legacy" / "umad" / "umad-2009"
    shutil.copy(client, tmp_path / "other")
    (tmp_path / "app").write_text(f"-h a {client}\n-h b {client}\n-h c {tmp_path}/other\n")
    result = clean("env", "--json", mpirun("mpirun: Platform MPI 09.01.02.00"), "-f",
                   tmp_path / "app", LD_PRELOAD="", LD_LIBRARY_PATH="", XRC_COMPAT_VERBOSE="1")
    libraries = json.loads(result.stdout)["libraries"]
    assert len(libraries) > 1 and len(set(libraries)) == len(libraries)
    said = [line for line in result.stderr.splitlines() if "libibumad.so" in line]
    assert [line.rsplit("/", 1)[1] for line in said] == ["umad-2009", "other"]


@pytest.mark.parametrize("size, cut", [(65535, False), (65536, False), (65537, True)])
def test_a_long_appfile_is_cut(clean, mpirun, tmp_path, size, cut):
    (tmp_path / "app").write_text("-h a /bin/true\n".ljust(size))
    result = clean("env", mpirun("mpirun: Platform MPI 09.01.02.00"), "-f", tmp_path / "app",
                   LD_PRELOAD="")
    assert (f"only 64 KiB of {tmp_path}/app are read" in result.stderr) == cut


def test_an_appfile_that_cannot_be_read_is_named(clean, mpirun, tmp_path):
    result = clean("env", mpirun("mpirun: Platform MPI 09.01.02.00"), "-f", tmp_path / "app",
                   LD_PRELOAD="")
    assert f"no words of {tmp_path}/app are read" in result.stderr


def test_the_options_of_the_program_name_no_appfile(clean, mpirun):
    command = mpirun("mpirun: Platform MPI 09.01.02.00")
    result = clean("env", command, "-np", "2", "/bin/true", "-f", "input", LD_PRELOAD="")
    [line] = result.stdout.splitlines()
    assert "LD_PRELOAD=" in line and line.endswith(" -np 2 /bin/true -f input"), line


def test_a_file_of_hosts_names_no_program(clean, mpirun, tmp_path):
    """-f is an appfile for Platform MPI only."""
    (tmp_path / "hosts").write_text("a\nb\n")
    result = clean("env", mpirun("HYDRA build details:"), "-f", tmp_path / "hosts", "solver",
                   LD_PRELOAD="")
    assert "solver is taken for it" in result.stderr


def test_csh_takes_the_lines(clean, probe, shown, typed):
    """csh cannot expand ${LD_PRELOAD:+...}, and has no export."""
    need("csh")
    printed = clean("env", LD_PRELOAD="", SHELL="/bin/tcsh")
    assert printed.stdout.startswith("# for csh, as SHELL says; --shell=sh prints lines for sh\n")
    assert clean("env", "--shell=csh", LD_PRELOAD="").stdout in printed.stdout
    assert "${" in clean("env", "--shell=sh", LD_PRELOAD="", SHELL="/bin/tcsh").stdout
    lines = printed.stdout.splitlines()
    setenv = [line for line in lines if line.startswith("setenv ")]
    for line in ["; ".join([*setenv, str(shown)]), line_of(printed, "srun"),
                 line_of(printed, "mpiexec"), line_of(printed, "ssh")]:
        result = typed(f"exec csh -f -c '{line.replace('PROGRAM', str(shown))}'")
        assert f"preload={probe}\n" in result.stdout, (line, result)
        assert "argv=quirk=libibverbs.so.1\n" in result.stdout, (line, result)


def test_a_wrapper_with_a_library_path_is_reported(clean, shell_script):
    """Otherwise the job ends in "Fatal error in MPI_Init" if the path has an old libibverbs."""
    wrapper = shell_script("wrapper", "LD_LIBRARY_PATH=/opt/solver/lib exec /bin/true")
    words = ["env", "mpirun_rsh", "-np", "2", "a", "b", wrapper]
    assert "add --system-libibverbs\n" in clean(*words, LD_PRELOAD="").stderr
    assert clean("env", "--system-libibverbs", *words[1:], LD_PRELOAD="").stderr == ""


@pytest.mark.parametrize("words", [[], ["mpirun_rsh", "-np", "1", "a"],
                                   ["mpirun.openmpi", "/bin/true", ":"]])
def test_a_program_into_which_nothing_is_preloaded_is_reported(clean, tmp_path, words):
    """The loader says nothing when it ignores it. The line is printed: other hosts may differ."""
    program = tmp_path / "setuid"
    shutil.copy("/bin/true", program)
    program.chmod(0o4755)
    result = clean("env", *words, program)
    assert f"{program}: is setuid or setgid; the dynamic loader ignores" in result.stderr
    assert f" {program}\n" in result.stdout and result.returncode == 0


def test_a_program_of_another_libc_is_reported(clean, tmp_path):
    need("cc")
    program = compile_c(tmp_path / "of_musl", "int main(void) { return 0; }", MUSL)
    why = "its libraries are not known: it belongs to another C library\n"
    assert f"{program}: {why}" in clean("env", program).stderr


def test_env_is_refused_without_the_library(clean):
    result = clean("env", XRC_COMPAT_LIBRARY="/nonexistent/lib.so")
    assert (result.returncode, result.stdout) == (125, "")
    assert "/nonexistent/lib.so" in result.stderr


def test_the_command_to_try_has_the_name_as_one_word(tool):
    refused = tool("env", "--system-libibverbs", "x;rm y", status=125,
                   XRC_COMPAT_VERBOSE="1").stderr
    assert refused.startswith("xrc-compat: env: x;rm y: no program; try: ")
    assert shlex.split(refused.split("try: ")[1]) == ["xrc-compat", "check", "x;rm y"]
