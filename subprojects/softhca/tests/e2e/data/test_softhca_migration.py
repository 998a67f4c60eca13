# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Connections migrate to their alternate path."""


def test_each_case_holds(passes):
    passes(["--ports=2", "--open_events=on"], "migration")
