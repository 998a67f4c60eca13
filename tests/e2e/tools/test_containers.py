# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What docs/containers.md says of other preloaded libraries, and of containers in which the kernel
refuses system calls. packaging/try-launchers runs the lines of that page."""

import glob
import os

import pytest

from holder import expected, pairs, registrations

# File names may differ between releases of Debian.
LIBRARIES = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.[23]",
    "tbbmalloc": "libtbbmalloc_proxy.so.2",
    "faketime": "faketime/libfaketime.so.1",
    "fakeroot": "libfakeroot/libfakeroot-sysv.so",
}


@pytest.fixture
def other(library):
    """The library's path. libfaketime leaves a file and a semaphore of each process."""
    found = [path for directory in ("/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu")
             for path in glob.glob(f"{directory}/{LIBRARIES[library]}")]
    if not found:
        pytest.skip(f"{LIBRARIES[library]} is not installed")
    yield found[0]
    for left in glob.glob("/dev/shm/*faketime_*"):
        ended = not os.path.exists(f"/proc/{left.rsplit('_', 1)[1]}")
        if ended and os.stat(left).st_uid == os.getuid():
            os.unlink(left)


@pytest.fixture
def cluster(run, softhca, programs):
    """cluster(through..., **environment): the demo on two emulated devices, which must succeed and
    print no warning."""

    def _cluster(*through, **environment):
        done = run([softhca, "run", "--devices=2", "--", *through, programs["cluster"], "-n", "2"],
                   env=environment, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), done
        assert "\nQPs used: 2, " in done.stdout, done

    return _cluster


@pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                    reason="a sanitizer has an allocator of its own")
@pytest.mark.any_model
@pytest.mark.usefixtures("systems_class")
@pytest.mark.parametrize("library, order", [
    (library, order) for library in LIBRARIES for order in ("before", "behind", "below run")
    if library != "fakeroot" or order == "below run"  # the library alone answers for no file
])
def test_another_preloaded_library(cluster, shim, xrc_compat, other, library, order):
    if order == "before":
        cluster(LD_PRELOAD=f"{other}:{shim}")
    elif order == "behind":
        cluster(LD_PRELOAD=f"{shim}:{other}")
    elif library == "fakeroot":
        cluster("fakeroot", xrc_compat, "run", "--")
    else:
        cluster(xrc_compat, "run", "--", LD_PRELOAD=other)


@pytest.mark.any_model
@pytest.mark.parametrize("call", ["memfd_create", "ptrace"])
def test_programs_run_where_a_call_is_refused(cluster, helpers, xrc_compat, sanitizer_env, call):
    cluster(helpers / "locked", call, xrc_compat, "run", "--", **sanitizer_env)


@pytest.mark.any_model
def test_ps_needs_no_ptrace(holder, run, helpers, xrc_compat):
    rows = registrations(
        lambda *words: run([helpers / "locked", "ptrace", xrc_compat, *words]), holder)
    assert pairs(rows) == expected(holder, "creator", "registrant")


@pytest.mark.any_model
@pytest.mark.parametrize("scope, says", [(1, "start it with --cap-add=SYS_PTRACE"),
                                         (3, "ptrace_scope is 3; with 3, none can be stopped")])
def test_root_learns_why_a_process_is_not_stopped(own_mounts, by_libdw, run, helpers, xrc_compat,
                                                  scope, says):
    script = ('cd /proc/sys/kernel && mount -t tmpfs none . && cd "$PWD" && mkdir yama && '
              f'echo {scope} >yama/ptrace_scope && "$0" ptrace "$1" ps --stacks $$')
    done = run(["unshare", "-m", "sh", "-c", script, helpers / "locked", xrc_compat])
    assert done.returncode == 1 and says in done.stderr, done


def test_doctor_names_the_call_without_which_there_is_no_table(clean, helpers):
    done = clean("doctor", before=[helpers / "locked", "memfd_create"])
    assert "a process cannot make a registration table: Operation not permitted" in done.stdout
    assert "programs run, but xrc-compat ps does not show them" in done.stdout, done
