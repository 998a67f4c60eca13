# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The bundle's libraries must load with glibc 2.17, and the bundle is compiled with glibc 2.31. So
meson.build must know each function from between that they call, or the bundle cannot be made."""

import ast
import re

import pytest

import elf


def version(symbol):
    found = re.search(r"@GLIBC_2\.(\d+)", symbol)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("project, name", [
    ("", "shim"), ("", "companions"), ("subprojects/softhca", "subprojects/softhca/bin")
])
def test_each_later_function_has_a_stand_in(build_root, source_root, project, name):
    files = [path for path in (build_root / name).glob("lib*.so*") if path.is_file()]
    later = {symbol.split("@")[0] for path in files for symbol in elf.dynamic_symbols(path)[1]
             if 17 < version(symbol) <= 31}
    table = re.search(r"^newer_functions = (\[.*?\])",
                      (source_root / project / "meson.build").read_text(), re.M | re.S)
    assert files and later <= set(ast.literal_eval(table[1]))


@pytest.mark.parametrize("file, status, says", [
    ("companions/libibcommon.so.1", 0, ""),  # calls no function
    ("subprojects/softhca/bin/libsofthca.so", 1, "libsofthca.so: memfd_create is of glibc 2.27\n"),
])
def test_the_bundles_check_names_later_functions(run, build_root, source_root, file, status, says):
    done = run([source_root / "packaging" / "needed-versions", "2.17", build_root / file])
    assert (done.returncode, done.stderr) == (status, "") and says in done.stdout, done
