# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The commands print names that others have chosen: in ELF files, core files and tables, and of
files and devices. No escape sequence reaches the terminal, and JSON stays valid."""

import json
import os
import pathlib
import re
import signal
import subprocess
import unicodedata

import pytest

from check_workshop import compile_c
from installed import need

pytestmark = pytest.mark.any_model

TITLE = "\x1b]0;x\a"  # sets the title of a terminal
CLEAN = "?]0;x?"


def is_clean(text):
    return not [c for c in text.replace("\n", "") if unicodedata.category(c) == "Cc"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Its name, the directory of its RPATH and a library that it needs have the sequence. It has
    libibverbs in that directory, and lacks the library."""
    folder = tmp_path_factory.mktemp("names") / f"lib{TITLE}"
    libraries = [folder / "libibverbs.so.1", folder / f"lib{TITLE}.so"]
    for library in libraries:
        compile_c(library, "int unused(void) { return 0; }", "-shared", "-fPIC",
                  f"-Wl,-soname,{library.name}")
    made = compile_c(folder / f"program{TITLE}", "int main(void) { __builtin_trap(); }", "-g",
                     *libraries, "-Wl,--disable-new-dtags", f"-Wl,-rpath,{folder}")
    libraries[1].unlink()
    return made


def test_check_prints_clean_names_of_an_elf_file(clean, program):
    done = clean("check", program)
    assert done.returncode == 127 and is_clean(done.stdout + done.stderr)
    folder = str(program.parent).replace(TITLE, CLEAN)
    for label, name in (("Program", f"{folder}/program{CLEAN}"), ("Missing", f"lib{CLEAN}.so"),
                        ("libibverbs", f"{folder}/libibverbs.so.1")):
        assert f"\n{label:<11} {name}\n" in "\n" + done.stdout


def test_check_escapes_names_in_json(clean, program):
    text = clean("check", "--json", program).stdout
    report = json.loads(text)
    assert is_clean(text)
    assert (report["program"], report["missing"]) == (str(program), [f"lib{TITLE}.so"])
    assert report["libibverbs"] == str(program.parent / "libibverbs.so.1")


@pytest.mark.parametrize("words", [
    "check /nonexistent/NAME", "run -- /nonexistent/NAME", "ps -o NAME", "ps --core /etc/NAME",
    "ps --stacks NAME", "trace --output /nonexistent/NAME -- true", "trace -- /nonexistent/NAME",
    "report --output /nonexistent/NAME", "env ./NAME", "check --NAME ls"
])
def test_messages_have_clean_words(clean, words):
    done = clean(*words.replace("NAME", TITLE).split())
    text = done.stdout + done.stderr
    assert CLEAN in text and is_clean(text), done


@pytest.mark.parametrize("command", ["check", "doctor"])
def test_names_of_devices_are_clean(clean, command):
    words = [command, "sh"] if command == "check" else [command]
    text = clean(*words, FAKE_NAME=f"mlx4{TITLE}").stdout
    assert f" mlx4{CLEAN}" in text and is_clean(text)
    report = clean(*words, "--json", FAKE_NAME=f"mlx4{TITLE}").stdout
    assert is_clean(report)
    assert [device["name"] for device in json.loads(report)["devices"]] == [f"mlx4{TITLE}"]


@pytest.mark.parametrize("launcher", ["Slurm", "ssh"])
@pytest.mark.parametrize("shell", ["sh", "csh -f"])
def test_a_shell_reads_the_words_of_env_back(clean, run, shell_script, tmp_path, shell, launcher):
    """ssh gives its line to another shell. Words of csh have no line break."""
    name = shell.split()[0]
    need(name)
    words = [f"a{TITLE}", "b\tc!d", "\x9b'`$HOME`\x7f", "gr\u00fc\u00df"]
    words += ["line\nbreak"] if name == "sh" else []
    program = shell_script(f"program{TITLE}", "printf '%s\\0' \"$@\"")
    printed = clean("env", f"--shell={name}", program, *words, LD_PRELOAD="").stdout
    assert is_clean(printed)
    line = re.search(rf"^# {launcher}\n(.*?)(\n# |\Z)", printed, re.M | re.S).group(1)
    shell_script("srun", 'exec "$@"')
    shell_script("ssh", f'shift; exec {shell} -c "$*"')
    done = run([*shell.split(), "-c", line], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.stdout.split("\0") == [*words, ""], (line, done)


@pytest.mark.parametrize("command", [["ps"], ["ps", "--stacks"]], ids=" ".join)
def test_ps_prints_a_clean_name_of_a_device(holder, run, xrc_compat, command):
    """The user of a process may write what he likes into its table, and root reads it."""
    for pid in holder.pids.values():
        for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            if "registrations" not in os.readlink(path):
                continue
            with path.open("r+b") as file:
                data = re.sub(rb"mlx[45]_0", TITLE.encode(), file.read())
                file.seek(0)
                file.write(data)
    text = run([xrc_compat, *command]).stdout
    assert CLEAN in text and is_clean(text)


@pytest.mark.usefixtures("by_libdw")
def test_ps_core_prints_clean_names(run, xrc_compat, program, cores):
    compile_c(program.parent / f"lib{TITLE}.so", "int unused(void) { return 0; }", "-shared", "-fPIC")
    crashed = subprocess.run([program], check=False, timeout=30, **cores.options)
    assert crashed.returncode in (-signal.SIGILL, -signal.SIGTRAP)
    core = cores.only()
    done = run([xrc_compat, "ps", "--core", core.rename(f"{core}{TITLE}")])
    assert f"program{CLEAN}+0x" in done.stdout and is_clean(done.stdout + done.stderr)
