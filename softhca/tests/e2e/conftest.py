# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs on emulated adapters of their own."""

import pytest


@pytest.fixture
def below(run, softhca):
    """below(SETTINGS, WORD..., **kw): runs a command below `softhca run`. It must succeed. Returns
    what run() returns."""
    def start(settings, *argv, timeout=60, **kw):
        done = run([softhca, "run", *settings, "--", *argv], timeout=timeout, **kw)
        assert done.returncode == 0, done.stdout + done.stderr
        return done
    return start
