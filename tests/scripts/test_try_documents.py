# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""scripts/try-documents: which lines of a page it takes for commands, and which it skips."""

import importlib.machinery
import importlib.util
import re

import pytest

PAGE = """# A page

Text.

    scripts/try-documents README.md
    softhca run -- ibv_devinfo
    # a comment stands in a block of commands

    not a command: output

```text
    softhca run -- in a fence
```

    ./run-tests          # all

Text.
"""
COMMANDS = ["scripts/try-documents README.md", "softhca run -- ibv_devinfo",
            "# a comment stands in a block of commands"]


@pytest.fixture
def script(source_root, tmp_path, monkeypatch):
    path = str(source_root / "scripts" / "try-documents")
    loader = importlib.machinery.SourceFileLoader("try_documents", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "TOP", tmp_path)
    return module


def test_blocks_that_begin_with_a_command_are_run(script, tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    assert script.blocks("page.md") == [*COMMANDS, script.SHORTER["./run-tests"]]


def test_each_row_is_of_a_command_of_a_page(script, source_root, monkeypatch):
    monkeypatch.setattr(script, "TOP", source_root)
    lines = [line for page in script.PAGES for line in script.blocks(page)]
    assert set(script.SHORTER.values()) <= set(lines)
    tried = [line for line in lines
             if not any(re.search(pattern, line) for pattern, _ in script.SKIPPED)]
    assert [pattern for rows, of in ((script.SKIPPED, lines), (script.WANTED, tried),
                                     (script.STATUSES, tried))
            for pattern, *_ in rows if not any(re.search(pattern, line) for line in of)] == []


def test_a_command_is_skipped_where_a_check_says_so(script, monkeypatch):
    monkeypatch.setattr(script, "WANTED", [("present", "true", "no"), ("missing", "false", "why")])
    assert [script.why_not(line) for line in ("sudo true", "present", "missing", "other")] == [
        "needs root; scripts/try-ci runs it", None, "why", None]


@pytest.mark.parametrize("lines, status, shown, ran", [
    (["export A=1", '[ "$A" = 1 ]'], 0, 2, ""), (["true", "false", "true"], 1, 2, "1 ran\n"),
    (["sh -c 'exit 1' doctor", "true"], 0, 2, ""), (["sh -c 'exit 2' doctor", "true"], 1, 1, "0 ran\n"),
])
def test_a_page_ends_at_its_first_failure(script, run, monkeypatch, lines, status, shown, ran):
    monkeypatch.setattr(script, "STATUSES", [("doctor", {0, 1})])
    done = run(["sh", "-c", script.script(lines)])
    assert (done.returncode, done.stdout.count("\n$ ")) == (status, shown), done
    assert done.stdout.endswith("\n" + ran), done
