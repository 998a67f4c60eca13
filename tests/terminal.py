# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A pseudo-terminal, for programs that paint a screen and follow its size."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios

from waiting import read_until


class Terminal:
    """with Terminal(argv, rows, columns) as screen: the program runs on it until the end of the
    block."""

    def __init__(self, argv, rows, columns, env=None):
        self.ours, theirs = pty.openpty()
        self._set_size(rows, columns)
        self.program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, env=env)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        os.close(self.ours)

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def resize(self, rows, columns):
        """Sends SIGWINCH itself: the kernel sends it only to programs whose controlling terminal
        this is."""
        self._set_size(rows, columns)
        self.program.send_signal(signal.SIGWINCH)

    def painted(self, until):
        """Waits until the output since the last call matches @until. The lines of the newest screen
        in it."""
        screen = read_until(self.ours, re.compile(until).search).split("\x1b[H")[-1]
        return [re.sub(r"\x1b\[[HJK]", "", line).rstrip() for line in screen.split("\r\n")]
