# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The C programs of these tests: what Meson builds, how to start some of it, and the source of a
program for MPI with Open MPI's command to start it."""

import contextlib
import os
import pathlib

MPI_PROGRAM = pathlib.Path(__file__).parent / "programs" / "ring_of_ranks.c"
PROGRAMS = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"])

# MPI refuses to start as root, as in containers, or with more ranks than processors, unless these
# are set.
OPEN_MPI = [
    "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ucx", "--mca",
    "osc", "^ucx", "-x", "LD_PRELOAD", "-x", "UCX_TLS"
]


@contextlib.contextmanager
def holding(daemon, *qps):
    """A program that holds objects of every kind, and further QPs if told how many (ends/hold.c).
    It has created all of them."""
    with daemon.start([PROGRAMS / "softhca-hold", daemon.scratch / "domain", "idle", *qps],
                      stderr=None) as holder:
        try:
            assert holder.stdout.readline() == "ready\n"
            yield holder
        finally:
            holder.kill()


@contextlib.contextmanager
def sharing(daemon):
    """Two processes with one handle each of a target QP (ends/hold.c): the creator's Popen, and
    the QP's number."""
    command = [PROGRAMS / "softhca-hold", "watch", daemon.scratch / "domain", "1"]
    with daemon.start(command) as creator:
        number = creator.stdout.readline().split()[0]
        with daemon.start([*command, number]) as opener:
            try:
                assert opener.stdout.readline().split()[0] == number
                yield creator, int(number)
            finally:
                creator.kill()
                opener.kill()
