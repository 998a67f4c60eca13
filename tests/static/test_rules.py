# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each rule of rules.py holds on this tree, and fails on a sample that breaks it."""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import pytest

import fixtures
import layers
import rules
import sources

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "abi"))
import elf  # noqa: E402

SPDX_C = f"/* {sources.LICENCE} */\n"

# (rule, file, contents, what the complaint must say).
BROKEN = [
    (rules.spdx, "shim/a.c", "int x;\n", "first line"),
    (rules.spdx, "run", f"#!/bin/sh\necho\n# {sources.LICENCE}\n", "first line"),
    (rules.spdx, "subprojects/softhca/wire/a.c", f"// {sources.LICENCE}\n", "is written /* SPDX"),
    (rules.comments, "tools/a.h", SPDX_C + "/** f - f. */\n", "begins with /*"),
    (layers.include_order, "compat/a.c", SPDX_C + '#include <x.h>\n#include "a.h"\n', "a.h stands too"),
    (layers.include_order, "compat/b.c", SPDX_C + '#include "a.h"\n#include "b.h"\n', "b.h stands too"),
    (layers.include_order, "tools/a.c", SPDX_C + '#include "tools/run/run.h"\n', "<tools/run/run.h>"),
    (layers.modern_verbs, "compat/a.c", SPDX_C + "{\n\treturn ibv_open_xrcd(context, attr);\n}\n",
     "calls ibv_open_xrcd"),
    (layers.modern_verbs, "shim/a.c", SPDX_C + "{\n\tif (!ibv_destroy_qp (qp))\n}\n",
     "calls ibv_destroy_qp"),
    (layers.modern_verbs, "shim/a.c", SPDX_C + "\tstruct verbs_context *v;\n",
     "names verbs_context"),
    (layers.modern_verbs, "elf/a.c", SPDX_C + "\tibv_close_device(context);\n", "calls ibv_close_device"),
    (rules.printing, "elf/a.c", SPDX_C + "\tabort();\n", "abort()"),
    (rules.printing, "compat/a.c", SPDX_C + '\tfprintf(stderr, "x");\n', "fprintf()"),
    (rules.printing, "base/log.c", SPDX_C + '\tprintf("x");\n', "printf()"),
    (rules.foreign_text, "tools/ps/a.c", SPDX_C + '\tprintf("%s", name);\n', "printf()"),
    (rules.foreign_text, "tools/run/a.c", SPDX_C + "\tfputs(name, stdout);\n", "fputs()"),
    (layers.neighbour, "subprojects/softhca/wire/a.c", SPDX_C + "/* See docs/design.md. */\n",
     "names docs/design.md"),
    (layers.neighbour, "subprojects/softhca/run", "# SPDX-License-Identifier: X\n. scripts/deps.sh\n",
     "names scripts/deps.sh"),
    (rules.copies, "subprojects/softhca/base/libc.h", SPDX_C, "not as in base/libc.h"),
    (rules.copies, "subprojects/softhca/cli/streams.c", SPDX_C + "static void fill(void)\n{\n}\n",
     "fill( is not as in tools/text/streams.c"),
    (rules.copies, "subprojects/softhca/lookup/host.c", SPDX_C + '\t\t"SLURM_PROCID",\n',
     '"SLURM_PROCID" is not as in tools/job/job.c'),
    (rules.copies, "subprojects/softhca/cli/preload.c", SPDX_C + '"/lib/ld-linux.so.2"\n',
     "not as in tools/files/elf_info.c"),
    (rules.copies, "subprojects/softhca/cli/preload.c", SPDX_C + '\tif (strpbrk(path, ":$"))\n',
     "not as in tools/files/preload.c"),
    (rules.copies, "subprojects/softhca/tests/e2e/rig.h", SPDX_C + "#define MASK_INIT 1\n",
     "not as in abi/rc_masks.h"),
    (rules.copies, "subprojects/softhca/meson.build", "  '-Wshadow',\n", "not as in meson.build"),
    (rules.copies, "subprojects/softhca/meson.build", "newer_functions = ['gettid']\n",
     "not as in meson.build"),
    (rules.named_files, "tools/a.c", SPDX_C + "/* See tools/ps/gone.c. */\n", "names tools/ps/gone.c"),
    (rules.named_files, "tests/a.py", f'# {sources.LICENCE}\n"""See\ntests/test_gone.py."""\n',
     "names tests/test_gone.py"),
    (rules.machine_paths, "docs/a.md", "see /ho" + "me/me/main\n", "names /ho" + "me/"),
    (rules.columns, "docs/a.md", f"<!-- {sources.LICENCE} -->\n" + "x" * 121 + "\n", "121 columns"),
    (rules.function_length, "subprojects/softhca/wire/a.c",
     SPDX_C + "void f(void)\n{\n" + "\tx();\n" * 39 + "}\n", "41 lines"),
    (rules.code_columns, "tools/a.c", SPDX_C + "\tint x" + "x" * 90 + ";\n", "104 columns"),
    (rules.code_columns, "tests/a.py", f"# {sources.LICENCE}\n" + "x" * 101 + "\n", "101 columns"),
    (rules.code_columns, "tests/b.py", f'# {sources.LICENCE}\n"""{"x" * 95}"""\n', "101 columns"),
    (rules.code_columns, "scripts/a", f"#!/usr/bin/python3\n# {sources.LICENCE}\n" + "x" * 101 + "\n",
     "101 columns"),
    (rules.file_length, "tools/a.c", SPDX_C + "int x;\n" * 512, "513 lines"),
    (rules.env_variables, "compat/a.c", SPDX_C + '\tgetenv("XRC_COMPAT_SECRET");\n',
     "XRC_COMPAT_SECRET is missing"),
    (rules.env_variables, "tools/job/variables.h", "\tX(XRC_COMPAT_UNUSED, \"\")\n",
     "XRC_COMPAT_UNUSED is read nowhere"),
    (rules.env_manual, "tools/job/variables.h", "\tX(XRC_COMPAT_UNTOLD, \"\")\n",
     "XRC_COMPAT_UNTOLD is not documented"),
    (rules.python_version, "abi/a.py", f"# {sources.LICENCE}\nx = 'a'.removeprefix('a')\n",
     ".removeprefix( is later than"),
    (rules.python_version, "tests/fixtures.py", f"# {sources.LICENCE}\n[y := 1]\n",
     " :=  is later than"),
    (rules.python_version, "scripts/refuse-overlap", f"# {sources.LICENCE}\nrun(text=True)\n",
     "text= is later than"),
]

# (file, what it includes, an existing header or "", what the complaint says)
WRONG_INCLUDES = [
    ("compat/a.c", "<shim/shim.h>", "shim/shim.h", "only two_way, base, modern, table, abi"),
    ("compat/a.c", '"../shim/shim.h"', "shim/shim.h", "only two_way, base, modern, table, abi"),
    ("modern/a.h", "<infiniband/driver.h>", "", "only the public verbs.h"),
    ("elf/a.h", "<infiniband/driver.h>", "", "only the public verbs.h"),
    ("tools/a.c", "<state.h>", "compat/objects/state.h", "a header of compat/"),
    ("subprojects/softhca/wire/a.c", "<uverbs/b.h>", "subprojects/softhca/uverbs/b.h", "only base, model,"),
    ("subprojects/softhca/rings/a.c", "<machine/b.h>", "subprojects/softhca/machine/b.h", "only own, lookup"),
    ("subprojects/softhca/cli/a.c", "<own/b.h>", "subprojects/softhca/own/b.h", "only base, model,"),
    ("tools/text/a.c", '"tools/files/paths.h"', "tools/files/paths.h", "only its own files"),
    ("tools/ps/a.c", '"tools/check/check.h"', "tools/check/check.h", "text, aside, devices, job, files, stack, program, run"),
]

# Similar lines that break no rule, so that no rule complains without cause.
FINE = {
    "shim/a.c":
        SPDX_C + '#include <compat/srq.h>\n#include <stdio.h>\n#include "shim.h"\n'
        "int shim_ibv_create_qp(struct ibv_pd *pd)\n{\n\tmodern_table.create_qp(pd);\n\tuse(\"ibv_x(\");\n}\n"
        "/* ibv_open_xrcd(x) and printf(x) in a comment */\nSHIM_EXPORT(ibv_create_qp)\n",
    "compat/a.c":
        SPDX_C +
        "#include <modern/modern.h>\n\tlog_line(\"printf(x)\");\n\tevent.error(x);\n\tsnprintf(a, b, c);\n",
    "base/log.c": SPDX_C + "\twrite(STDERR_FILENO, line, used);\n\tvsnprintf(a);\n",
    "modern/a.c":
        SPDX_C +
        "#include <infiniband/verbs.h>\n\tibv_open_xrcd(a, b);\n\tstruct verbs_context *v;\n",
    "tools/a.c":
        SPDX_C +
        '#include <modern/table.h>\n\tputs("x");\n\tgetenv("XRC_COMPAT_LIBRARY");\n\texit(1);\n\tmkstemp("/tmp/x.XXXXXX");\n',
    "tools/job/variables.h": SPDX_C + '\tX(XRC_COMPAT_LIBRARY, "")\n',
    "man/xrc-compat.1": f'.\\" {sources.LICENCE}\n.It Ev XRC_COMPAT_LIBRARY\n',
    "subprojects/softhca/wire/a.c": SPDX_C + "#include <machine/hca.h>\nvoid f(void)\n{\n" +
                                    "\tx();\n" * 38 + "}\n",
    "include/ofed/infiniband/a.h": SPDX_C + "int x;\n" * 512,
    "run": f"#!/bin/sh\n# {sources.LICENCE}\n",
    "tests/e2e/a.py": f"# {sources.LICENCE}\n# rdma-core, providers/mlx4/verbs.c\nif (x := 'a'.removeprefix('a')):\n    pass\n",
    "scripts/a.py": f"# {sources.LICENCE}\nx = f'{1}'\n",
    "COPYING": "text of others\n",
    "README.md": f"<!-- {sources.LICENCE} -->\n" + "x" * 120 + "\n",
    ".gitignore": "/build/\n*.o\n",
    ".git": "gitdir: of a worktree that is not there, so git lists nothing\n",
    "tools/a.o": "of a compiler\n",
    "build/generated.c": "int x; /* not ours to judge */\n",
}


def write(root, name, contents):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(contents)


@pytest.mark.parametrize("rule", rules.TREE_RULES, ids=lambda rule: rule.__name__)
def test_holds_on_this_tree(rule):
    complaints = rule(os.environ["XRC_COMPAT_SOURCE_ROOT"])
    assert not complaints, "\n" + "\n".join(complaints)


@pytest.mark.parametrize("rule, name, contents, words", BROKEN,
                         ids=lambda value: getattr(value, "__name__", None))
def test_fails_on_a_broken_sample(tmp_path, rule, name, contents, words):
    write(tmp_path, name, contents)
    complaints = rule(tmp_path)
    assert len(complaints) == 1, complaints
    assert complaints[0].startswith(name + ":") or rule is rules.env_manual
    assert words in complaints[0]


@pytest.mark.parametrize("name, included, header, words", WRONG_INCLUDES)
def test_a_wrong_include_is_noticed(tmp_path, name, included, header, words):
    if header:
        write(tmp_path, header, SPDX_C)
    write(tmp_path, name, SPDX_C + f"# include {included}\n#include <stdio.h>\n")
    [complaint] = layers.includes(tmp_path)
    assert complaint.startswith(f"{name}:2: ") and words in complaint


def test_a_circle_of_calls_is_noticed(tmp_path):
    for name, called in {"a": "b", "low/b": "c", "c": "a", "d": "a", "e": "hook"}.items():
        write(tmp_path, f"compat/{name}.c",
              SPDX_C + f"int {name[-1]}(int i)\n{{\n\treturn {called}(i);\n}}\n")
    write(tmp_path, "compat/hook.c", SPDX_C + "HOOK int hook(int i)\n{\n\treturn e(i);\n}\n")
    complaints = {complaint.split(":")[0] for complaint in layers.calls(tmp_path)}
    assert complaints == {"compat/a.c", "compat/low/b.c", "compat/c.c", "compat/d.c"}


@pytest.mark.parametrize("rule", rules.TREE_RULES, ids=lambda rule: rule.__name__)
def test_is_silent_on_a_good_sample(tmp_path, rule):
    for name, contents in FINE.items():
        write(tmp_path, name, contents)
    assert rule(tmp_path) == []


def test_the_tree_is_really_looked_at():
    names = {name for name, _ in sources.files(os.environ["XRC_COMPAT_SOURCE_ROOT"])}
    assert {".ci/run", "meson.build", "tools/run/run.c", "tools/job/variables.h"} <= names


# What the commands in the documents write into the sources.
WRITTEN = ("after", "before", "old-program", "own-test", "own-test-sanitized", "wire.pcapng", "port.txt",
           "events.json", "hosts", "xrc-compat-report.md", "xrc-compat-report.md.1", "a.pyc",
           "build-install/b.c", "tests/__pycache__/b", "subprojects/.wraplock")


@pytest.mark.parametrize("git", [True, False])
def test_what_the_commands_of_the_documents_write_is_not_looked_at(tmp_path, source_root, git):
    if git and not shutil.which("git"):
        pytest.skip("no git")
    if git:
        subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=60)
    (tmp_path / ".gitignore").write_text((source_root / ".gitignore").read_text())
    for name in [*WRITTEN, "new.c", "tests/hosts", ".ci/run"]:
        write(tmp_path, name, "")
    assert {name for name, _ in sources.files(tmp_path)} == {".gitignore", "new.c", "tests/hosts", ".ci/run"}


# The C library in its parts (older and newer glibc), and the runtimes of the sanitizers.
# A sanitizer, and other processors for the stack protector's guard, need the loader by name.
ALLOWED_NEEDED = re.compile(
    r"(libc|libdl|libpthread|librt|libgcc_s|libasan|libubsan|libtsan|libm)\.so[.\d]*")
if platform.machine() != "x86_64" or "SOFTHCA_TEST_SANITIZE" in os.environ:
    ALLOWED_NEEDED = re.compile(ALLOWED_NEEDED.pattern + r"|ld-linux.*")


@pytest.mark.parametrize("library", ["shim/libxrc-compat.so.1", "subprojects/softhca/bin/libsofthca.so"])
def test_a_preloaded_library_needs_only_the_c_library(build_root, library):
    """If it needed libibverbs, that would meet the program's own. If it needed the loader by name,
    that would move before a sanitizer's runtime, which finds its functions with RTLD_NEXT."""
    libraries = elf.needed(build_root / library)
    assert libraries
    assert [name for name in libraries if not ALLOWED_NEEDED.fullmatch(name)] == []


def test_every_fact_that_two_projects_know_is_found(source_root):
    for original, _, pattern in rules.FACTS:
        assert re.search(pattern, (source_root / original).read_text(), re.M), original


def test_every_exception_of_a_build_names_a_test(source_root):
    """A test that is renamed would no longer be skipped where it cannot run."""
    names = [name for _, name in fixtures.NOT_UNDER_SANITIZERS]
    names += [name for _, name in fixtures.NOT_ON_ANOTHER_RDMA_CORE]
    tests = [path for _, path in sources.files(source_root, "test_*.py")]
    text = "\n".join([str(path) for path in tests] + [path.read_text() for path in tests])
    # Others are parts of paths, and parameters of tests.
    functions = "\n".join(re.findall(r"^def (test_\w+)", text, re.M))
    assert [name for name in names
            if name not in (functions if re.fullmatch(r"test_\w+", name) else text)] == []
