# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""configure refuses by name to install into the source tree, where meson would delete sources, and
to build with a compiler that has no C library."""

import os
import platform
import re

import pytest

import tree


@pytest.fixture
def configure(run, build_root, source_root, tmp_path):
    """configure(option...): meson setup of the sources under test."""

    def _configure(*options):
        meson = tree.meson_command(build_root)
        return run([*meson, "setup", tmp_path / "build", source_root, *options], timeout=100)

    return _configure


def test_a_build_without_libdw_says_what_will_refuse(configure, tmp_path, monkeypatch):
    """The libdw that pkg-config finds first is too old."""
    (tmp_path / "libdw.pc").write_text("Name: libdw\nDescription: old\nVersion: 0.182\n")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))
    done = configure("-Dtests=disabled", "-Dsofthca=disabled")
    assert done.returncode == 0, done
    assert "WARNING: no libdw 0.183 or later: xrc-compat ps --stacks will refuse" in done.stdout + done.stderr


# With it the kernel headers look like those before Linux 5.8, which the subproject refuses.
OLD_HEADERS = "-Dc_args=-Dece="


@pytest.mark.parametrize("option", ["softhca", "fabric", "tests"])
def test_an_enabled_part_of_a_refused_softhca_is_an_error(configure, option):
    done = configure(OLD_HEADERS, f"-D{option}=enabled")
    errors = re.findall(r"ERROR: Problem encountered: (.*)", done.stdout + done.stderr)
    assert done.returncode != 0, done
    assert errors == ["softhca needs the kernel headers of Linux 5.8 or later"], done


def test_a_build_without_softhca_points_at_the_reason(configure):
    said = configure(OLD_HEADERS).stdout
    assert (said.index("softhca needs the kernel headers of Linux 5.8") <
            said.index("no softhca, so no tests and no adapter for the demo: the message of subprojects/softhca above"))


def test_a_disabled_softhca_needs_no_fabric(configure):
    done = configure(OLD_HEADERS, "-Dsofthca=disabled", "-Dfabric=enabled")
    assert done.returncode == 0, done


@pytest.fixture
def without_pytest(tmp_path, monkeypatch):
    """PATH has all commands but pytest's."""
    links = tmp_path / "bin"
    links.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if not name.startswith(("pytest", "py.test")) and not os.path.lexists(links / name):
                (links / name).symlink_to(f"{folder}/{name}")
    monkeypatch.setenv("PATH", str(links))


@pytest.mark.usefixtures("without_pytest")
def test_a_build_without_pytest_says_why_it_has_no_tests(configure):
    done = configure()
    assert done.returncode == 0, done
    assert "Message: no tests: missing: pytest (python3-pytest)\n" in done.stdout
    assert "Message: no tests: missing: what the tests of softhca need\n" in done.stdout


def expect_refused(done, option, place, sources):
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0, said
    assert f"ERROR: Problem encountered: {option}: an installation in {place} would" in said
    assert f"files of the sources in {sources}. Choose" in said


@pytest.mark.parametrize("folder", ["", "/include", "/build-install/root"])
def test_a_prefix_in_the_sources_is_refused(configure, source_root, folder):
    prefix = f"{source_root}{folder}"
    expect_refused(configure(f"--prefix={prefix}"), "prefix", prefix, source_root)


def test_a_link_to_the_sources_is_refused(configure, source_root, tmp_path):
    (tmp_path / "link").symlink_to(source_root)
    expect_refused(configure(f"--prefix={tmp_path}", "--mandir=link/man"), "mandir",
                   tmp_path / "link" / "man", source_root)


@pytest.fixture
def refuse(run, source_root, tmp_path):
    """refuse(sources, option, directory): what configure asks, for another source directory. Both
    are below tmp_path."""

    def _refuse(sources, option, directory):
        (tmp_path / sources).mkdir(parents=True, exist_ok=True)
        return run([
            source_root / "scripts" / "refuse-overlap", tmp_path / sources,
            "xrc-compat,softhca", f"{option}={tmp_path / directory}"
        ])

    return _refuse


@pytest.mark.parametrize(
    "option", ["bindir", "datadir", "includedir", "libdir", "libexecdir", "mandir"])
def test_each_directory_is_refused_alone(refuse, option):
    assert refuse("sources", option, "sources/any").returncode == 1


@pytest.mark.parametrize("sources, option, directory", [
    ("include", "includedir", "include"),
    ("include/xrc-compat", "includedir", "include"),
    ("lib/xrc-compat", "libdir", "lib"),
    ("lib/xrc-compat/link", "libdir", "lib"),
    ("bin/xrc-compat", "bindir", "bin"),
    ("share/doc/xrc-compat", "datadir", "share"),
])
def test_sources_where_files_would_be_installed_are_refused(refuse, sources, option, directory):
    assert refuse(sources, option, directory).returncode == 1


@pytest.mark.parametrize("sources, option, directory", [
    ("xrc-compat", "prefix", ""),
    ("xrc-compat", "prefix", "opt/xrc-compat"),
    ("xrc-compat", "includedir", "include"),
    ("xrc-compat", "prefix", "xrc-compat-1.0.0"),
    ("share/src", "datadir", "share"),
])
def test_sources_beside_the_installed_files_are_not(refuse, sources, option, directory):
    done = refuse(sources, option, directory)
    assert (done.returncode, done.stderr) == (0, "")


def test_configure_asks_about_every_directory(source_root):
    top = (source_root / "meson.build").read_text()
    asked = set(re.findall(r"'(\w+)'", re.search(r"foreach option : \[(.*)\]", top)[1]))
    pages = [path for path in source_root.rglob("meson.build")
             if not path.relative_to(source_root).parts[0].startswith("build")]
    used = {name for path in pages
            for name in re.findall(r"get_option\('(\w+dir)'\)", path.read_text())}
    # meson itself installs commands, headers and pages into these.
    assert used | {"bindir", "includedir", "mandir", "prefix"} == asked


@pytest.mark.skipif(platform.machine() != "x86_64", reason="gcc has no -m32 here")
def test_a_missing_32_bit_library_is_the_reason_that_is_given(configure, source_root, tmp_path,
                                                              shell_script):
    """gcc -m32 compiles without gcc-multilib, but finds its own headers only, and no library."""
    compiler = shell_script("gcc-without-multilib",
                            'exec gcc -nostdinc -isystem "$(gcc -print-file-name=include)" '
                            '-nostdlib "$@"')
    cross = tmp_path / "i386.cross"
    cross.write_text((source_root / "packaging" / "i386.cross").read_text().replace(
        "'gcc', '-m32'", f"'{compiler}', '-m32'"))
    done = configure("--cross-file", cross)
    assert done.returncode != 0
    assert "makes no programs for x86: its C library is missing (docs/32-bit.md" in done.stdout
