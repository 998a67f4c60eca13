#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The released ABI of libxrc-compat.so.1, as abidw records it and abidiff compares it.

usage: tests/abi/released.py BUILD/shim/libxrc-compat.so.1     records it anew, in released-x86_64.abi or released-i386.abi
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
MACHINES = {3: "i386", 62: "x86_64"}
LICENCE = ("<!-- SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only: the ABI of libxrc-compat.so.1, recorded by released.py "
           "-->\n")
OPTIONS = ["--exported-interfaces-only", "--type-id-style", "hash", "--no-corpus-path", "--no-comp-dir-path",
           "--no-show-locs", "--no-elf-needed", "--drop-undefined-syms"]


def record_for(library):
    """The record for the machine (e_machine) of this library; None if there is none."""
    machine = MACHINES.get(int.from_bytes(pathlib.Path(library).read_bytes()[18:20], "little"))
    return HERE / f"released-{machine}.abi" if machine else None


def load(library):
    """The record as abidw wrote it: abidiff accepts no line before its first one."""
    return record_for(library).read_text(encoding="utf-8").removeprefix(LICENCE)


def record(library):
    text = subprocess.run(["abidw", *OPTIONS, library], capture_output=True, text=True, check=True, timeout=60).stdout
    # The path of the source tree must not stay in the record.
    text = re.sub(r"path='[^']*?(\w+/\w+\.c)'", r"path='\1'", text)
    record_for(library).write_text(LICENCE + text, encoding="utf-8")


def compare(record_file, library):
    """(status, report) of abidiff; the status is a sum: 1 an error, 2 usage, 4 a change, 8 one that breaks programs."""
    done = subprocess.run(["abidiff", "--exported-interfaces-only", "--no-added-syms", "--suppressions",
                           HERE / "not-ours.abignore", record_file, library], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().split("\n")[-1])
    record(sys.argv[1])
