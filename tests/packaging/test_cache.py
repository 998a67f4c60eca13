# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The cache of fresh systems (scripts/fresh.sh) keeps nothing for more than 30 days."""

import os
import time

import pytest

DAY = 86400


def made(path, days, content=None):
    """A file, or a folder with one file in it, of that age."""
    if content is None:
        path.mkdir()
        (path / "file").write_text("")
    else:
        path.write_text(content)
    os.utime(path, (time.time() - days * DAY,) * 2)


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    (folder / "bullseye.archives").mkdir(parents=True)
    for name, days in (("bullseye", 32), ("trixie", 28), ("bullseye.archives/old.deb", 32),
                       ("bullseye.archives/new.deb", 28)):
        made(folder / name, days, "deb" if name.endswith(".deb") else None)
    # A package expires by its own age, not by that of its folder.
    os.utime(folder / "bullseye.archives", (time.time() - 100 * DAY,) * 2)
    return folder


@pytest.fixture
def expire(run, source_root):
    """expire(folder): runs fresh_expire on it."""
    script = source_root / "scripts" / "fresh.sh"
    return lambda folder: run(["sh", "-c", '. "$1" && fresh_expire "$2"', "sh", script, folder])


def test_only_entries_older_than_30_days_are_removed(cache, expire):
    done = expire(cache)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(str(path.relative_to(cache)) for path in cache.rglob("*")) == [
        "bullseye.archives", "bullseye.archives/new.deb", "trixie", "trixie/file"]


def test_a_missing_cache_is_accepted(tmp_path, expire):
    assert expire(tmp_path / "none").returncode == 0
