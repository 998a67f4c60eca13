# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat run`: how it starts a program, and which programs it refuses before they start."""

import os
import shutil
import signal
import stat
import struct
import subprocess

import pytest

from compiling import executed_here

REFUSED, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127


@pytest.fixture
def launch(run, xrc_compat, probe):
    """launch(*arguments, **environment): `xrc-compat run ARGUMENTS` with the probe library as the
    shim."""

    def _launch(*arguments, cwd=None, **environment):
        env = {"XRC_COMPAT_LIBRARY": str(probe), "LD_PRELOAD": ""}
        env.update(environment)
        return run([xrc_compat, "run", *arguments], env=env, cwd=cwd)

    return _launch


def preload_of(result):
    [line] = [line for line in result.stdout.splitlines() if line.startswith("preload=")]
    return line.split("=", 1)[1]


def argv_of(result):
    return [
        line.split("=", 1)[1] for line in result.stdout.splitlines() if line.startswith("argv=")
    ]


def test_preloads_the_library(launch, helpers, probe):
    result = launch(helpers / "show-start")
    assert (result.returncode, preload_of(result)) == (0, str(probe))
    assert result.stderr == "probe library loaded\n"


def test_run_within_run_preloads_once(launch, helpers, probe, xrc_compat):
    result = launch("--", xrc_compat, "run", "--", helpers / "show-start")
    assert preload_of(result) == str(probe)


def test_the_shim_precedes_a_preload_whose_name_begins_as_its_own(launch, helpers, probe, tmp_path):
    longer = shutil.copy(probe, tmp_path / "libprobe.so.old")
    short = shutil.copy(probe, tmp_path / "libprobe.so")
    result = launch(helpers / "show-start", LD_PRELOAD=str(longer), XRC_COMPAT_LIBRARY=str(short))
    assert preload_of(result) == f"{short}:{longer}"


def test_relative_library_becomes_absolute(launch, helpers, probe):
    result = launch(helpers / "show-start", XRC_COMPAT_LIBRARY="libprobe.so", cwd=helpers)
    assert preload_of(result) == str(probe)


def test_arguments_arrive_as_they_are(launch, helpers):
    words = ["", "a b", "--softhca", "--", "-x", "ä*"]
    result = launch("--", helpers / "show-start", *words)
    assert argv_of(result) == [str(helpers / "show-start"), *words]


def test_options_after_the_program_are_its_own(launch, helpers):
    assert argv_of(launch(helpers / "show-start", "--help"))[1:] == ["--help"]


def test_program_is_looked_up_on_path(launch, helpers):
    result = launch("show-start", PATH=f"/nonexistent:{helpers}")
    assert (result.returncode, argv_of(result)) == (0, ["show-start"])


@pytest.mark.parametrize("path", [":/nonexistent", "/nonexistent:", "/nonexistent::/nonexistent"])
def test_an_empty_element_of_path_is_the_current_folder(launch, helpers, path):
    assert launch("show-start", PATH=path, cwd=helpers).returncode == 0


def test_the_program_has_the_process_id_of_run(xrc_compat, helpers, probe):
    env = dict(os.environ, XRC_COMPAT_LIBRARY=str(probe))
    with subprocess.Popen([xrc_compat, "run", helpers / "show-start"], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        out, _ = process.communicate(timeout=30)
    assert f"pid={process.pid}\n" in out


@pytest.mark.parametrize("status", [0, 1, 7, 125, 255])
def test_exit_status_passes_through(launch, helpers, status):
    assert launch(helpers / "show-start", SHOW_START_EXIT=str(status)).returncode == status


def test_death_by_signal_passes_through(launch, helpers):
    assert launch(helpers / "show-start", SHOW_START_SIGNAL="9").returncode == -signal.SIGKILL


def write_script(path, first_line, mode=0o755):
    path.write_text(f"{first_line}\nexec \"$@\"\n")
    path.chmod(mode)
    return path


def test_scripts_run_and_their_programs_are_preloaded(launch, helpers, probe, tmp_path):
    script = write_script(tmp_path / "start.sh", "#! /bin/sh")
    result = launch(script, helpers / "show-start")
    assert (result.returncode, preload_of(result)) == (0, str(probe))


def test_the_interpreter_of_a_script_may_be_a_script(launch, helpers, probe, tmp_path):
    """The kernel starts `inner -x outer PROGRAM`."""
    inner = write_script(tmp_path / "inner", "#!/bin/sh\nshift 2")
    outer = write_script(tmp_path / "outer", f"#!{inner} -x")
    result = launch(outer, helpers / "show-start")
    assert (result.returncode, preload_of(result)) == (0, str(probe))


def assert_refused(result, status, *words):
    assert result.returncode == status, result
    assert result.stderr.startswith("xrc-compat: ")
    for word in words:
        assert word in result.stderr
    assert result.stdout == ""


def test_a_missing_library_is_refused(launch, helpers):
    assert_refused(launch(helpers / "show-start", XRC_COMPAT_LIBRARY="/nonexistent/lib.so"), REFUSED,
            "libxrc-compat.so.1 was not found", "/nonexistent/lib.so")


def test_a_file_that_is_no_library_is_refused(launch, helpers, tmp_path):
    text = tmp_path / "lib.so"
    text.write_text("no library")
    for path in (text, helpers / "show-start"):
        assert_refused(launch(helpers / "show-start", XRC_COMPAT_LIBRARY=str(path)), REFUSED,
                "is not a shared library")


NAMES_THAT_LD_PRELOAD_CANNOT_HOLD = ["with blank", "with:colon", "with$dollar"]


@pytest.mark.parametrize("name", NAMES_THAT_LD_PRELOAD_CANNOT_HOLD)
def test_a_library_path_that_ld_preload_cannot_carry_is_refused(launch, helpers, probe, tmp_path,
                                                                name):
    (tmp_path / name).mkdir()
    library = shutil.copy(probe, tmp_path / name / "lib.so")
    assert_refused(launch(helpers / "show-start", XRC_COMPAT_LIBRARY=str(library)), REFUSED,
            "LD_PRELOAD cannot hold")


@pytest.mark.parametrize("name", NAMES_THAT_LD_PRELOAD_CANNOT_HOLD)
def test_a_softhca_path_that_ld_preload_cannot_carry_is_refused(run, build_root, tmp_path, name):
    (tmp_path / name).mkdir()
    for file in ("softhca", "libsofthca.so"):
        shutil.copy(build_root / "softhca" / "bin" / file, tmp_path / name)
    done = run([tmp_path / name / "softhca", "run", "--", "true"])
    assert (done.returncode, "LD_PRELOAD cannot hold" in done.stderr) == (REFUSED, True), done


@pytest.fixture
def static(helpers):
    program = helpers / "show-start-static"
    if not program.exists():
        pytest.skip("the compiler cannot link statically here")
    return program


def test_a_static_program_or_interpreter_is_refused(launch, static, tmp_path):
    assert_refused(launch(static), REFUSED, "statically linked", "relink it dynamically")
    assert_refused(launch(write_script(tmp_path / "script", f"#!{static}")), REFUSED, "statically linked")


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID])
def test_setuid_and_setgid_programs_are_refused(launch, helpers, tmp_path, bit):
    program = shutil.copy(helpers / "show-start", tmp_path / "privileged")
    os.chmod(program, 0o755 | bit)
    assert_refused(launch(program), REFUSED, "setuid or setgid", "chmod ug-s")


def test_a_program_with_file_capabilities_is_refused(launch, helpers, tmp_path):
    program = shutil.copy(helpers / "show-start", tmp_path / "privileged")
    try:
        # VFS_CAP_REVISION_2, effective; cap_net_bind_service permitted (linux/capability.h).
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0,
                                                                0))
    except OSError as error:
        pytest.skip(f"no file capabilities can be given here: {error}")
    assert_refused(launch(program), REFUSED, "has file capabilities", "cp does not keep")


@pytest.fixture
def program_32(helpers):
    program = helpers / "show-start-32"
    if not program.exists():
        pytest.skip("the compiler has no -m32 here")
    return program


def test_a_program_of_another_word_size_is_refused(launch, program_32):
    assert_refused(launch(program_32), REFUSED, "32-bit i386", "64-bit x86-64")


def test_check_says_that_the_kernel_executes_no_32_bit_programs(run, xrc_compat, probe, program_32,
                                                                tmp_path):
    """An ELF header of another machine, mounted over the loader, stands for a kernel without 32-bit
    programs."""
    foreign = tmp_path / "loader"
    foreign.write_bytes(b"\x7fELF\x01\x01\x01".ljust(18, b"\0") + b"\xff\xff".ljust(64, b"\0"))
    foreign.chmod(0o755)
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
               'mount --bind "$0" /lib/ld-linux.so.2 && exec "$@"', foreign]
    if run([*mounted, "true"]).returncode != 0:
        pytest.skip("no namespace for mounts can be made here")
    done = run([*mounted, xrc_compat, "check", program_32])
    assert "Loader      this kernel does not execute 32-bit programs: boot" in done.stdout


def test_a_program_that_is_not_found_is_refused(launch):
    assert_refused(launch("no-such-program"), NOT_FOUND, "no such program on PATH")
    assert_refused(launch("./no-such-program"), NOT_FOUND, "no such program")


def test_a_program_of_this_folder_that_is_not_on_path_is_reported(launch, tmp_path):
    write_script(tmp_path / "solver", "#!/bin/sh")
    assert_refused(launch("solver", cwd=tmp_path), NOT_FOUND, "the file here is ./solver")


def test_a_script_without_its_interpreter_is_refused(launch, tmp_path):
    assert_refused(launch(write_script(tmp_path / "script", "#!/nonexistent/sh")), NOT_FOUND,
            "interpreter /nonexistent/sh")


def test_a_program_that_may_not_be_executed_is_refused(launch, tmp_path):
    assert_refused(launch(write_script(tmp_path / "script", "#!/bin/sh", 0o644)), NOT_EXECUTABLE,
            "may not be executed")
    assert_refused(launch(tmp_path), NOT_EXECUTABLE, "is a directory")
    os.mkfifo(tmp_path / "fifo", 0o755)
    assert_refused(launch(tmp_path / "fifo"), NOT_EXECUTABLE, "is not a regular file")
    (tmp_path / "loop").symlink_to("loop")
    assert_refused(launch(tmp_path / "loop"), NOT_EXECUTABLE, "Too many levels of symbolic links")


@pytest.mark.skipif(subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
                    reason="no user namespaces here")
def test_a_noexec_file_system_is_reported(run, xrc_compat, helpers, probe, tmp_path):
    script = 'mount -t tmpfs -o noexec none "$1" && cp "$2" "$1/program" && "$3" run "$1/program"'
    done = run(["unshare", "-rm", "sh", "-c", script, "sh", tmp_path, helpers / "show-start",
                xrc_compat], env={"XRC_COMPAT_LIBRARY": str(probe)})
    assert_refused(done, NOT_EXECUTABLE, "mounted noexec")


@pytest.mark.parametrize("line", ["words", "#!", "#!\n", "#! \t\n", "#!/" + 300 * "x" + "\n"])
def test_a_text_without_an_interpreter_for_the_kernel_is_refused(launch, tmp_path, line):
    assert_refused(launch(write_script(tmp_path / "script", line)), NOT_EXECUTABLE,
            "neither an ELF program nor a script")


def test_a_carriage_return_after_the_interpreter_is_reported(launch, tmp_path):
    assert_refused(launch(write_script(tmp_path / "script", "#!/bin/sh\r\necho\r\n")), NOT_FOUND,
            "ends with a carriage return")


@pytest.mark.parametrize("size", [20, 64, 100, 500, 5000])
def test_a_truncated_program_is_refused(launch, xrc_compat, run, helpers, tmp_path, size):
    half = tmp_path / "half"
    half.write_bytes((helpers / "show-start").read_bytes()[:size])
    half.chmod(0o755)
    assert_refused(launch(half), NOT_EXECUTABLE,
            "is an ELF file, but no whole program" if size >= 64 else "neither")
    assert run([xrc_compat, "check", half]).returncode == NOT_EXECUTABLE


@pytest.mark.parametrize("kind", [1, 4], ids=["object file", "core dump"])
def test_object_files_and_core_dumps_are_refused(launch, helpers, tmp_path, kind):
    data = bytearray((helpers / "show-start").read_bytes())
    data[16] = kind
    (tmp_path / "other").write_bytes(data)
    (tmp_path / "other").chmod(0o755)
    assert_refused(launch(tmp_path / "other"), NOT_EXECUTABLE, "an object file or a core dump")


def test_a_later_directory_of_path_wins_over_one_that_may_not_be_executed(launch, helpers,
                                                                          tmp_path):
    shutil.copy(helpers / "show-start", tmp_path / "show-start")
    (tmp_path / "show-start").chmod(0o644)
    assert launch("show-start", PATH=f"{tmp_path}:{helpers}").returncode == 0
    assert launch("show-start", PATH=f"{tmp_path}:/nonexistent").returncode == NOT_EXECUTABLE


@pytest.mark.parametrize("arguments", [[], ["--"], ["--softhca=", "true"]])
def test_wrong_usage(launch, arguments):
    assert_refused(launch(*arguments), REFUSED, "usage: xrc-compat run")


@pytest.fixture
def tree(tmp_path, xrc_compat, probe):
    """A folder laid out like the build tree, with a softhca that only prints its arguments and
    starts the program."""
    for folder in ("tools", "shim", "softhca/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(xrc_compat, tmp_path / "tools")
    shutil.copy(probe, tmp_path / "shim" / "libxrc-compat.so.1")
    softhca = tmp_path / "softhca" / "bin" / "softhca"
    softhca.write_text(
        '#!/bin/sh\necho "softhca $1 $2 $3, preload ${LD_PRELOAD:-none}" >&2\nshift 3\nexec "$@"\n')
    softhca.chmod(0o755)
    return tmp_path


def run_in(tree, run, *arguments, **environment):
    env = {"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": ""}
    env.update(environment)
    return run([tree / "tools" / "xrc-compat", "run", *arguments], env=env)


def test_the_library_is_found_relative_to_the_command_behind_a_symlink(run, tree, helpers,
                                                                          tmp_path_factory):
    link = tmp_path_factory.mktemp("bin") / "xrc-compat"
    link.symlink_to(tree / "tools" / "xrc-compat")
    result = run([link, "run", helpers / "show-start"],
                 env={"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": ""})
    assert preload_of(result) == str(tree / "shim" / "libxrc-compat.so.1")


def test_softhca_starts_the_program_with_the_library(run, tree, helpers):
    result = run_in(tree, run, "--softhca=3", "--", helpers / "show-start", "--", "x")
    assert result.returncode == 0, result
    assert "softhca run --devices=3 --, preload none" in result.stderr
    assert preload_of(result) == str(tree / "shim" / "libxrc-compat.so.1")
    assert argv_of(result) == [str(helpers / "show-start"), "--", "x"]


def test_softhca_has_two_devices_by_default(run, tree, helpers):
    assert "--devices=2 --" in run_in(tree, run, "--softhca", helpers / "show-start").stderr


def test_the_model_is_passed_to_softhca(run, tree, helpers):
    result = run_in(tree, run, "--softhca=2", "--model=connectx5", helpers / "show-start")
    assert "softhca run --devices=2 --model=connectx5," in result.stderr
    result = run_in(tree, run, "--model=connectx5", helpers / "show-start")
    assert "softhca run --devices=2 --model=connectx5," in result.stderr


def test_the_program_is_checked_before_softhca_is_started(run, tree):
    result = run_in(tree, run, "--softhca", "no-such-program")
    assert result.returncode == NOT_FOUND
    assert "softhca run" not in result.stderr


def test_a_missing_softhca_is_refused(run, tree, helpers):
    (tree / "softhca" / "bin" / "softhca").unlink()
    assert_refused(run_in(tree, run, "--softhca", helpers / "show-start"), REFUSED,
            "softhca, the emulated HCA, was not found", str(tree / "softhca" / "bin" / "softhca"))


def test_the_path_of_the_missing_library_is_reported(run, tree, helpers):
    (tree / "shim" / "libxrc-compat.so.1").unlink()
    assert_refused(run_in(tree, run, helpers / "show-start"), REFUSED,
            str(tree / "shim" / "libxrc-compat.so.1"))


@pytest.mark.parametrize("given, seen", [({}, "libibverbs.so.1"),
                                         ({"MV2_LIBIBVERBS_PATH": "/my/own.so"}, "/my/own.so")])
def test_mvapich2_gets_the_name_of_libibverbs(launch, given, seen):
    """The default does not replace a value that the user has set."""
    result = launch("printenv", "MV2_LIBIBVERBS_PATH", **given)
    assert result.stdout.strip() == seen
