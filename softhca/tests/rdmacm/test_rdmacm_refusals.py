# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Refusals of librdmacm and the connection manager, with their errno. A program has only the
addresses of its host."""

import os
import pathlib

import pytest

import models

pytestmark = pytest.mark.any_model

PROGRAMS = pathlib.Path(os.environ["RDMACM_TEST_PROGRAMS"])


ROWS = pathlib.Path(__file__).with_name("refusals.c").read_text().count("ROW(\"")


@pytest.mark.parametrize("program, tried", [("refusals", f"{ROWS} rows"), ("commands", "161 checks")])
def test_each_row_gets_its_errno_and_a_reason_in_the_trace(run, softhca, tmp_path, program, tried):
    trace = tmp_path / "trace"
    done = run([softhca, "run", f"--trace={trace}", "--", PROGRAMS / f"rdmacm-{program}"],
               timeout=60)
    assert (done.returncode, done.stdout) == (0, f"{tried}, 0 failures\n")
    refused = [line.split(" ", 3)[3] for line in trace.read_text().splitlines()
               if line.startswith("rdma_cm ") and not line.endswith(": ok")]
    unexplained = [line for line in refused if not line.endswith(")")]
    assert refused and not unexplained, "\n".join(unexplained)


FIRST_LINE = r"""
exec 3< <("$@" 2>&1); program=$!
head -n 1 <&3
kill $program 2>/dev/null
exit 0
"""


def listen(run, softhca, address, host, *settings):
    """The first line of a program that listens on @address."""
    words = ["bash", "-c", FIRST_LINE, "first", PROGRAMS / "rdmacm-talk", "listen", address, 7000]
    return run([softhca, "run", *settings, "--", *words],
               env={"SOFTHCA_HOST": host} if host else None).stdout


def test_a_program_has_only_the_addresses_of_its_host(run, softhca):
    assert listen(run, softhca, "198.18.1.1", models.device(1)) == "listening\n"
    assert listen(run, softhca, "198.18.1.1", None) == "listening\n"
    assert listen(run, softhca, "198.18.1.1",
                  models.device(0)) == "rdma_bind_addr: Cannot assign requested address\n"


def test_the_address_setting_moves_the_addresses_or_is_refused(run, softhca):
    assert listen(run, softhca, "192.0.3.9", models.device(1),
                  "--address=192.0.2.9") == "listening\n"
    assert listen(run, softhca, "198.18.1.1", models.device(1),
                  "--address=192.0.2.9").startswith("rdma_bind_addr: ")
    for bad in ("192.0.2", "127.0.0.1", "0.0.0.0", "239.0.0.1", "223.255.250.1", "fd00::1"):
        done = run([softhca, "run", f"--address={bad}", "--", "true"])
        assert done.returncode == 125 and "address" in done.stderr, bad


def test_a_host_that_is_no_adapter_is_refused(run, softhca):
    assert listen(run, softhca, "198.18.1.1",
                  models.device(9)) == "rdma_create_event_channel: No such device\n"
    assert listen(run, softhca, "198.18.1.1", "rxe0") == (
        f"softhca: SOFTHCA_HOST is the name of an adapter, as {models.device(0)}, not 'rxe0'\n")
