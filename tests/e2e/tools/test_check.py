# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat check` reports on each sample of check_samples.py what is there, and asks the loader
which libraries a program gets. `run` refuses what `check` says that it refuses."""

import json
import os
import re
import shutil
import subprocess
import time
import unicodedata

import pytest

from check_samples import SAMPLES
from check_workshop import ONE_WAY, PLUGIN, RUN_TIME, STUB, Workshop, calls, compile_c


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("check"))


@pytest.fixture(scope="module")
def make(workshop):
    """make(name): the program of a sample, which is made once, or skips the test."""
    made = {}

    def _make(name):
        if name not in made:
            made[name] = SAMPLES[name].make(workshop, name)
        return made[name]

    return _make


@pytest.fixture
def check(run, xrc_compat, fakes, workshop):
    """check(program, *options, devices=..., **environment): the report with these devices of
    fake_libibverbs.c."""

    def _check(program, *options, devices="mlx4_0", before=(), cwd=workshop.folder, **environment):
        env = {**fakes, "FAKE_DEVICES": devices, "LD_LIBRARY_PATH": "", **environment}
        result = run([*before, xrc_compat, "check", program, "--json", *options], env=env, cwd=cwd)
        assert result.stderr == "", result.stderr
        report = json.loads(result.stdout)
        assert result.returncode == report["exit_status"]
        return report

    return _check


def normal(report, folder):
    """The report without what differs from machine to machine."""
    report["companions"] = [os.path.basename(path) for path in report["companions"]]
    report["libraries"] = [lib for lib in report["libraries"] if f" => {folder}" in lib]
    # The rest depends on the modules of the machine.
    report["platform_mpi"] = report["platform_mpi"] and report["platform_mpi"].split(":")[0]
    for device in report["devices"]:
        del device["ports"]
    own = report["libibverbs"]
    if own and not own.startswith(str(folder)):
        report["libibverbs"] = "SYSTEM"
    # A 64-bit machine may have no 32-bit libibverbs.
    if report["machine"] == "i386":
        report["system_libibverbs"] = None
    text = json.dumps(report)
    if report["system_libibverbs"]:
        text = text.replace(report["system_libibverbs"], "SYSTEM")
    text = text.replace(str(folder), "@")
    name = re.escape(json.loads(text)["program"])
    return json.loads(re.sub(rf"(?<![\w.-]){name}(?![\w.-])", "PROGRAM", text))


def settings_of(name, workshop):
    """(options, {setting: value}) of a sample"""
    settings = dict(SAMPLES[name].ask)
    options = [workshop.here(word) for word in settings.pop("options", [])]
    return options, {key: workshop.here(value) for key, value in settings.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_whole_report_on_each_sample(check, workshop, make, name):
    options, settings = settings_of(name, workshop)
    report = normal(check(make(name), *options, **settings), workshop.folder)
    assert json.dumps(report, indent=2) == json.dumps(SAMPLES[name].report, indent=2)


def test_every_verdict_has_a_sample(source_root):
    source = (source_root / "tools" / "check" / "check_decide.c").read_text()
    verdicts = set(re.findall(r'\[VERDICT_\w+\] = { "(.*)"', source))
    assert len(verdicts) == 8
    assert {sample.report["verdict"] for sample in SAMPLES.values()} == verdicts


# {sample: why `run` cannot be compared with `check`}
NOT_COMPARED_WITH_RUN = {
    "plugin_that_is_not_there": "`run` knows no plugins",
    "without_our_library": "`run` says where it looked: test_run.py",
    "library_is_a_fifo": "the loader would wait for ever",
    "terminal_sequences": "the loader's message is not UTF-8",
    "another_version": "the loader ends with 1",
    "another_version_of_libibverbs": "the same",
    "another_version_for_libibverbs": "the same",
    "big_endian": "qemu-user would start it",
}


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in NOT_COMPARED_WITH_RUN])
def test_run_refuses_what_check_says_it_refuses(run, xrc_compat, probe, workshop, make, name):
    """`check` exits with 125, 126 or 127 if, and only if, `run` or the loader refuses the program
    with that status. `run` prints the same reason and advice."""
    report, settings = SAMPLES[name].report, settings_of(name, workshop)[1]
    settings.pop("devices", None)
    env = {"XRC_COMPAT_LIBRARY": str(probe), "LD_LIBRARY_PATH": "", "LD_PRELOAD": "", **settings}
    done = run([xrc_compat, "run", make(name)], env=env, cwd=workshop.folder)
    by_run = done.stderr.startswith("xrc-compat: ")
    refused = by_run or "error while loading shared libraries" in done.stderr
    assert refused == (report["exit_status"] in (125, 126, 127)), done
    if by_run:
        reason = workshop.here(report["reason"].replace("PROGRAM", str(make(name))))
        assert reason in done.stderr and (report["advice"] or "") in done.stderr
    assert not refused or (done.returncode, done.stdout) == (report["exit_status"], ""), done


def test_a_program_that_may_only_be_executed_is_for_env(run, check, xrc_compat, workshop, tmp_path):
    """The kernel starts it, and the loader preloads. So `check` names the command that serves."""
    shutil.copy(workshop.folder / "sh", tmp_path / "unreadable")
    (tmp_path / "unreadable").chmod(0o111)
    # Root without capabilities cannot read it either.
    before = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] * (os.geteuid() == 0)
    assert run([*before, tmp_path / "unreadable"]).returncode == 0
    assert run([*before, xrc_compat, "run", tmp_path / "unreadable"]).returncode == 126
    report = check("unreadable", before=before, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (report["verdict"], report["exit_status"]) == ("cannot tell", 3)
    assert report["can_be_preloaded"] and "cannot be read" in report["reason"]
    assert report["next"] == f"xrc-compat env {tmp_path}/unreadable"


# ---- texts ----


def test_control_characters_never_reach_the_terminal(run, xrc_compat, make):
    done = run([xrc_compat, "check", make("terminal_sequences")], env={"LD_LIBRARY_PATH": ""})
    text = (done.stdout + done.stderr).replace("\n", "")
    assert not [c for c in text if unicodedata.category(c) == "Cc"]
    assert "\nMissing     ?\"\\?456.so\n" in done.stdout


@pytest.mark.parametrize("name", [b"bob's program", "gr\u00fc\u00df".encode()])
def test_a_shell_splits_the_next_command_into_the_right_words(xrc_compat, fakes, workshop, name):
    program = os.path.join(os.fsencode(workshop.folder), name)
    shutil.copy(workshop.folder / "linked", program)
    env = {**os.environ, **fakes, "FAKE_DEVICES": "mlx4_0"}
    done = subprocess.run([xrc_compat, "check", program], capture_output=True, env=env, timeout=30)
    line = next(line for line in done.stdout.split(b"\n") if line.startswith(b"Next "))
    words = subprocess.run(["bash", "-c", b"printf '%s\\0' " + line[5:]], capture_output=True,
                           timeout=30).stdout.split(b"\0")
    assert words[:-1] == [b"xrc-compat", b"run", b"--", program]


def test_the_text_has_the_facts_of_the_json(run, xrc_compat, fakes, workshop):
    program = workshop.folder / "linked"
    result = run([xrc_compat, "check", program], env=fakes)
    assert result.returncode == 0
    for words in (f"Needs       ibv_open_xrc_domain, by {program}\n",
                  f"            ibv_create_xrc_rcv_qp, by {program}\n",
                  "Verdict     ready\n",
                  f"Next        xrc-compat run -- {program}\n", "qedr0: ",
                  "without sharing of receive QPs between processes"):
        assert words in result.stdout


def test_what_hp_mpi_needs(run, softhca, xrc_compat, make):
    """lsmod lists ib_core on an emulated adapter."""
    done = run([softhca, "run", "--", xrc_compat, "check", make("hp_mpi")])
    assert re.search("^MPI         HP-MPI or Platform MPI: XRC by mpirun -xrc, before 2.3 by -srq "
                     "-e MPI_IBV_XRC=1; -prot says what is used$", done.stdout, re.M), done.stdout
    text = run([xrc_compat, "check", make("hp_mpi")]).stdout
    assert "-xrc" in text or "lsmod must list ib_core, or it uses no InfiniBand" in text


# ---- the loader ----


@pytest.mark.parametrize("program", ["/bin/ls", "/usr/bin/python3", "/usr/bin/ibv_devinfo"])
def test_libraries_are_those_that_the_loader_takes(run, check, program):
    if not os.path.exists(program):
        pytest.skip(f"{program} is not installed")
    listed = run(["ldd", program]).stdout
    wanted = {os.path.realpath(word) for word in listed.split() if word.startswith("/")}
    assert {os.path.realpath(lib.split(" => ")[1]) for lib in check(program)["libraries"]} == wanted


def test_origin_is_the_directory_of_the_program_and_not_of_a_link_to_it(check, make, tmp_path):
    """ldd would look beside the link; the loader of a process that the kernel starts does not."""
    (tmp_path / "link").symlink_to(make("bundled"))
    assert check(tmp_path / "link")["libibverbs"].endswith("/bundle/libibverbs.so.1")


@pytest.mark.parametrize("folder, folders", [(".", "bundle"), ("bundle", ":nowhere")])
def test_libraries_by_a_relative_path_are_found(check, workshop, folder, folders):
    report = check(workshop.folder / "linked", LD_LIBRARY_PATH=folders, cwd=workshop.folder / folder)
    assert (report["missing"], report["exit_status"]) == ([], 0)
    assert report["old_libibverbs"].endswith("libibverbs.so.1")


def test_a_library_at_which_the_loader_gives_up_is_reported(check, make, tmp_path):
    (tmp_path / "libibverbs.so.1").write_text("no library\n" * 10)
    report = check(make("linked"), LD_LIBRARY_PATH=str(tmp_path))
    assert (report["verdict"], report["exit_status"]) == ("broken", 127)
    assert report["loader_gives_up"].startswith(f"{tmp_path}/libibverbs.so.1: ")


@pytest.mark.parametrize("how", ["LD_LIBRARY_PATH", "RPATH"])
def test_a_library_that_is_too_old_for_the_systems_libibverbs_is_reported(run, check,
                                                                         xrc_compat, workshop,
                                                                         how):
    """A solver brings a libnl without the functions that today's libibverbs needs."""
    old = workshop.library("solver/libnl-3.so.200", "int nl;").parent
    flags = [f"-Wl,--disable-new-dtags,-rpath,{old}"] * (how == "RPATH")
    program = workshop.program(f"solver/{how}", ONE_WAY, STUB, *flags)
    path = {"LD_LIBRARY_PATH": str(old) * (how != "RPATH")}
    done = run([xrc_compat, "run", "--", program], env=path)
    assert done.returncode == 127 and "undefined symbol: nl" in done.stderr
    report = check(program, **path)
    assert (report["verdict"], report["exit_status"]) == ("broken", 127)
    assert "libibverbs cannot be loaded: undefined symbol: nl" in report["reason"]
    assert "out of LD_LIBRARY_PATH or the program's RPATH" in report["advice"]
    if how == "RPATH":
        return
    doctor = run([xrc_compat, "doctor"], env=path).stdout
    assert "PROBLEM  libibverbs       it cannot be loaded: undefined" in doctor


@pytest.mark.parametrize("opened", ["libibverbs.so", "@/fallback/plugin.so"])
def test_a_libibverbs_that_a_program_can_do_without_does_not_stop_it(run, check, xrc_compat,
                                                                    workshop, opened):
    """The program opens libibverbs or a plugin that needs it, which fails, and goes on."""
    old = workshop.library("fallback/libnl-3.so.200", "int nl;").parent
    plugin = workshop.library("fallback/plugin.so", PLUGIN, STUB)
    program = workshop.program(f"fallback/opens-{os.path.basename(opened)}", RUN_TIME.replace(
        "libibverbs.so", workshop.here(opened)).replace("!(h", "(h"))
    path = {"LD_LIBRARY_PATH": str(old)}
    assert run([program], env=path).returncode == 0
    status = run([xrc_compat, "run", "--", program], env=path).returncode
    report = check(program, "--plugin", plugin, **path)
    # Where there is no libibverbs.so `run` preloads a companion, which needs libibverbs.so.1.
    wanted = ("broken", 127) if status else ("no device", 4)
    assert (report["verdict"], report["exit_status"]) == wanted
    assert "undefined symbol: nl" in report["reason"] and "LD_LIBRARY_PATH" in report["advice"]


def test_a_folder_with_the_name_of_libibverbs_is_no_part_of_it(check, make, tmp_path):
    """OFED's examples were compiled in libibverbs-1.1.4/examples. The loader finds what the shim
    defines undefined in them."""
    folder = tmp_path / "libibverbs-1.1.4"
    folder.mkdir()
    program = make("linked")
    there = check(shutil.copy(program, folder))
    assert there["verdict"] == check(program)["verdict"] != "broken"


def test_check_does_not_run_the_audit_library(check, workshop):
    """The program names an audit library in DT_AUDIT. The loader runs it even when it only lists
    libraries; `check` must not. So it does not know the libraries."""
    ran = workshop.folder / "ran"
    audit = workshop.library(
        "audit.so", f"""#include <fcntl.h>
unsigned la_version(unsigned version); unsigned la_version(unsigned version) {{ return version; }}
__attribute__((constructor)) static void run(void) {{ if (open("{ran}", O_CREAT | O_WRONLY, 0600) < 0) return; }}"""
    )
    audited = [workshop.program(f"audited{i}", source, STUB, f"-Wl,--audit={audit}")
               for i, source in enumerate((ONE_WAY, calls()))]
    subprocess.run(audited[:1], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True,
                   timeout=30)
    if not ran.exists():
        pytest.skip("this loader runs no auditor when it lists libraries")
    ran.unlink()
    reports = [check(program) for program in audited]
    assert not ran.exists()
    assert [report["verdict"] for report in reports] == ["ready", "cannot tell"]
    assert "DT_AUDIT" in reports[1]["reason"]


def test_without_a_descriptor_for_the_loader_nothing_is_said_to_be_unneeded(check, make):
    report = check(make("not_needed"), before=["sh", "-c", 'ulimit -n 5; exec "$@"', "sh"])
    assert report["verdict"] == "cannot tell" and "Too many open files" in report["reason"]


def test_check_says_that_the_kernel_executes_no_32_bit_programs(run, xrc_compat, tmp_path):
    """An ELF header of another machine, mounted over the loader, stands for a kernel without 32-bit
    programs."""
    program = compile_c(tmp_path / "program", calls(), "-m32")
    foreign = tmp_path / "loader"
    foreign.write_bytes(b"\x7fELF\x01\x01\x01".ljust(18, b"\0") + b"\xff\xff".ljust(64, b"\0"))
    foreign.chmod(0o755)
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
               'mount --bind "$0" /lib/ld-linux.so.2 && exec "$@"', foreign]
    if run([*mounted, "true"]).returncode != 0:
        pytest.skip("no namespace for mounts can be made here")
    done = run([*mounted, xrc_compat, "check", program])
    assert "Loader      this kernel does not execute 32-bit programs: boot" in done.stdout


# ---- plugins ----


@pytest.fixture
def mpi(workshop, tmp_path):
    """mpi(directory): (a program that is linked with libmpi.so.1 of that directory, the directory
    of Open MPI's plugins)."""

    def _mpi(name="mpi"):
        folder = tmp_path / name
        library = workshop.library(folder / "libmpi.so.1", calls(by="mpi"))
        program = workshop.program(folder / "program", calls("mpi"), library,
                                   "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
        (folder / "openmpi").mkdir()
        return program, folder / "openmpi"

    return _mpi


def plugin(workshop, folder, name, *libraries):
    return workshop.library(folder / f"mca_{name}.so", calls("ibv_open_xrc_domain", by="m"),
                            *libraries)


def assert_needs_xrc(report, missing=()):
    assert any(line.startswith("ibv_open_xrc_domain,") for line in report["needs"]), report
    assert (report["missing"], report["loader_gives_up"]) == ([], None)
    assert (report["verdict"], report["missing_for_plugins"]) == ("ready", list(missing))


@pytest.mark.parametrize("how", ["lacks a library", "is cut off", "is a pipe without a writer"])
def test_a_broken_plugin_does_not_hide_the_others(check, workshop, mpi, how):
    """Another needs the library of the program, for which the program's RUNPATH does not serve."""
    program, folder = mpi()
    plugin(workshop, folder, "btl_openib", folder.parent / "libmpi.so.1")
    if "pipe" in how:
        os.mkfifo(folder / "mca_plm_tm.so")
    else:
        path = plugin(workshop, folder, "plm_tm", *["@/stub/libgone.so"] * ("lacks" in how))
        path.write_bytes(path.read_bytes()[:6000 if "cut" in how else None])
    assert_needs_xrc(check(program), ["libgone.so"] * ("lacks" in how))


def test_a_plugin_whose_library_never_opens_leaves_the_verdict_open(check, workshop, mpi):
    """The loader hangs for 5 s. check does not ask for the other plugins, which may hang, too."""
    program, folder = mpi()
    pipe = workshop.library(folder / "libfifo.so", "int fifo;")
    for name in "abcdef":
        workshop.library(folder / f"mca_{name}.so", "int m;", pipe, "-Wl,-rpath,$ORIGIN")
    pipe.unlink()
    os.mkfifo(pipe)
    began = time.monotonic()
    report = check(program)
    assert time.monotonic() - began < 15
    assert report["verdict"] == "cannot tell" and "opening a library" in report["reason"]


def test_plugins_are_read_in_a_directory_with_a_blank(check, workshop, mpi):
    """A library of the plugin needs XRC, so the loader must have been asked for the plugin."""
    program, folder = mpi("open mpi")
    carrier = workshop.library(folder / "libcarrier.so", calls("ibv_open_xrc_domain", by="m"))
    named = workshop.library(folder / "mca_btl.so", "int n;", carrier, "-Wl,-rpath,$ORIGIN")
    assert_needs_xrc(check(program))
    assert_needs_xrc(check(mpi("other")[0], "--plugin", named))
