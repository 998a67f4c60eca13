# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs of the system that a test needs: whether they are installed, and how those of some
releases differ."""

import contextlib
import ctypes
import functools
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import models


def need(*programs):
    """Skips the test if one of these programs is not installed."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


SANITIZERS = {"address": "libasan.so", "thread": "libtsan.so", "undefined": "libubsan.so"}


def need_sanitizers(names):
    """Skips the test if gcc lacks one of these sanitizers: "address,undefined", or "" for none."""
    need("gcc")
    for library in [SANITIZERS[name] for name in names.split(",") if name]:
        path = subprocess.check_output(["gcc", f"-print-file-name={library}"], text=True)
        if "/" not in path:
            pytest.skip(f"gcc has no {library}")


def need_fabric(softhca):
    """Skips the test if softhca was built without libfabric, or finds none."""
    if b"built without the headers of libfabric" in softhca.read_bytes():
        pytest.skip("softhca was built without the headers of libfabric")
    try:
        ctypes.CDLL("libfabric.so.1")
    except OSError:
        pytest.skip("libfabric is not installed")


def domain_files():
    """{path: whether it is this user's} of what ibv_xsrq_pingpong and perftest leave in /tmp. Their
    names cannot be changed, and other users cannot open them."""
    found = {}
    for path in pathlib.Path("/tmp").glob("xrc_domain*"):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_uid == os.geteuid()
    return found


def need_domain_files():
    """Skips the test if another user has run these programs."""
    for path, own in domain_files().items():
        if not own:
            pytest.skip(f"{path} is another user's, and the program opens no other")


def remove_domain_files():
    for path, own in domain_files().items():
        if own:
            path.unlink(missing_ok=True)


@functools.cache
def rping_may_wait_for_itself():
    """The rping of rdma-core 65 polls for an event in one thread and then fetches it, and waits for
    ever if another thread has destroyed the id in between. Earlier ones do not poll (seen in 33 to
    56)."""
    path = shutil.which("rping")
    return path is not None and b"\0eventfd\0" in pathlib.Path(path).read_bytes()


@functools.cache
def rdma_core_release():
    """That of the libibverbs that a program here gets, by its file's name."""
    ctypes.CDLL("libibverbs.so.1")
    names = re.findall(r"/libibverbs\.so\.1\.\d+\.(\d+)",
                       pathlib.Path("/proc/self/maps").read_text())
    return int(names[0])


def need_xclient(arguments):
    """rdma_xclient of before release 44 (seen in 33) wants to receive on its XRC_SEND QP. The
    driver mlx5 refuses that."""
    if arguments.endswith("-c x") and models.driver() == "mlx5" and rdma_core_release() < 44:
        pytest.skip(
            "rdma_xclient of this release asks for receives on an XRC_SEND QP, which mlx5 refuses")
