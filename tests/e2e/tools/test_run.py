# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat run`: how it starts a program, and what it needs for that. Which programs it refuses
is in check_samples.py."""

import os
import re
import shutil
import signal
import subprocess

import pytest

import models

REFUSED, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127


@pytest.fixture
def show(helpers):
    return helpers / "show-start"


@pytest.fixture
def launch(run, xrc_compat, probe):
    """launch(*arguments, **environment): `xrc-compat run ARGUMENTS` with the probe library as the
    shim."""

    def _launch(*arguments, cwd=None, **environment):
        env = {"XRC_COMPAT_LIBRARY": str(probe), "LD_PRELOAD": "", **environment}
        return run([xrc_compat, "run", *arguments], env=env, cwd=cwd)

    return _launch


def lines_of(result, name):
    return [
        line.split("=", 1)[1] for line in result.stdout.splitlines() if line.startswith(name + "=")
    ]


def test_preloads_the_library(launch, show, probe):
    result = launch(show)
    assert (result.returncode, lines_of(result, "preload")) == (0, [str(probe)])
    assert result.stderr == "probe library loaded\n"


def test_run_within_run_preloads_once(launch, show, probe, xrc_compat):
    assert lines_of(launch("--", xrc_compat, "run", "--", show), "preload") == [str(probe)]


def test_a_profiler_of_verbs_comes_before_the_shim(launch, show, probe, tmp_path, run):
    """Behind the shim it sees no call: the shim calls libibverbs itself."""
    profiler, other = tmp_path / "profiler.so", tmp_path / "other.so"
    for library, function in ((profiler, "ibv_create_qp"), (other, "fopen64")):
        run(["sh", "-c", f"echo 'int {function}(void); int {function}(void) {{ return 0; }}' | "
             f"cc -x c - -shared -fPIC -o {library}"])
    result = launch(show, LD_PRELOAD=f"{other}:{profiler}")
    assert lines_of(result, "preload") == [f"{profiler}:{probe}:{other}"]


def test_an_interposer_for_both_word_sizes_is_named_once(run, launch, show, probe, tmp_path):
    for folder in ("lib/x86_64-linux-gnu", "lib64", "lib/aarch64-linux-gnu"):
        (tmp_path / folder).mkdir(parents=True)
        run(["sh", "-c", "echo 'int ibv_create_qp(void); int ibv_create_qp(void) { return 0; }' | "
             f"cc -x c - -shared -fPIC -o {tmp_path / folder}/libprofiler.so"])
    word = f"{tmp_path}/$LIB/libprofiler.so"
    assert lines_of(launch(show, LD_PRELOAD=word), "preload") == [f"{word}:{probe}"]


def test_the_shim_precedes_a_preload_whose_name_begins_as_its_own(launch, show, probe, tmp_path):
    longer = shutil.copy(probe, tmp_path / "libprobe.so.old")
    short = shutil.copy(probe, tmp_path / "libprobe.so")
    result = launch(show, LD_PRELOAD=str(longer), XRC_COMPAT_LIBRARY=str(short))
    assert lines_of(result, "preload") == [f"{short}:{longer}"]


def test_relative_library_becomes_absolute(launch, show, helpers, probe):
    result = launch(show, XRC_COMPAT_LIBRARY="libprobe.so", cwd=helpers)
    assert lines_of(result, "preload") == [str(probe)]


def test_a_relative_library_in_a_removed_directory_is_named(run, xrc_compat, tmp_path):
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" run true'
    done = run(["sh", "-c", script, xrc_compat], cwd=tmp_path, env={"XRC_COMPAT_LIBRARY": "x.so"})
    assert (done.returncode, done.stdout) == (REFUSED, ""), done
    assert done.stderr.startswith("xrc-compat: x.so: No such file"), done


@pytest.mark.parametrize("separator", [[], ["--"]])
def test_arguments_arrive_as_they_are(launch, show, separator):
    words = ["--help", "", "a b", "--softhca", "--", "-x", "ä*"]
    assert lines_of(launch(*separator, show, *words), "argv") == [str(show), *words]


@pytest.mark.parametrize("path, status", [
    ("/nonexistent:HELPERS", 0),
    (":/nonexistent", 0),  # an empty element is the current directory
    ("/nonexistent:", 0),
    ("HERE:HELPERS", 0),  # HERE has a file that may not be executed
    ("HERE:/nonexistent", NOT_EXECUTABLE),
])
def test_the_program_is_looked_up_on_path(launch, show, helpers, tmp_path, path, status):
    shutil.copy(show, tmp_path)
    (tmp_path / "show-start").chmod(0o644)
    path = path.replace("HELPERS", str(helpers)).replace("HERE", str(tmp_path))
    result = launch("show-start", PATH=path, cwd=helpers)
    assert result.returncode == status
    assert status or lines_of(result, "argv") == ["show-start"]


def test_the_program_has_the_process_id_of_run(xrc_compat, show, probe):
    env = dict(os.environ, XRC_COMPAT_LIBRARY=str(probe))
    with subprocess.Popen([xrc_compat, "run", show], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        out, _ = process.communicate(timeout=30)
    assert f"pid={process.pid}\n" in out


def test_exit_status_and_signal_pass_through(launch, show):
    assert launch(show, SHOW_START_EXIT="255").returncode == 255
    assert launch(show, SHOW_START_SIGNAL="9").returncode == -signal.SIGKILL


def assert_refused(result, status, *words):
    assert (result.returncode, result.stdout) == (status, ""), result
    assert result.stderr.startswith("xrc-compat: ")
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize("name", ["with blank", "with:colon", "with$dollar"])
def test_a_path_that_ld_preload_cannot_carry_is_refused(run, launch, show, probe, build_root,
                                                        tmp_path, name):
    """Of the library, and of softhca."""
    (tmp_path / name).mkdir()
    for file in (probe, *(build_root / "subprojects" / "softhca" / "bin" / part
                          for part in ("softhca", "libsofthca.so"))):
        shutil.copy(file, tmp_path / name)
    for done in (launch(show, XRC_COMPAT_LIBRARY=str(tmp_path / name / "libprobe.so")),
                 run([tmp_path / name / "softhca", "run", "--", "true"])):
        assert (done.returncode, "LD_PRELOAD cannot hold" in done.stderr) == (REFUSED, True), done


@pytest.mark.usefixtures("own_mounts")
@pytest.mark.parametrize("words", ["run true", "doctor", "env"])
def test_a_missing_proc_is_reported(run, xrc_compat, words):
    done = run(["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh", xrc_compat,
                *words.split()])
    assert_refused(done, REFUSED, "mount /proc")


def test_a_noexec_file_system_is_reported(run, xrc_compat, show, probe, tmp_path):
    if run(["unshare", "-rm", "true"]).returncode != 0:
        pytest.skip("no user namespaces here")
    script = 'mount -t tmpfs -o noexec none "$1" && cp "$2" "$1/program" && "$3" run "$1/program"'
    done = run(["unshare", "-rm", "sh", "-c", script, "sh", tmp_path, show, xrc_compat],
               env={"XRC_COMPAT_LIBRARY": str(probe)})
    assert_refused(done, NOT_EXECUTABLE, "mounted noexec")


@pytest.fixture
def tree(tmp_path, xrc_compat, probe, shell_script):
    """A directory laid out like the build tree, with a softhca that only prints its arguments and
    starts the program."""
    for folder in ("tools", "shim"):
        (tmp_path / folder).mkdir()
    shutil.copy(xrc_compat, tmp_path / "tools")
    shutil.copy(probe, tmp_path / "shim" / "libxrc-compat.so.1")
    shell_script("subprojects/softhca/bin/softhca",
                 'echo "softhca $1 $2 $3, preload ${LD_PRELOAD:-none}" >&2\nshift 3\nexec "$@"')
    (tmp_path / "link").symlink_to(tmp_path / "tools" / "xrc-compat")
    return tmp_path


@pytest.fixture
def run_in(tree, run):
    return lambda *arguments: run([tree / "link", "run", *arguments],
                                  env={"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": ""})


@pytest.mark.parametrize("options, says", [
    (["--softhca=3"], "softhca run --devices=3 --, preload none\n"),
    (["--softhca"], "softhca run --devices=2 --, preload none\n"),
    (["--softhca=2", "--model=connectx5"], "softhca run --devices=2 --model=connectx5,"),
    (["--model=connectx5"], "softhca run --devices=2 --model=connectx5,"),
    ([], "probe library loaded\n"),
])
def test_softhca_starts_the_program_with_the_library(run_in, tree, show, options, says):
    """The command is found behind a symlink, the library and softhca relative to the command."""
    result = run_in(*options, "--", show, "--", "x")
    assert result.stderr.startswith(says), result
    if "--model" not in says:
        assert lines_of(result, "preload") == [str(tree / "shim" / "libxrc-compat.so.1")]
        assert lines_of(result, "argv") == [str(show), "--", "x"]


def test_softhca_gets_the_absolute_path_of_the_machines(run_in, tree, show):
    (tree / "hosts").write_text("localhost\n")
    result = run_in("--softhca=1", f"--machines={tree}/tools/../hosts", show)
    assert result.stderr.startswith(f"softhca run --devices=1 --machines={tree}/hosts,"), result


@pytest.mark.parametrize("options, says", [
    (["--machines=/dev/null"], "--machines needs --softhca or --model"),
    (["--softhca", "--machines=no-such-list"], "--machines=no-such-list: No such file"),
])
def test_machines_that_cannot_be_are_refused(run_in, show, options, says):
    result = run_in(*options, show)
    assert_refused(result, REFUSED, says)
    assert "softhca run" not in result.stderr


def test_the_program_is_checked_before_softhca_is_started(run_in):
    result = run_in("--softhca", "no-such-program")
    assert result.returncode == NOT_FOUND
    assert "softhca run" not in result.stderr


@pytest.mark.parametrize("missing, says, package", [
    ("subprojects/softhca/bin/softhca", "softhca, the emulated HCA, was", "install the package softhca"),
    ("shim/libxrc-compat.so.1", "libxrc-compat.so.1 was", "is not installed completely"),
])
def test_what_is_missing_is_reported(run_in, tree, show, missing, says, package):
    (tree / missing).unlink()
    assert_refused(run_in("--softhca", show), REFUSED, says + " not found", package)


def test_the_package_of_a_missing_tracing_library_is_named(run, tree, show):
    done = run([tree / "link", "trace", show], env={"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": ""})
    assert_refused(done, REFUSED, "libxrc-trace.so for 64-bit programs was not found",
                   "install the package libxrc-trace")
    assert str(tree) not in done.stderr


@pytest.mark.parametrize("name, given, seen", [
    ("LIBIBVERBS", {}, "libibverbs.so.1"), ("LIBRDMACM", {}, "librdmacm.so.1"),
    ("LIBIBUMAD", {}, "libibumad.so.3"), ("LIBIBMAD", {}, "libibmad.so.5"),
    ("LIBIBVERBS", {"MV2_LIBIBVERBS_PATH": "/my/own.so"}, "/my/own.so"),
])
def test_mvapich2_gets_the_names_of_the_libraries(launch, name, given, seen):
    """A default does not replace a value that the user has set."""
    result = launch("printenv", f"MV2_{name}_PATH", **given)
    assert result.stdout.strip() == seen


# ---- what the processes have used ----

@pytest.mark.any_model
@pytest.mark.usefixtures("model")
def test_a_summary_tells_what_each_process_used(run, xrc_compat, build_root):
    """The children of the demo's cluster open devices. Their parent has opened none."""
    done = run([xrc_compat, "run", "--summary", "--softhca=2", "--",
                build_root / "demo" / "xrc-cluster", "-n", "3"], timeout=60)
    lines = sorted(re.sub(r".*\]: ", "", line) for line in done.stderr.splitlines())
    assert done.returncode == 0 and lines == sorted([
        "xrc-cluster opened no RDMA device",
        *[f"xrc-cluster opened {models.device(n)}: XRC domains 1, receive QPs created {created}, "
          f"registered with {registered}, XRC QPs {sending}"
          for n, created, registered, sending in
          [(0, 0, 0, 1), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 1, 0)]]
    ]), done.stderr


def test_no_summary_unless_asked_for(run, xrc_compat):
    assert run([xrc_compat, "run", "--", "true"]).stderr == ""
    for words, value in (["--summary"], None), ([], "yes"), (["--summary"], "0"):
        env = {"XRC_COMPAT_SUMMARY": value} if value else {}
        assert re.fullmatch(r"xrc-compat\[\d+\]: true opened no RDMA device\n",
                            run([xrc_compat, "run", *words, "--", "true"], env=env).stderr)
