# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library for 32-bit programs: it builds by the cross file, exports what the table says, and
works in a process. ./run-tests --i386 runs most other tests in 32 bits."""

import os
import pathlib
import subprocess
import sys

import pytest

import tree

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "abi"))
import elf  # noqa: E402

os.environ.pop("LD_LIBRARY_PATH", None)


@pytest.fixture(scope="module", autouse=True)
def multilib(tmp_path_factory):
    """Either all tests of this file run, or none. Status 77 is a skip."""
    probe = tmp_path_factory.mktemp("probe") / "probe.c"
    probe.write_text("#include <stdio.h>\nint main(void) { return puts(\"\") == EOF; }\n")
    try:
        done = subprocess.run(
            ["gcc", "-m32", probe, "-o", probe.with_suffix("")], capture_output=True, text=True,
            timeout=60)
    except FileNotFoundError:
        pytest.exit("SKIP: no gcc, which packaging/i386.cross names", returncode=77)
    if done.returncode:
        pytest.exit("SKIP: gcc -m32 cannot link here (gcc-multilib or glibc-devel.i686 is missing)",
                    returncode=77)
    try:
        subprocess.run([probe.with_suffix("")], capture_output=True, timeout=30, check=True)
    except OSError:
        pytest.exit("SKIP: this kernel runs no 32-bit programs", returncode=77)


@pytest.fixture(scope="module")
def build32(build_root, source_root, tmp_path_factory, multilib):
    """A build directory of the other class. Only the libraries that programs load are built in
    it."""
    folder = tmp_path_factory.mktemp("i386") / "build"
    commands = [
        [
            *tree.meson_command(build_root), "setup", folder, source_root, "--cross-file",
            source_root / "packaging" / "i386.cross", "-Dwerror=true"
        ],
        [
            "ninja", "-C", folder, "shim/libxrc-compat.so.1", "abi/expected-exports.txt"
        ],
    ]
    # This machine may lack the 32-bit libraries for the flags of this run (a sanitizer, another
    # compiler).
    env = {
        name: value for name, value in os.environ.items()
        if not name.endswith("FLAGS") and name not in ("CC", "CXX")
    }
    for command in commands:
        done = subprocess.run([*map(str, command)], env=env, capture_output=True, text=True,
                              timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def shim32(build32):
    return build32 / "shim" / "libxrc-compat.so.1"


def compile_as(word_size, source, output, *options):
    subprocess.run(
        ["gcc", word_size, "-Wall", "-Wextra", "-D_GNU_SOURCE", source, "-o", output, *options],
        check=True, timeout=60)
    return output


def test_exports_are_those_of_the_table(shim32, build32):
    exported, _ = elf.dynamic_symbols(shim32)
    assert exported == set((build32 / "abi" / "expected-exports.txt").read_text().split())


def test_calls_on_files_have_64_bit_inodes_and_offsets(shim32):
    """The inode's number identifies a domain. A number of 32 bits would name another file, or
    stat() would fail with EOVERFLOW. Meson defines _FILE_OFFSET_BITS=64 by itself, so the source
    does not."""
    _, undefined = elf.dynamic_symbols(shim32)
    names = {symbol.split("@")[0] for symbol in undefined}
    assert not names & {
        "open", "openat", "fstat", "stat", "fstatat", "mmap", "ftruncate", "__fxstat", "__xstat"
    }


def test_one_setting_serves_both_classes(shim32, build_root, tmp_path, run):
    """The loader of each class replaces $LIB in LD_PRELOAD by its own folder. Distributions have
    different folders."""
    setting = {"LD_PRELOAD": f"{tmp_path}/$LIB/libxrc-compat.so.1"}
    classes = {
        "-m32": (shim32, ["lib", "lib32", "lib/i386-linux-gnu"]),
        "-m64": (build_root / "shim" / "libxrc-compat.so.1", ["lib64", "lib/x86_64-linux-gnu"])
    }
    for option, (shim, folders) in classes.items():
        compile_as(option, HERE / "class_probe.c", tmp_path / f"probe{option}")
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "libxrc-compat.so.1").symlink_to(shim)
    for option in classes:
        done = run([tmp_path / f"probe{option}"], env=setting)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
