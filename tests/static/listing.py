# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The files of the project, without those that git ignores. Standard library only."""

import fnmatch
import os
import subprocess


def paths(root):
    """The paths of all files below @root that git has or would add, relative to @root."""
    if (root / ".git").exists():
        try:
            listed = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=60)
            return sorted({path.decode() for path in listed.stdout.split(b"\0")[:-1]})
        except (OSError, subprocess.CalledProcessError):
            pass  # There is no git here, or it does not trust the owner of the directory.
    return list(walk(root))


def walk(root):
    """The same without git, for the patterns that .gitignore has."""
    lines = (root / ".gitignore").read_text().split() if (root / ".gitignore").exists() else []
    patterns = ["/.git", "/.git/", *(line if line[0] == "/" else "*/" + line for line in lines)]

    def is_ours(path):
        return not any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)

    for directory, names, entries in os.walk(root):
        below = directory[len(str(root)):] + "/"
        names[:] = sorted(name for name in names if is_ours(below + name + "/"))
        yield from ((below + entry)[1:] for entry in sorted(entries) if is_ours(below + entry))
