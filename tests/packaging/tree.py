# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An installed copy of the build under test, in a directory of the test's own."""

import json
import os
import pathlib
import shutil
import subprocess


def meson_command(build_root):
    """The meson that configured the build. Another version, or that of another Python, cannot read
    its files."""
    for line in (build_root / "build.ninja").read_text().splitlines():
        if " --internal regenerate " in line:
            return line.split("=", 1)[1].split(" --internal ")[0].split()
    raise AssertionError("build.ninja does not say which meson made it")


def view_of(build_root, folder):
    """A build directory like build_root with a log of its own. So `ninja uninstall` in build_root
    still removes what was installed from there."""
    folder.mkdir()
    for entry in build_root.iterdir():
        if entry.name == "meson-logs":
            (folder / entry.name).mkdir()
        elif entry.name == "meson-private":
            shutil.copytree(entry, folder / entry.name)
        else:
            (folder / entry.name).symlink_to(entry)
    return folder


class Tree:
    """meson install of @build_root under @folder/root, and what is where in it."""

    def __init__(self, build_root, folder):
        self.meson = meson_command(build_root)
        self.view = view_of(build_root, folder / "view")
        self.root = folder / "root"
        options = json.loads((build_root / "meson-info" / "intro-buildoptions.json").read_text())
        option = {entry["name"]: entry["value"] for entry in options}
        self.prefix = self.root / option["prefix"].lstrip("/")
        self.bin = self.prefix / option["bindir"]
        self.libdir = self.prefix / option["libdir"]
        self.includedir = self.prefix / option["includedir"]

    def _meson(self, *arguments, **variables):
        done = subprocess.run([*self.meson, *map(str, arguments)], cwd=self.view,
                              stdin=subprocess.DEVNULL, env={**os.environ, **variables},
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self):
        self._meson("install", "--no-rebuild", DESTDIR=str(self.root))
        return self

    def uninstall(self):
        """What `ninja uninstall` does."""
        return self._meson("--internal", "uninstall")

    def files(self):
        """Everything but directories, relative to the prefix."""
        found = []
        for folder, folders, names in os.walk(self.root):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            found += [
                pathlib.Path(folder, name).relative_to(self.prefix).as_posix()
                for name in names + links
            ]
        return sorted(found)

    def pkg_config(self, *arguments):
        """The words that pkg-config prints, for the prefix as it is and not as it was
        configured."""
        env = dict(os.environ, PKG_CONFIG_PATH=str(self.libdir / "pkgconfig"))
        done = subprocess.run(["pkg-config", f"--define-variable=prefix={self.prefix}", *arguments],
                              env=env, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()
