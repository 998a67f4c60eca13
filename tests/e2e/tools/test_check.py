# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat check`: the report on each sample of check_samples.py must be that in golden.json.

golden.json has the whole report on the sample `linked`. For each other sample it has only the
members that differ from that report, or from the report on the sample in "like".
XRC_COMPAT_UPDATE_GOLDEN=1 in the environment rewrites it; review the diff before you commit it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unicodedata

import pytest

from check_samples import CASES, ONE_WAY, Workshop, case_terminal_sequences
from compiling import executed_here

# The members that differ from golden.json if the kernel executes no 32-bit programs.
CLASS_32_NOT_EXECUTED = {
    "libibverbs": None,
    "old_libibverbs": None,
    "libraries": [],
    "loader_gives_up": "this kernel does not execute 32-bit programs: boot one that has CONFIG_IA32_EMULATION, without ia32_emulation=0",
}
GOLDEN = pathlib.Path(__file__).parent / "golden.json"
USUAL = "linked"
# The samples that others may be like.
BASES = ("bundled_rpath", "no_device", "no_program", "not_needed", "shell_script")
CASE_NAMES = {case.__name__[5:] for case in CASES}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("check"))


@pytest.fixture
def check(run, xrc_compat, fakes, workshop):
    """check(program, *options, devices=..., **environment): (exit status, report) with these
    devices of fake_libibverbs.c."""

    def _check(program, *options, devices="mlx4_0", **environment):
        env = {**fakes, "FAKE_DEVICES": devices, "LD_LIBRARY_PATH": "", **environment}
        result = run([xrc_compat, "check", program, "--json", *options], env=env,
                     cwd=workshop.folder)
        assert result.stderr == "", result.stderr
        report = json.loads(result.stdout)
        assert result.returncode == report["exit_status"]
        return result.returncode, report

    return _check


def normal(report, folder):
    """The report without what differs from machine to machine. PROGRAM is the program that was
    asked about."""
    report["companions"] = [os.path.basename(path) for path in report["companions"]]
    report["libraries"] = [lib for lib in report["libraries"] if f" => {folder}" in lib]
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
    if report["program"]:
        text = re.sub(re.escape(json.loads(text)["program"]) + r"(?![\w.-])", "PROGRAM", text)
    return json.loads(text)


def lines(value, indent):
    """JSON with an item of each list and a member of each object on a line of its own, unless the
    whole is short."""
    short = json.dumps(value)
    if len(short) <= 110 or not isinstance(value, (list, dict)):
        return short
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    items = [
        indent + "  " + (f"{json.dumps(key)}: " if key else "") + lines(item, indent + "  ")
        for key, item in pairs
    ]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return begin + "\n" + ",\n".join(items) + "\n" + indent + end


def whole(file, name):
    """The report of a case of the file, which has what differs from the case in "like"."""
    different = dict(file[name])
    like = different.pop("like", USUAL)
    return different if name == USUAL else {**whole(file, like), **different}


def entry(reports, name):
    """The entry of a case in the file: the shortest, if it may be like any case of BASES."""
    def like(base):
        different = {
            key: value for key, value in reports[name].items() if value != reports[base][key]
        }
        return different if base == USUAL else {"like": base, **different}

    if name == USUAL:
        return reports[name]
    entries = [like(base) for base in (USUAL, *(() if name in BASES else BASES))]
    return min(entries, key=lambda made: lines(made, "").count("\n"))


@pytest.fixture(scope="module")
def golden():
    """{case: report}, whole. After an update it is written back."""
    file = json.loads(GOLDEN.read_text())
    reports = {name: whole(file, name) for name in file}
    yield reports
    if os.environ.get("XRC_COMPAT_UPDATE_GOLDEN"):
        entries = {name: entry(reports, name) for name in sorted(CASE_NAMES & set(reports))}
        GOLDEN.write_text(lines(entries, "") + "\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__[5:])
def test_each_report_is_the_golden_one(check, golden, workshop, case):
    name = case.__name__[5:]
    program, settings = case(workshop)
    options = settings.pop("options", [])
    _, report = check(program, *options, **settings)
    report = normal(report, workshop.folder)
    not_executed = name == "class_32" and not executed_here(program)
    if os.environ.get("XRC_COMPAT_UPDATE_GOLDEN") and not not_executed:
        golden[name] = report
    wanted = {**golden[name], **(CLASS_32_NOT_EXECUTED if not_executed else {})}
    assert json.dumps(report, indent=2) == json.dumps(wanted, indent=2)


def test_every_golden_report_belongs_to_a_case(golden):
    assert set(golden) == CASE_NAMES


def test_every_verdict_has_a_case(source_root, golden):
    source = (source_root / "tools" / "check" / "check_print.c").read_text()
    verdicts = set(re.findall(r'\[VERDICT_\w+\] = "(.*)"', source))
    assert len(verdicts) == 8
    assert {report["verdict"] for report in golden.values()} == verdicts


# {case: why `run` cannot be compared with `check`}
NOT_COMPARED_WITH_RUN = {
    "case_plugin_that_is_a_program": "`run` knows no plugins",
    "case_plugin_that_is_not_there": "`run` knows no plugins",
    "case_static_without_verbs": "it needs nothing of ours, so `check` says \"not needed\", while `run` refuses it",
    "case_library_is_a_fifo": "the loader would wait for ever",
    "case_terminal_sequences": "the loader's message is not UTF-8",
    "case_aarch64": "qemu-user would start it",
    "case_big_endian": "qemu-user would start it",
}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.__name__ not in NOT_COMPARED_WITH_RUN],
    ids=lambda case: case.__name__[5:])
def test_check_exits_as_run_does_when_run_refuses(check, run, xrc_compat, probe, workshop, case):
    """`check` exits with 125, 126 or 127 if, and only if, `run` or the loader refuses the program
    with that status."""
    program, settings = case(workshop)
    options = settings.pop("options", [])
    status, _ = check(program, *options, **settings)
    settings.pop("devices", None)
    env = {"XRC_COMPAT_LIBRARY": str(probe), "LD_LIBRARY_PATH": "", **settings}
    done = run([xrc_compat, "run", program], env=env, cwd=workshop.folder)
    refused = done.stderr.startswith(
        "xrc-compat: ") or "error while loading shared libraries" in done.stderr
    assert refused == (status in (125, 126, 127)), (status, done)
    assert not refused or done.returncode == status, done


def test_control_characters_never_reach_the_terminal(run, xrc_compat, workshop):
    program, _ = case_terminal_sequences(workshop)
    done = run([xrc_compat, "check", program], env={"LD_LIBRARY_PATH": ""})
    text = (done.stdout + done.stderr).replace("\n", "")
    assert not [c for c in text if unicodedata.category(c) == "Cc"]
    assert "\nMissing     ?\"\\?456.so\n" in done.stdout


@pytest.mark.parametrize(
    "name",
    [b"new\nline", b"esc\x1b[2J'quote", b"bob's program", b"latin\xe9", "gr\u00fc\u00df".encode()])
def test_a_shell_splits_the_next_command_into_the_right_words(xrc_compat, fakes, workshop, name):
    program = os.path.join(os.fsencode(workshop.folder), name)
    shutil.copy(workshop.linked(), program)
    env = {**os.environ, **fakes, "FAKE_DEVICES": "mlx4_0"}
    done = subprocess.run([xrc_compat, "check", program], capture_output=True, env=env, timeout=30)
    line = next(line for line in done.stdout.split(b"\n") if line.startswith(b"Next "))
    words = subprocess.run(["bash", "-c", b"printf '%s\\0' " + line[5:]], capture_output=True,
                           timeout=30).stdout.split(b"\0")
    assert words[:-1] == [b"xrc-compat", b"run", b"--", program]


def test_the_next_command_has_room_for_the_longest_path(check, workshop, tmp_path):
    """Shell quoting turns one unprintable byte into four characters."""
    library = workshop.library("l.so", "int nothing;")
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(15):
        os.mkdir("\x01" * 250, dir_fd=folder)
        deeper = os.open("\x01" * 250, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    os.link(library, "l.so", dst_dir_fd=folder)
    os.close(folder)
    path = tmp_path.joinpath(*["\x01" * 250] * 15, "l.so")
    assert check(path)[1]["next"].endswith("l.so' PROGRAM")


def test_check_does_not_run_the_audit_library(check, workshop):
    """The program names an audit library in DT_AUDIT. The loader runs it even when it only lists
    libraries; `check` must not."""
    ran = workshop.folder / "ran"
    audit = workshop.library(
        "audit.so", f"""#include <fcntl.h>
unsigned la_version(unsigned version); unsigned la_version(unsigned version) {{ return version; }}
__attribute__((constructor)) static void run(void) {{ if (open("{ran}", O_CREAT | O_WRONLY, 0600) < 0) return; }}"""
    )
    program = workshop.program("audited", ONE_WAY, workshop.stub, f"-Wl,--audit={audit}")
    subprocess.run([program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, timeout=30)
    if not ran.exists():
        pytest.skip("this loader runs no auditor when it lists libraries")
    ran.unlink()
    assert check(program)[1]["verdict"] == "ready" and not ran.exists()


def test_a_file_that_may_not_be_executed_is_status_126(check):
    assert check("/etc/passwd")[0] == 126


def test_the_text_has_the_facts_of_the_json(run, xrc_compat, fakes, workshop):
    program = workshop.linked()
    result = run([xrc_compat, "check", program], env=fakes)
    assert result.returncode == 0
    for words in (f"Needs       ibv_create_xrc_rcv_qp, by {program}\n",
                  f"            ibv_open_xrc_domain, by {program}\n",
                  "Verdict     ready\n",
                  f"Next        xrc-compat run -- {program}\n", "qedr0: ",
                  "without sharing of receive QPs between processes"):
        assert words in result.stdout


SYSTEM_PROGRAMS = [
    "/bin/ls", "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/as", "/usr/bin/ibv_devinfo",
    "/bin/tar"
]


@pytest.mark.parametrize("program", SYSTEM_PROGRAMS)
def test_libraries_are_those_that_the_loader_takes(run, check, program):
    if not os.path.exists(program):
        pytest.skip(f"{program} is not installed")
    listed = run(["ldd", program]).stdout
    wanted = {os.path.realpath(word) for word in listed.split() if word.startswith("/")}
    _, report = check(program)
    assert {os.path.realpath(lib.split(" => ")[1]) for lib in report["libraries"]} == wanted


@pytest.mark.parametrize("arguments", [[], ["ls", "cat"]])
def test_wrong_number_of_programs(run, xrc_compat, arguments):
    result = run([xrc_compat, "check", *arguments])
    assert (result.returncode, result.stdout) == (125, "")
    assert "usage: xrc-compat check" in result.stderr
