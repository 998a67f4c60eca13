# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Downloads and unpacks kernels of the distribution, and installs nothing. Each suite has a
directory, in which apt sees no installed package."""

import pathlib
import re
import shutil
import subprocess

KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# The suite of each kernel version that may be given in its place.
SUITE_OF = {"6.1": "bookworm", "6.12": "trixie", "newest": "sid"}


class Unavailable(Exception):
    """The step is not possible on this machine, for the reason in the text."""


class Failed(Exception):
    """A step failed that works on every machine."""


def command(*argv, error=Unavailable, **kw):
    """Runs a command; returns its output. If it fails, the raised error contains the output."""
    done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **kw)
    if done.returncode:
        output = (done.stdout + done.stderr)[-3000:]
        raise error(
            f"{' '.join(str(a) for a in argv[:6])} ...: exit status {done.returncode}\n{output}")
    return done.stdout


def own_suite():
    text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    name = re.search(r"^VERSION_CODENAME=\"?(\w+)", text, re.M)
    return name[1] if name else "sid"


def source_lines(suite):
    """The archives of a suite: of the machine's own suite also the security updates, of others only
    the main archive."""
    rows = command("apt-get", "indextargets", "--format", "$(LABEL)|$(CODENAME)|$(REPO_URI)",
                   "Created-By: Packages", "Origin: Debian", "Component: main").splitlines()
    known = sorted({tuple(row.split("|")) for row in rows})
    main = [address for label, _, address in known if label == "Debian"]
    if not main:
        raise Unavailable(
            "this machine's apt knows no archive of Debian (or has not been updated: apt-get update)"
        )
    lines = [(address, name) for _, name, address in known
             if name in (suite, f"{suite}-security")]
    if suite not in [name for _, name in lines]:
        lines = [(main[0], suite)]
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    return [f"deb {signed}{address} {name} main\n" for address, name in lines]


class Apt:
    """apt, with all its files in one directory."""

    def __init__(self, folder, suite):
        self.folder = folder
        self.archives = folder / "cache" / "archives"
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text("".join(source_lines(suite)), encoding="utf-8")
        settings = {
            "Dir::State": folder,
            "Dir::State::lists": folder / "lists",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Acquire::Languages": "none",
            "APT::Install-Recommends": "false",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Debug::NoLocking": "1",
        }
        self.options = [
            word for name, value in settings.items() for word in ("-o", f"{name}={value}")
        ]

    def get(self, *argv):
        return command("apt-get", "-q", "-y", *self.options, *argv, cwd=self.archives)

    def depends(self, package):
        output = command("apt-cache", *self.options, "depends", "--important", package)
        return re.findall(r"Depends: ([\w.+-]+)$", output, re.M)


def unpack(package, root):
    """Unpacks a package as dpkg does if /lib and others are links."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as deb:
        subprocess.run(
            ["tar", "-x", "-k", "--keep-directory-symlink", "--no-same-owner", "-C", root],
            stdin=deb.stdout, check=True)
    if deb.returncode:
        raise subprocess.CalledProcessError(deb.returncode, deb.args)


def unpack_all(apt, root):
    """Unpacks all that was downloaded to a new root, and removes apt's directory."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in sorted(apt.archives.glob("*.deb")):
        unpack(package, root)
    shutil.rmtree(apt.folder)


class Kernel:
    """The kernel of a suite, unpacked."""

    def __init__(self, folder, suite):
        self.root = folder / "root"
        version_file = folder / "version"
        if not version_file.exists():
            version_file.write_text(self._fetch(folder, suite), encoding="utf-8")
        self.version = version_file.read_text(encoding="utf-8").strip()
        self.modules = self.root / "lib" / "modules" / self.version

    def _fetch(self, folder, suite):
        """Downloads the kernel; returns its version. If apt fails, an older directory stays."""
        downloads = folder.with_name(f"{folder.name}.apt")
        shutil.rmtree(downloads, ignore_errors=True)
        apt = Apt(downloads, suite)
        apt.get("update")
        found = [
            name for name in apt.depends("linux-image-amd64") if name.startswith("linux-image-")
        ]
        if not found:
            raise Unavailable(f"suite {suite} has no linux-image-amd64")
        image = found[0]
        version = image.removeprefix("linux-image-")
        # Other dependencies are about booting. Newer suites have the kernel in several packages.
        parts = [
            name for name in apt.depends(image)
            if name.startswith("linux-") and name.endswith(version)
        ]
        apt.get("download", image, *parts)
        shutil.rmtree(folder, ignore_errors=True)
        unpack_all(apt, self.root)
        command("depmod", "-b", self.root, version, error=Failed)
        return version

    @property
    def image(self):
        for path in (self.root / "boot" / f"vmlinuz-{self.version}", self.modules / "vmlinuz"):
            if path.exists():
                return path
        raise Unavailable(f"no kernel image of {self.version} was found")

    def needed(self, *names):
        """Paths of these modules and of all that they need, in the order of loading."""
        paths = []
        for name in names:
            for line in command("modprobe", "-d", self.root, "-S", self.version, "--show-depends",
                                name, error=Failed).splitlines():
                word = line.split()
                if word[0] == "insmod" and word[1] not in paths:
                    paths.append(word[1])
        return [pathlib.Path(path) for path in paths]
