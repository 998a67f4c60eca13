# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""softhca/meson.build, which configures the emulator alone, has the compiler options and the
version of the whole project."""

import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])
WHOLE, ALONE = ((ROOT / path).read_text() for path in ("meson.build", "softhca/meson.build"))


@pytest.mark.parametrize("pattern", [
    r"\n  version: .*", r"\n  meson_version: .*", r"\n  default_options: .*",
    r"get_supported_arguments\(\[.*?\]\)", r"\nyounger_functions = .*",
    r"\nyounger_constants = \{.*?\}"
])
def test_same(pattern):
    whole, alone = (re.search(pattern, text, re.S if "*?" in pattern else 0).group()
                    for text in (WHOLE, ALONE))
    assert whole == alone
