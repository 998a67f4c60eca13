# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""scripts/build.sh configures a build directory once, and adds the tests that run-demo left out."""

import pytest


@pytest.fixture
def built(run, tmp_path, source_root):
    """built(line, *files): the line's exit status, and the commands that it would start after
    these files were made."""

    def _built(line, *files):
        for file in files:
            (tmp_path / file).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / file).touch()
        fakes = 'deps_quietly() { "$@"; }; deps_meson() { echo meson "$@"; }; ninja() { echo ninja "$@"; }'
        done = run(["sh", "-uc", f". {source_root}/scripts/build.sh; {fakes}; {line}"], cwd=tmp_path)
        return done.returncode, [text for text in done.stdout.splitlines() if text[0].islower()]

    return _built


@pytest.mark.parametrize("files, setup", [
    ([], ["meson setup out -Dx=1 -Dtests=enabled"]),
    (["out/build.ninja"], ["meson setup --reconfigure out -Dx=1 -Dtests=enabled"]),
    (["out/build.ninja", "out/tests/any"], []),
])
def test_the_tests_are_configured_once(built, files, setup):
    assert built("build_in out -Dx=1", *files) == (0, [*setup, "meson compile -C out"])


@pytest.mark.parametrize("files, setup", [([], ["meson setup out"]), (["out/build.ninja"], [])])
def test_single_files_need_no_tests(built, files, setup):
    assert built("build_only out a b", *files) == (0, [*setup, "ninja -C out a b"])


def test_nothing_is_compiled_where_the_setup_fails(built):
    fails = 'deps_meson() { echo meson "$1"; return 1; }'
    assert built(f"{fails}; build_in out") == (1, ["meson setup"])


@pytest.mark.parametrize("name, status", [("plain", 0), ("a blank", 1), ("a:colon", 1), ("a$dollar", 1)])
def test_a_path_that_cannot_be_preloaded_is_refused(built, tmp_path, name, status):
    (tmp_path / name).mkdir()
    assert built(f"cd '{tmp_path / name}' && build_refuse_path") == (status, [])
