# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Other preloaded libraries, before the emulator's in LD_PRELOAD and behind it."""

import glob
import os
import sys

import pytest

from built import PROGRAMS
from installed import need

pytestmark = [
    pytest.mark.any_model,
    pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                       reason="the sanitizer's library is preloaded too, and has an allocator"),
]

LIBRARIES = {
    "fakeroot": "libfakeroot/libfakeroot-sysv.so",  # its lstat() calls __lxstat()
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "jemalloc": "libjemalloc.so.2",
    "hugetlbfs": "libhugetlbfs.so.0",
    "electric fence": "libefence.so.0",
    "rsockets": "rsocket/librspreload.so.1",
}
ORDERS = {"before": '"$0:$LD_PRELOAD"', "behind": '"$LD_PRELOAD:$0"'}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_another_preloaded_library(below, library, order):
    need("ibv_devinfo")
    found = [path for directory in ("/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu")
             for path in glob.glob(f"{directory}/{LIBRARIES[library]}")]
    if not found:
        pytest.skip(f"{LIBRARIES[library]} is not installed")
    lstat = f"{sys.executable} -c 'import os; os.lstat(os.devnull)'"
    out = below([], "sh", "-c",
                f'export LD_PRELOAD={ORDERS[order]}; ibv_devinfo && {lstat} && exec "$@"', found[0],
                PROGRAMS / "softhca-memory", "stack of a thread").stdout
    assert "PORT_ACTIVE" in out and "ok the stack of a thread" in out, out


@pytest.mark.parametrize("words", ["fakeroot softhca run", "fakeroot softhca run --net --",
                                   "softhca run fakeroot"])
def test_below_fakeroot_the_user_stays_the_user(run, softhca, request, words):
    """To the C library everybody is root there."""
    need("fakeroot", "ibv_devinfo")
    user = [] if os.geteuid() else request.getfixturevalue("as_nobody")
    if "--net" in words and run([*user, softhca, "run", "--net", "--", "true"]).returncode:
        pytest.skip("this system allows no network namespaces")
    command = [softhca if word == "softhca" else word for word in words.split()]
    assert "PORT_ACTIVE" in run([*user, *command, "ibv_devinfo"]).stdout
