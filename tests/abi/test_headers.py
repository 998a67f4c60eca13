# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""This machine's header has the layouts that were measured, struct by struct, and the frozen one
compiles as C and C++ of every standard. The build asserts the layouts of the frozen one."""

import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.environ["XRC_COMPAT_SOURCE_ROOT"], "abi"))
import gen_layouts  # noqa: E402

CC = os.environ.get("CC", "cc").split()
# clang stops after 20 errors, gcc never.
ALL_ERRORS = ["-ferror-limit=0"] if "clang" in subprocess.check_output([*CC, "--version"],
                                                                       text=True) else []
HEADERS = ["verbs.h", "driver.h", "arch.h"]
LANGUAGES = [("c", "gnu89"), ("c", "c99"), ("c", "gnu11"), ("c", "gnu17"), ("c++", "c++98"),
             ("c++", "c++11"), ("c++", "c++17"), ("c++", "c++20")]


def compile_text(text, *options):
    """The compiler's errors about a C text, "" if there are none."""
    return errors([*CC, *ALL_ERRORS, "-x", "c", "-D_GNU_SOURCE", *options], text)


def errors(command, text):
    done = subprocess.run([*map(str, command), "-fsyntax-only", "-"], input=text,
                          env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True,
                          timeout=60)
    return done.stderr or "no message" if done.returncode else ""


def moved(complaints):
    """The texts of failed assertions, and the members that are missing; the errors themselves if
    they say something else."""
    found = re.findall(r'static.assert\w* failed[^"]*"([^"]*)"|(no member named \W?\w+)',
                       complaints)
    return [assertion or member for assertion, member in found] or complaints


@pytest.fixture(params=["x86_64", "i386"])
def abi_option(request):
    option = {"x86_64": "-m64", "i386": "-m32"}[request.param]
    complaints = compile_text("#include <errno.h>\n#include <pthread.h>\n", option)
    if complaints:
        pytest.skip(f"{CC[0]} {option} cannot compile here: {complaints.splitlines()[0]}")
    return option


def disagreements(source_root, *options):
    """Of a header with the dump of rdma-core 44."""
    reference = gen_layouts.read_reference(source_root / "abi/reference/rdma-core-44.json")
    names = {struct: struct for struct in reference["abi"]["x86_64"]}
    text = "#include <infiniband/verbs.h>\n" + gen_layouts.header(reference, names)
    return moved(compile_text(text, *options))


def test_header_of_this_machine_is_as_measured(source_root, abi_option):
    """Fails on a release of rdma-core that moves a member, and names the member."""
    moved_members = disagreements(source_root, abi_option)
    assert not moved_members, (
        "this machine's <infiniband/verbs.h> is not as measured. If old binaries do not depend on it "
        "(abi/assert_modern.c says on what they do), the dump may be extended")


@pytest.mark.parametrize("abi_option", ["x86_64"], indirect=True)
def test_moved_members_are_noticed(source_root, abi_option):
    """Compared with today's layouts, the frozen header differs in what the contract says has moved
    since."""
    moved_members = disagreements(source_root, abi_option, "-I", source_root / "include/ofed")
    assert {
        "ibv_srq.mutex: 40 bytes at 32", "ibv_qp.events_completed: 4 bytes at 152",
        "struct ibv_qp_attr: 144 bytes", "struct ibv_qp_init_attr: 64 bytes",
        "struct ibv_port_attr: 52 or 56 bytes"
    } <= set(moved_members)
    assert [text for text in moved_members if re.match(r"no member named \W?flags", text)]


@pytest.mark.parametrize("language, standard", LANGUAGES)
@pytest.mark.parametrize("header", HEADERS)
def test_frozen_header_compiles_alone(source_root, header, language, standard):
    """By CC, and by gcc and clang if they are here. Included twice, to test its include guard.
    Without -pedantic, which refuses bit 31 in an enum, a part of the frozen API."""
    text = f"#include <infiniband/{header}>\n" * 2 + "int main(void) { return 0; }\n"
    for compiler in (CC, *([name] for name in ("gcc", "clang") if shutil.which(name))):
        complaints = errors([*compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra",
                             "-Werror", "-I", source_root / "include/ofed"], text)
        assert not complaints, f"{compiler}: {complaints}"
