# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` walks difficult stacks, and leaves the program its own unwinder."""

import os
import platform
import shutil
import subprocess

import pytest

from installed import need

pytestmark = [
    pytest.mark.any_model,
    pytest.mark.skipif("thread" in os.environ.get("SOFTHCA_TEST_SANITIZE", ""),
                       reason="ThreadSanitizer delays signals, and has a backtrace() of its own"),
]


@pytest.fixture
def kinds(helpers):
    return helpers / "stack-kinds"


def functions(call):
    need("addr2line")
    return [frame["symbol"] for frame in call["backtrace"]]


CALLER = ["legacy_call"]


@pytest.mark.parametrize("kind, above", [
    ("tables", ["with_tables", "main"]),
    ("frame-pointer", ["with_frame_pointer", "main"]),
    ("generated", [None, "by_generated_code", "main"]),
    ("signal", ["by_signal", "main"]),
])
def test_the_stack_reaches_main(trace, kinds, by_libunwind, kind, above):
    result, document = trace(kinds, kind)
    [call] = document["calls"]
    assert result.returncode == 0 and functions(call)[-len(above):] == above, functions(call)
    assert functions(call)[:1] == CALLER or kind == "signal"


@pytest.mark.parametrize("kind", ["no-frame-pointer", "end"])
def test_a_stack_that_cannot_be_walked_ends(trace, kinds, by_libunwind, kind):
    """Neither crashes the program. The caller is always known."""
    result, document = trace(kinds, kind)
    [call] = document["calls"]
    assert result.returncode == 0 and functions(call)[:1] == CALLER, (result, functions(call))


def test_a_function_without_a_symbol_has_no_name(trace, kinds, by_libunwind, tmp_path):
    """Not that of the exported function before it, which the file still has."""
    need("strip")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", str(stripped), str(kinds)], check=True)
    shutil.copy(kinds.parent / "libearly-call.so", tmp_path)
    result, document = trace(stripped, "tables")
    [call] = document["calls"]
    assert result.returncode == 0 and functions(call)[:3] == [None, None, "main"], functions(call)


def test_a_call_before_the_constructor_of_the_tracing_library_has_its_stack(
        trace, kinds, monkeypatch):
    monkeypatch.setenv("EARLY_CALL", "1")
    result, document = trace(kinds, "tables")
    assert result.returncode == 0 and functions(document["calls"][0])[0] == "in_constructor"


@pytest.mark.skipif(tuple(map(int, platform.libc_ver()[1].split(".")[:2])) < (2, 35),
                    reason="glibc before 2.35 names frames under the loader's lock")
def test_a_call_does_not_wait_for_the_lock_of_the_loader(trace, kinds, by_libunwind):
    result, document = trace(kinds, "lock")
    assert result.returncode == 0 and len(document["calls"]) == 2, result
    assert len({tuple(functions(call)) for call in document["calls"]}) == 1


def test_the_program_keeps_its_own_unwinder(trace, kinds):
    """libunwind has functions of the same names."""
    result, _ = trace(kinds, "tables")
    assert result.returncode == 0 and "libc.so" in result.stdout
    assert "libunwind" not in result.stdout
