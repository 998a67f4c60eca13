# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""
Runs rdma-core's own tests of pyverbs on a device and says what became of each.

usage: pyverbs_runner.py DIRECTORY-OF-TESTS DEVICE
The last line is JSON: {"ran": N, "skipped": [[test, reason]...], "errors": [[test, text]...]}
"""

import ctypes
import errno
import json
import pathlib
import runpy
import sys
import unittest

directory, device = pathlib.Path(sys.argv[1]), sys.argv[2]
unittest_main = unittest.main
HUGE_PAGE = 2 << 20
IPC_PRIVATE, IPC_RMID, IPC_CREAT, SHM_HUGETLB = 0, 0, 0o1000, 0o4000


def last_line(text):
    return text.strip().splitlines()[-1]


def may_share_huge_pages():
    """Whether shmget(), by which libmlx5 allocates huge pages, gives this user some. The kernel
    wants CAP_IPC_LOCK or the group vm.hugetlb_shm_group."""
    libc = ctypes.CDLL(None, use_errno=True)
    memory = libc.shmget(IPC_PRIVATE, HUGE_PAGE, IPC_CREAT | SHM_HUGETLB | 0o600)
    if memory < 0:
        return ctypes.get_errno() != errno.EPERM
    libc.shmctl(memory, IPC_RMID, None)
    return True


def main(module):
    # This test asks only whether the machine has huge pages. Without the right to them it must
    # expect what it expects on a machine without them: that libmlx5 refuses.
    huge_page_test = sys.modules.get("tests.test_mlx5_huge_page")
    if huge_page_test and not may_share_huge_pages():
        huge_page_test.huge_pages_supported = lambda: False
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
