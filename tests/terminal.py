# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A pseudo-terminal for programs that print otherwise on one."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


class Terminal:
    """with Terminal(argv, rows, columns) as screen: the program runs on it until the end of the
    block."""

    def __init__(self, argv, rows, columns, env=None):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        self.program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, env=env)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        os.close(self.ours)
