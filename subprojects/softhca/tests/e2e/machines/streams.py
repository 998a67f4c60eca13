# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What tests disturb: the rows of across.c, and streams of messages, between two machines."""

import subprocess

from built import PROGRAMS
from machines import across
from waiting import wait_for

ACROSS = PROGRAMS / "softhca-across"


def rows(machines, name="once"):
    """The rows of across.c whose names contain this: everything arrives whole."""
    one, two = machines
    across(one, two, [ACROSS, name], [ACROSS, name], env={"ACROSS_SERVER": one.address})


def streaming(machines):
    """The Popens of both ends of a stream that is under way."""
    one, two = machines
    env = {"ACROSS_SERVER": one.address}
    ends = [machine.start([ACROSS, "endless"], env=env) for machine in machines]
    for end in ends:
        assert end.stdout.readline() == "streaming\n", end.communicate()
    return ends


def last_words(machines, ends):
    """What the ends of a stream have said at last."""
    said = [end.communicate(timeout=40)[0] for end in ends]
    for machine in machines:
        wait_for(lambda: not [p for p in machine.processes()
                              if machine.name_of(p) != "softhca-daemon"], "end of the programs")
    return said


def sent_by(machine):
    """How many requests one of its QPs has sent: the QP that has sent the most."""
    return max((int(line.split()[6]) for line in machine.ask("ctl", "counters").splitlines()
                if line.startswith("qp ")), default=0)


def arrive_in_spite(one, two, disturb):
    """5000 messages or more arrive, though disturb() is called in their midst: the sender goes on
    until communicate() ends its stdin."""
    env = {"ACROSS_SERVER": one.address}
    receiver = one.start([ACROSS, "5000"], env=env)
    sender = two.start([ACROSS, "5000"], env=env, stdin=subprocess.PIPE)
    wait_for(lambda: sent_by(two), "first messages", holds=lambda count: count > 10)
    disturb()
    said = [end.communicate(timeout=60)[0] for end in (sender, receiver)]
    assert [words[:3] for words in said] == ["ok "] * 2, said
