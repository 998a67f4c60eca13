# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim changes nothing for a program without XRC: calls, files, locks, memory and bindings."""

import os
import re

import pytest

from installed import need


def opened(run, softhca, preload):
    """The paths that ibv_devinfo opens."""
    traced = run([softhca, "run", "--devices=1", "--", "sh", "-c",
                  f'LD_PRELOAD="{preload}$LD_PRELOAD" exec "$@"', "sh", "strace", "-e",
                  "trace=open,openat,creat,memfd_create", "ibv_devinfo", "-v"])
    assert traced.returncode == 0, traced.stderr
    found = [line for line in traced.stderr.splitlines() if " = -1 " not in line]
    return set(re.findall(r'"([^"]*)"', re.sub(r"softhca-run-\w+|/proc/\d+", "*", "\n".join(found))))


@pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                    reason="a sanitizer's runtime opens files of its own")
def test_the_shim_opens_no_file_but_itself(run, softhca, shim):
    need("strace", "ibv_devinfo")
    without = opened(run, softhca, "")
    assert any("libibverbs" in path for path in without)
    assert opened(run, softhca, f"{shim}:") - without == {str(shim)}


not_sanitized = pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                                   reason="the programs are not linked with a sanitizer's runtime")


@pytest.fixture
def preloaded(run, build_root, shim):
    """Runs a program without XRC, whose verbs only count, with the library preloaded."""
    folder = build_root / "tests" / "e2e" / "ordinary"

    def run_preloaded(program, *arguments):
        result = run([folder / program, *arguments],
                     env={"LD_LIBRARY_PATH": str(folder),
                          "LD_PRELOAD": str(shim)})
        assert result.returncode == 0, result
        assert result.stderr == "", "the loader says it if it cannot preload the library"
        return result.stdout

    return run_preloaded


@not_sanitized
def test_each_call_is_passed_on_without_a_lock_or_allocation(preloaded):
    """The library must pass on ibv_ack_async_event: without it libibverbs would not return from
    destroying the object of the event."""
    said = ["at first 5 locks, 1 allocations", "0 locks, 0 allocations", "1000 calls passed on"]
    verbs = preloaded("ordinary").split()
    assert "close_device" in verbs
    assert {verb: preloaded("ordinary", verb, "1000").splitlines() for verb in verbs} == \
        dict.fromkeys(verbs, said)


@not_sanitized
@pytest.mark.parametrize("way", ["jump", "cancel", "first"])
def test_a_thread_may_leave_its_poll_for_events_at_any_instruction(preloaded, way):
    assert preloaded("ordinary-leave", way) == "no lock left\n"


def test_references_without_a_version_bind_to_libibverbs(run, softhca, xrc_compat, build_root):
    """The oldest node of libibverbs gets them: it has other structs than the shim, and no XRC."""
    program = build_root / "tests" / "e2e" / "shim" / "unversioned"
    for shim in ([], [xrc_compat, "run", "--"]):
        result = run([softhca, "run", "--devices=1", "--", *shim, program])
        assert (result.returncode, result.stdout) == (0, "unversioned: done\n"), result
