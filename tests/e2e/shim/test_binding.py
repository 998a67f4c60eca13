# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unusual ways in which an old program is linked or loaded. The usual ones are in ../door/."""

import pytest

pytestmark = pytest.mark.any_model


def test_the_first_verb_does_not_deadlock_with_a_constructor(run, xrc_compat, build_root,
                                                             sanitizer_env):
    """One thread calls a verb under the loader's lock, while another is in the first verb of the
    process and needs that lock."""
    folder = build_root / "tests" / "e2e" / "shim"
    command = [folder / "plugin-host", "now", folder / "libconstructor-plugin.so"]
    result = run([xrc_compat, "run", "--softhca=1", "--", *command], env=sanitizer_env)
    assert (result.returncode, result.stdout) == (0, "constructed\n"), result.stderr
