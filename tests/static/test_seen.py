# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The contract's table of where the rows were run has every group of rows, with the right number of
rows."""

import re


def rows_of(path):
    """Sections of the rows in a file, one each. WRONG_DOMAINS() is three rows, two of a section."""
    text = path.read_text(encoding="utf-8")
    threes = re.findall(r'^WRONG_DOMAINS\(.*"([\d.]+)", "([\d.]+)"\)', text, re.M)
    return re.findall(r'^ROW\w*\("([\d.]+)"', text, re.M) + [
        section for of_null, other in threes for section in (of_null, other, other)]


def test_every_group_is_in_the_contract(source_root):
    groups = {
        path.stem.removeprefix("rows_"): rows_of(path)
        for path in (source_root / "tests/e2e/shim").glob("rows_*.c")
    }
    del groups["absent"]  # rows of a device without XRC
    text = (source_root /
            "docs/contract.md").read_text(encoding="utf-8").split("## 7. On what it was seen")[1]
    documented = {
        group: (sections, int(count))
        for group, sections, count in re.findall(r"^\| `(\w+)` \| ([^|]*) \| (\d+) \|", text, re.M)
    }
    assert documented == {
        group: (", ".join(sorted(set(rows))), len(rows)) for group, rows in groups.items()
    }
