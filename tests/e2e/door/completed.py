# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks the output of a program that runs the exchange."""


def completed(result):
    """Expects that the program completed the exchange and exited with 0."""
    assert (result.returncode, result.stdout.splitlines()[:1]) == (0, ["exchange: done"]), \
        f"{result.args}: status {result.returncode}\n{result.stdout}{result.stderr}"
