# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""
Runs rdma-core's own tests of pyverbs on a device and says what became of each.

usage: pyverbs_runner.py DIRECTORY-OF-TESTS DEVICE
The last line is JSON: {"ran": N, "skipped": [[test, reason]...], "errors": [[test, text]...]}
"""

import json
import pathlib
import runpy
import sys
import unittest

directory, device = pathlib.Path(sys.argv[1]), sys.argv[2]
unittest_main = unittest.main


def last_line(text):
    return text.strip().splitlines()[-1]


def main(module):
    result = unittest_main(module=module, exit=False).result
    wrong = [[test.id(), last_line(text)] for test, text in result.errors + result.failures]
    print(
        json.dumps({
            "ran": result.testsRun,
            "skipped": [[test.id(), reason] for test, reason in result.skipped], "errors": wrong
        }))


unittest.main = main
sys.path.insert(0, str(directory))
sys.argv = ["run_tests.py", "--dev", device]
runpy.run_path(str(directory / "run_tests.py"), run_name="__main__")
