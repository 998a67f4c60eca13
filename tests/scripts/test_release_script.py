# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""scripts/release makes each part twice, continues an interrupted run, and names what it could not
make. Here small scripts take the place of the builds."""

import re
import shutil

import pytest

COPIED = ("scripts/release", "scripts/usage.sh", "packaging/source.sh", "meson.build", "NEWS.md",
          "packaging/debian/changelog", "packaging/xrc-compat.spec", "packaging/spack/package.py",
          "packaging/easybuild/xrc-compat.eb", "subprojects/softhca/meson.build",
          "subprojects/softhca/NEWS.md")
DEPS = """
deps_ensure() { :; }
deps_quietly() { "$@"; }
deps_python() { echo '{}'; }
deps_meson() {
	[ "$1" = dist ] || return 0
	mkdir -p "$work/dist/build/meson-dist"
	git archive --prefix="$name/" HEAD | xz >"$work/dist/build/meson-dist/$name.tar.xz"
}
"""
# The last argument is the directory for the files.
BUILD = """
for output; do :; done
echo "built ${0##*/} $*" | sed 's, /.*,,'
[ "${0##*/}" != "$BROKEN" ] || exit 1
[ "${0##*/}:${output##*/}" != "$EMPTY:twice" ] || exit 0
[ "${0##*/}" != "$CHANGING" ] || date +%N >"$output/${0##*/}.file"
[ "${0##*/}" = "$CHANGING" ] || echo same >"$output/${0##*/}.file"
"""


@pytest.fixture
def git(tmp_path, run):
    """git(*words): in the small tree."""
    if not shutil.which("git"):
        pytest.skip("no git")
    own = ["git", "-C", tmp_path / "tree", "-c", "user.name=A", "-c", "user.email=a@b.example"]

    def _git(*words):
        done = run([*own, *words])
        assert done.returncode == 0, done

    return _git


@pytest.fixture
def release(tmp_path, run, source_root, shell_script, git):
    """release(**environment): runs the script on a small tree. The directory for the files is the
    same each time."""
    tree = tmp_path / "tree"
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_root / name, tree / name)
    (tree / "scripts" / "deps.sh").write_text(DEPS)
    for name in ("build-deb", "build-rpm", "build-bundle"):
        shell_script(tree / "packaging" / name, BUILD)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        git(*words)

    def _release(**environment):
        done = run([tree / "scripts" / "release", tmp_path / "files"],
                   env={"BROKEN": "", "CHANGING": "", "EMPTY": "", **environment}, timeout=60)
        return done, [line for line in done.stdout.splitlines() if line.startswith("built ")]

    return _release


def test_each_part_is_made_twice(release, tmp_path):
    done, built = release()
    assert done.returncode == 0, done
    assert built == ["built build-deb --source"] + ["built build-deb"] * 2 + [
        "built build-rpm --portable"] * 2 + ["built build-bundle"] * 2
    sums = (tmp_path / "files" / "SHA256SUMS").read_text()
    for name in ("build-deb", "build-rpm", "build-bundle"):
        assert f"  {name}.file\n" in sums, sums


def test_the_next_run_makes_only_what_is_missing(release):
    done, _ = release(BROKEN="build-rpm")
    assert done.returncode == 1 and "release: RPM packages was not made" in done.stderr, done
    done, built = release()
    assert (done.returncode, built) == (0, ["built build-rpm --portable"] * 2), done
    assert len(release()[1]) == 7


def test_other_bytes_are_reported(release):
    done, _ = release(CHANGING="build-bundle")
    assert done.returncode == 1, done
    assert "release: bundle once more was not made" in done.stderr


def test_a_second_build_without_files_is_reported(release):
    done, _ = release(EMPTY="build-deb")
    assert done.returncode == 1, done
    assert "release: Debian packages once more was not made" in done.stderr


def test_files_of_another_version_are_in_the_way(release, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "xrc-compat-0.9.0.tar.xz").write_text("")
    done, built = release()
    assert (done.returncode, built) == (1, []), done
    assert "files/xrc-compat-0.9.0.tar.xz is not of the last commit" in done.stderr, done


@pytest.mark.parametrize("broken", ["", "build-rpm"])
def test_files_of_an_earlier_commit_are_in_the_way(release, tmp_path, git, broken):
    release(BROKEN=broken)
    git("commit", "-q", "--allow-empty", "-m", "later")
    done, built = release()
    assert (done.returncode, built) == (1, []), done
    assert "files/SHA256SUMS is not of the last commit" in done.stderr, done
    shutil.rmtree(tmp_path / "files")
    assert release()[0].returncode == 0


@pytest.mark.usefixtures("release")
def test_the_changelog_has_the_day_of_the_news(tmp_path, run):
    changelog = tmp_path / "tree" / "packaging" / "debian" / "changelog"
    changelog.write_text(re.sub(r"(?m)^( -- .*>  ).*", r"\1Tue, 01 Jan 2030 00:00:00 +0000",
                                changelog.read_text(), count=1))
    done = run([tmp_path / "tree" / "scripts" / "release", "--check"])
    assert done.returncode == 1 and "changelog names the day 2030-01-01" in done.stderr, done


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize("day, status", [("not released", 0), ("2030-01-01", 1)])
def test_news_count_from_their_day_on(tmp_path, run, day, status):
    news = tmp_path / "tree" / "NEWS.md"
    news.write_text(news.read_text().replace("\n## ", f"\n## 9.0.0 ({day})\n\n## ", 1))
    done = run([tmp_path / "tree" / "scripts" / "release", "--check"])
    assert done.returncode == status, done
    assert ("NEWS.md names version 9.0.0" in done.stderr) == bool(status), done
