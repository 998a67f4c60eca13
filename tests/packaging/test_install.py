# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""meson install into a directory of the test's own: what is installed, that it works there and when
moved, and that it can be uninstalled."""

import fnmatch
import json
import os
import re
import shutil
import subprocess

import pytest

import tree

NAME_COMPANIONS = ("tools/program/needs.c", "run-demo", "packaging/bundle.sh")


@pytest.fixture(scope="module", autouse=True)
def no_library_path():
    """What is installed finds its libraries without it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LD_LIBRARY_PATH", raising=False)
        yield


@pytest.fixture(scope="module")
def installed(build_root, tmp_path_factory):
    """An installation for the tests that change nothing."""
    return tree.Tree(build_root, tmp_path_factory.mktemp("installed")).install()


@pytest.fixture
def own(build_root, tmp_path):
    """An installation of its own, for a test that changes it."""
    return tree.Tree(build_root, tmp_path).install()


@pytest.mark.any_model
def test_demo_runs_after_the_prefix_has_moved(own, run, build_root, tmp_path):
    """No library of the build tree is preloaded."""
    moved = tmp_path / "elsewhere"
    own.prefix.rename(moved)
    command = [moved / "bin" / "xrc-compat", "run", "--softhca=2", "--"]
    preloaded = run([*command, "printenv", "LD_PRELOAD"]).stdout.strip().split(":")
    assert len(preloaded) == 2 and all(path.startswith(f"{moved}/") for path in preloaded), preloaded
    done = run([*command, build_root / "demo" / "xrc-cluster", "-n", "2"], timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


def test_companions_are_those_of_the_prefix(run, installed, build_root):
    program = build_root / "tests" / "legacy" / "umad" / "umad-2007"
    report = json.loads(
        run([installed.prefix / "bin" / "xrc-compat", "check", "--json", program],
            env={"LD_LIBRARY_PATH": ""}).stdout)
    assert len(report["companions"]) == 2
    assert all(path.startswith(f"{installed.prefix}/") for path in report["companions"])


@pytest.mark.parametrize("file", NAME_COMPANIONS)
def test_companions_are_named(installed, source_root, file):
    names = {path.name for path in (installed.libdir / "xrc-compat").glob("lib*.so*")}
    named = re.findall(r'(?:companions/|")(lib[\w.]+)', (source_root / file).read_text())
    assert len(names) > 4 and names - {"libxrc-compat.so.1", "libxrc-trace.so"} <= set(named)


def test_development_names_bring_no_requirement(installed, source_root):
    """Each is used only where the library that it loads is installed."""
    names = {path.name for path in (installed.libdir / "xrc-compat").glob("lib*.so*")}
    wanted = {name for name in names if name.endswith(".so")} - {"libxrc-trace.so"}
    rules = (source_root / "packaging" / "debian" / "rules").read_text()
    spec = (source_root / "packaging" / "xrc-compat.spec").read_text()
    excluded = re.search(r"__requires_exclude_from \^%{_libdir}/xrc-compat/(.*)\n", spec)[1]
    assert set(re.findall(r"-X(\S+)", rules)) == wanted
    assert {name for name in names if re.match(excluded.replace(r"\\", "\\"), name)} == wanted


def test_the_pages_and_the_documents_that_messages_name_are_there(installed):
    files = set(installed.files())
    pages = [name for name in files if name.startswith("share/man/man3/ibv_")]
    assert len(pages) == 8
    links = re.findall(r"^\.so (.*)$", "".join(
        (installed.prefix / name).read_text() for name in pages), re.M)
    assert len(links) == 5 and {f"share/man/{link}" for link in links} <= files
    assert {"share/doc/xrc-compat/docs/32-bit.md", "share/doc/xrc-compat/docs/porting.md"} <= files


def test_nothing_is_where_a_loader_or_a_compiler_looks_by_itself(installed):
    """In the prefix only commands, pages and xrc_compat.h are outside of xrc-compat's and softhca's
    own directories. So an installation in /usr replaces no file of libibverbs."""
    public = [name for name in installed.files() if not re.search("/(xrc-compat|softhca)/", name)]
    allowed = re.compile(
        r"bin/(softhca|xrc-compat)|include/xrc_compat\.h|.*/pkgconfig/xrc-compat[\w-]*\.pc"
        r"|share/(man/man[137]|bash-completion/completions)/(ibv_\w+xrc\w+|xrc[-_]compat\w*|softhca)[.\d]*"
    )
    assert [name for name in public if not allowed.fullmatch(name)] == []


@pytest.mark.parametrize("package", ["xrc-compat", "xrc-compat-alone", "xrc-compat-xsrq"])
def test_headers_of_ours_come_before_those_of_the_prefix(own, package):
    """Today's rdma-core may be installed under the same prefix."""
    todays = own.includedir / "infiniband" / "verbs.h"
    todays.parent.mkdir()
    todays.write_text("\n")
    flags = own.pkg_config("--cflags", package)
    done = subprocess.run([*os.environ.get("CC", "cc").split(), *flags, "-E", "-x", "c", "-"],
                          timeout=60, input="#include <infiniband/verbs.h>\n", capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    first = re.search(r'^# 1 "(.*/infiniband/verbs\.h)"', done.stdout, re.M)[1]
    assert first.startswith(f"{own.includedir}/xrc-compat/")
    folders = [flag for flag in flags if flag.startswith(f"-I{own.prefix}")]
    assert folders and len(folders) == len(set(folders)), flags


def normalised(name):
    """The name without the library directory, which differs between machines."""
    return re.sub(r"^lib/[^/]*-linux-gnu\w*/|^lib64/|^lib/\*/", "lib/", name)


def listed(name, pattern):
    return fnmatch.fnmatchcase(name, pattern) or name.startswith(pattern + "/")


def debian_lists(packaging):
    for path in sorted(packaging.glob("debian/*.install")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                yield path.name, normalised(line.removeprefix("usr/"))


def rpm_lists(packaging):
    folders = {
        "bindir": "bin", "libdir": "lib", "libexecdir": "libexec", "includedir": "include",
        "mandir": "share/man", "datadir": "share"
    }
    section = ""
    for line in (packaging / "xrc-compat.spec").read_text().splitlines():
        section = line if line.startswith("%files") else section
        if section and line.startswith("%{_"):
            yield section, re.sub(r"%{_(\w+)}", lambda macro: folders[macro[1]], line).rstrip("/")


@pytest.mark.parametrize("lists", [debian_lists, rpm_lists])
def test_every_file_is_in_one_package(installed, source_root, lists):
    """Every installed file belongs to exactly one package, and every line of a package matches a
    file."""
    rows = list(lists(source_root / "packaging"))
    assert rows
    for name in map(normalised, installed.files()):
        owners = {package for package, pattern in rows if listed(name, pattern)}
        assert len(owners) == 1, f"{name} is in {sorted(owners) or 'no package'}"
    for package, pattern in rows:
        assert any(
            listed(name, pattern)
            for name in map(normalised, installed.files())), f"{package}: {pattern} is not installed"


def test_links_stay_within_the_prefix(installed):
    for name in installed.files():
        path = installed.prefix / name
        if path.is_symlink():
            assert not os.path.isabs(os.readlink(path)), name
            assert path.resolve(strict=True).is_relative_to(installed.prefix)


def test_no_library_or_program_has_a_run_path(installed):
    for name in installed.files():
        path = installed.prefix / name
        if path.is_symlink() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        dynamic = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True,
                                 timeout=30, check=True).stdout
        assert "RUNPATH" not in dynamic and "RPATH" not in dynamic, name


@pytest.fixture
def can_uninstall(own):
    version = subprocess.run([*own.meson, "--version"], capture_output=True, text=True,
                             timeout=60).stdout
    if [int(part) for part in version.split(".")[:2]] < [0, 61]:
        pytest.skip(
            "this meson makes links by a script, of which its uninstall does not know (0.61)")


@pytest.mark.usefixtures("can_uninstall")
def test_uninstall_removes_everything_but_files_of_others(own):
    (own.includedir / "foreign.h").write_text("")
    own.uninstall()
    assert own.files() == ["include/foreign.h"]


def test_uninstall_touches_no_directory_outside_of_the_prefix(build_root, source_root, tmp_path,
                                                              shell_script):
    """Not even one that has our name."""
    build, prefix = tmp_path / "build", tmp_path / "xrc-compat" / "inst"
    shutil.copytree(build_root / "meson-info", build / "meson-info")
    (build / "build.ninja").write_text("")
    options = json.loads((build / "meson-info" / "intro-buildoptions.json").read_text())
    [before] = [entry["value"] for entry in options if entry["name"] == "prefix"]
    for path in build.glob("*/intro-*.json"):
        path.write_text(path.read_text().replace(f'"{before}', f'"{prefix}'))
    shell_script("ninja", ":")
    foreign, ours = prefix.parent / "results", prefix / "include" / "xrc-compat" / "ofed"
    for folder in (foreign, ours):
        folder.mkdir(parents=True)
    subprocess.run([source_root / "scripts" / "uninstall", build], check=True, timeout=60,
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert foreign.exists() and (prefix / "include").exists() and not ours.parent.exists()


@pytest.mark.usefixtures("can_uninstall")
def test_uninstall_leaves_no_directory_of_ours_after_two_installations(own, tmp_path, source_root,
                                                                       shell_script):
    own.install()
    foreign = own.libdir / "xrc-compat" / "foreign"
    foreign.write_text("")
    meson = " ".join(map(str, own.meson))
    for name, command in {"meson": f'exec {meson} "$@"',
                          "ninja": f'cd "$2" && exec {meson} --internal uninstall'}.items():
        shell_script(name, command)
    subprocess.run([source_root / "scripts" / "uninstall", own.view], check=True, timeout=60,
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}",
                        "DESTDIR": str(own.root)})
    left = [path for path in own.root.rglob("*")
            if re.search("xrc-compat|softhca", str(path.relative_to(own.root)))]
    assert left == [own.libdir / "xrc-compat", foreign]
