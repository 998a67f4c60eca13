# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""packaging/source.sh copies the source tree, and fails if one of its two tars does."""

import pytest


@pytest.mark.parametrize("failing, status", [("none", 0), ("-cf", 1), ("-xf", 1)])
def test_a_tar_that_fails_is_not_hidden(run, source_root, tmp_path, failing, status):
    (tmp_path / "tree" / "build").mkdir(parents=True)
    (tmp_path / "tree" / "file").touch()
    tar = f'tar() {{ command tar "$@"; case "$*" in *{failing}*) return 1 ;; esac; }}'
    done = run(["sh", "-euc", f". {source_root}/packaging/source.sh; {tar}; source_copy tree copy"],
               cwd=tmp_path)
    assert done.returncode == status, done
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["file"] * (failing != "-cf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "tree"]


def test_no_build_is_copied(run, source_root, tmp_path):
    kept = {"build.sh", "packaging/build-deb", "subprojects/softhca/file"}
    built = {f"{folder}/file" for folder in (
        ".git", "build", "build-i386", "subprojects/softhca/build", "tests/__pycache__")}
    for name in kept | built:
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    run(["sh", "-euc", f". {source_root}/packaging/source.sh; source_copy tree copy"], cwd=tmp_path)
    copy = tmp_path / "copy"
    assert {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()} == kept
