# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges a program that was to play the exchange."""


def done(result):
    """It played the exchange, and ended well."""
    assert (result.returncode, result.stdout.splitlines()[:1]) == (0, ["exchange: done"]), \
        f"{result.args}: status {result.returncode}\n{result.stdout}{result.stderr}"
