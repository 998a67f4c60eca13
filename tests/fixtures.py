# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Fixtures and options of every pytest here: those of softhca's harness, the build tree, and what
cannot run in some builds."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

HARNESS = pathlib.Path(__file__).resolve().parents[1] / "subprojects/softhca/tests/harness"
sys.path.insert(0, str(HARNESS))

from softhca_fixtures import *  # noqa: E402,F401,F403
from softhca_fixtures import NO_OTHER, NOT_ON_ANOTHER_RDMA_CORE, NOT_UNDER_SANITIZERS  # noqa: E402


# {(sanitizer, or "" for any; part of the test's name): why it cannot run there}
NOT_UNDER_SANITIZERS.update({
    ("thread", "test_the_backtrace_goes_from"): "the sanitizer's runtime is in the backtraces",
    ("thread", "test_functions_that_were_looked_up"): "the sanitizer's runtime is in the backtraces",
    ("thread", "test_the_calls_of_all_ranks"): "Open MPI's own threads race",
    ("thread", "test_alone_serves_a_plugin"): "the host starts without the sanitizer's runtime",
    ("thread", "xsrq_rdmacm.c"): "librdmacm's thread starts without the sanitizer's runtime",
    ("thread", "ends_after_its_last_thread"): "the sanitizer's own thread keeps every program alive",
    ("thread", "test_opened.py"): "a program without the sanitizer crashes below its runtime and softhca",
    ("", "test_a_missing_proc"): "the sanitizer's runtime needs /proc",
})


# The keys are as in those of softhca.
NOT_ON_ANOTHER_RDMA_CORE.update({
    (NO_OTHER, "test_libraries_are_those_that_the_loader_takes"):
        "ldd follows the environment, which check does not",
    (18, "rdma_server"): "rdma_server has the option -s since rdma-core 18",
    (23, "portals4"): "a rebuilt Portals4 calls rdma_init_qp_attr, which librdmacm has since rdma-core 23",
    (33, "rdmacm-legacy"): "librdmacm before rdma-core 33 answers each refused QP with ENOMEM",
    (28, "test_calls_on_rc_qps"): "its program calls ibv_reg_mr_iova2, which libibverbs has since rdma-core 28",
    (28, "upstream/test_faults.py"): "its program calls ibv_reg_mr_iova2, which libibverbs has since rdma-core 28",
})


@pytest.fixture(scope="session")
def build_root():
    """The meson build directory under test."""
    return pathlib.Path(os.environ["XRC_COMPAT_BUILD_ROOT"])


@pytest.fixture(scope="session")
def source_root():
    return pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])


@pytest.fixture(scope="session")
def xrc_compat(build_root):
    return build_root / "tools" / "xrc-compat"


@pytest.fixture(scope="session")
def shim(build_root):
    return build_root / "shim" / "libxrc-compat.so.1"


# {machine in the ELF header: what ldconfig -p calls its libraries}
LDCONFIG_TAGS = {3: "libc6", 62: "libc6,x86-64", 183: "libc6,AArch64"}


def system_library(name, shim):
    """The path that ldconfig -p lists for a library of the shim's machine, or None."""
    tag = LDCONFIG_TAGS[int.from_bytes(shim.read_bytes()[18:20], "little")]
    listing = subprocess.check_output(["/sbin/ldconfig", "-p"], timeout=30).decode()
    found = re.search(rf"^\t{re.escape(name)} \({tag}(?:, .*)?\) => (.*)$", listing, re.M)
    return found and found[1]


@pytest.fixture
def systems_class(shim):
    """Programs of the system's class. A shim of the other class cannot be preloaded into them; the
    suite "both classes" tests those."""
    if shim.read_bytes()[4] != pathlib.Path("/bin/sh").read_bytes()[4]:
        pytest.skip("the shell is of the other ELF class")


@pytest.fixture(scope="session")
def real_library(shim):
    library = system_library("libibverbs.so.1", shim)
    assert library, "ldconfig -p lists no libibverbs.so.1"
    return library


@pytest.fixture(scope="session")
def todays_libibumad(shim):
    """For programs linked with an old libibumad: calls are passed to this one."""
    library = system_library("libibumad.so.3", shim)
    if not library:
        pytest.skip("no libibumad.so.3 here")
    return library


@pytest.fixture(scope="session")
def sanitizer_runtime():
    """The library that a program without sanitizer needs in LD_PRELOAD if the shim has one, else
    ""."""
    return os.environ.get("XRC_COMPAT_TEST_PRELOAD", "")


@pytest.fixture(scope="session")
def sanitizer_env(sanitizer_runtime):
    """The environment by which a program without sanitizer loads a shim that has one."""
    return {"LD_PRELOAD": sanitizer_runtime} if sanitizer_runtime else {}


@pytest.fixture
def below_shim(run, softhca, xrc_compat, sanitizer_env):
    """below_shim(command..., devices=2, settings=[], through=[], options=[], timeout=150,
    **environment): its result by `xrc-compat run OPTIONS` on so many new devices.

    settings: of softhca; through: a command that starts xrc-compat."""

    def _below_shim(*command, devices=2, settings=(), through=(), options=(), timeout=150,
                    **environment):
        return run([softhca, "run", f"--devices={devices}", *settings, "--", *through, xrc_compat,
                    "run", *options, "--", *command], timeout=timeout,
                   env={**sanitizer_env, **environment})

    return _below_shim


@pytest.fixture
def shell_script(tmp_path):
    """shell_script(path, body): a new executable script. A relative path is below tmp_path."""

    def _shell_script(path, body):
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return _shell_script


@pytest.fixture
def own_crashes(monkeypatch):
    """For programs that crash on purpose: they end by the signal even where a sanitizer would
    report it and exit."""
    for variable in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
        options = [os.environ.get(variable, ""), "handle_segv=0", "allow_user_segv_handler=1",
                   "disable_coredump=0"]
        monkeypatch.setenv(variable, ":".join(filter(None, options)))
