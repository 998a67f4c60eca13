# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What pytest looks for here. The emulator's own tests take the same from fixtures.py."""

from fixtures import *  # noqa: F401,F403
