# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Under the shim, dlsym and dlvsym find the shim's functions by its names. For all other names they
find what they find without it."""

import os
import platform
import re
import shutil

import pytest

from facts import XRC_VERBS

pytestmark = pytest.mark.any_model

GLIBC = tuple(int(part) for part in platform.libc_ver()[1].split("."))
OURS, REAL = "libxrc-compat.so.1", "libibverbs.so.1"
LIBDL = "libc.so.6" if GLIBC >= (2, 34) else "libdl.so.2"
CHANGED = [
    "create_qp", "modify_qp", "query_qp", "destroy_qp", "modify_srq", "query_srq", "destroy_srq",
    "get_async_event", "ack_async_event", "open_device", "close_device"
]
OTHERS = [
    "get_device_list", "alloc_pd", "reg_mr", "create_cq", "create_srq", "fork_init",
    "wc_status_str"
]


@pytest.fixture
def ask(run, door):
    """ask(preload, question..., linked=False): the answers of ask.c, one for each question. linked:
    with libibverbs."""

    def _ask(preload, *questions, linked=False):
        paths = ":".join(map(str, preload))
        result = run([door / ("ask-linked" if linked else "ask"), *questions],
                     env={"LD_PRELOAD": paths})
        assert result.returncode == 0, result.stderr
        answers = result.stdout.splitlines()
        assert len(answers) == len(questions), result.stdout
        return answers

    return _ask


@pytest.fixture
def run_preloaded(run, softhca, door, completed):
    """run_preloaded(preload): the result of a program that makes the calls, with these
    libraries preloaded in this order."""

    def _run_preloaded(preload, program="lookup"):
        keep = ":".join(map(str, preload)) + ":$LD_PRELOAD"
        result = run([
            softhca, "run", "--devices=1", "--", "sh", "-c", f'LD_PRELOAD="{keep}" exec "$0"',
            door / program
        ])
        completed(result)
        return result

    return _run_preloaded


@pytest.mark.parametrize("version", ["", ":IBVERBS_1.1"])
@pytest.mark.parametrize("handle", ["name", "path", "plugin"])
def test_a_handle_of_libibverbs_or_of_a_plugin_finds_the_verbs_of_the_shim(
        ask, shim, real_library, door, handle, version):
    """A library that is linked with libibverbs is such a plugin."""
    library = {"name": REAL, "path": real_library, "plugin": door / "libtable-linked.so"}[handle]
    names = XRC_VERBS + CHANGED
    answers = ask([shim], *(f"{library}:ibv_{name}{version}" for name in names))
    assert dict(zip(names, answers)) == dict.fromkeys(names, OURS)


def test_a_verb_that_a_plugin_defines_itself_stays_its_own(ask, shim, door):
    plugin = door / "libtable-linked.so"
    answers = ask([shim], f"{door / 'libinterposer.so'}:ibv_create_qp", f"{plugin}:ibv_alloc_pd",
                  f"{plugin}:no_such_name", f"{plugin}:ibv_create_qp:NO_SUCH_NODE")
    assert [answer.split()[0] for answer in answers] == ["libinterposer.so", REAL, "NULL", "NULL"]


def test_other_functions_are_those_of_libibverbs(ask, shim, real_library):
    answers = ask([shim], *(f"{REAL}:ibv_{name}" for name in OTHERS))
    real = os.path.basename(os.path.realpath(real_library))
    assert dict(zip(OTHERS, answers)) in (dict.fromkeys(OTHERS, REAL), dict.fromkeys(OTHERS, real))


def test_functions_of_ibverbs_1_0_are_those_of_libibverbs(ask, shim):
    """Programs that ask for IBVERBS_1.0 have other structures, and never use XRC."""
    questions = [f"{REAL}:ibv_{name}:IBVERBS_1.0" for name in CHANGED + XRC_VERBS]
    answers = ask([shim], *questions)
    assert answers == ask([], *questions)
    assert answers[:len(CHANGED)] == [REAL] * len(CHANGED)
    assert all(answer.startswith("NULL ") for answer in answers[len(CHANGED):])


@pytest.mark.parametrize("handle", ["default", "self"])
def test_without_a_version_the_program_finds_what_libibverbs_has(ask, shim, handle):
    """Open MPI 1.8.5 to 1.8.8 takes the old API beside today's for a mistake."""
    answers = ask([shim], *(f"{handle}:ibv_{name}" for name in XRC_VERBS + CHANGED), linked=True)
    assert [answer.split()[0] for answer in answers] == [
        *["NULL"] * len(XRC_VERBS), *[REAL] * len(CHANGED)]
    assert ask([shim], f"{handle}:ibv_open_xrc_domain:IBVERBS_1.1", linked=True) == [OURS]


@pytest.mark.usefixtures("own_crashes")
def test_other_lookups_answer_as_without_the_shim(ask, shim):
    """The same texts of dlerror(), and a null name crashes as before."""
    questions = [
        *(f"libm.so.6:{name}" for name in (
            "cos", "ibv_open_xrc_domain", "ibv_create_qp", "NULL", "cos:GLIBC_2.2.5", "cos:GLIBC_9",
            "ibv_create_qp:IBVERBS_1.1")),
        *(f"libc.so.6:{name}" for name in ("getpid", "no_such_name", "ibv_create_xrc_srq")),
        *(f"default:{name}" for name in ("getpid", "no_such_name", "NULL", "getpid:NO_SUCH_NODE")),
        *(f"next:{name}" for name in ("getpid", "no_such_name", "getpid:GLIBC_2.2.5")),
        "next:ibv_open_xrc_domain",
        *(f"self:{name}" for name in ("getpid", "no_such_name", "NULL")),
        *(f"{REAL}:{name}" for name in (
            "ibv_no_such_verb", "ibv_no_such_verb:IBVERBS_1.1", "NULL", "ibv_create_qp:NO_SUCH_NODE",
            "ibv_open_xrc_domain:IBVERBS_1.2", "getpid")),
    ]
    with_shim, without = ask([shim], *questions), ask([], *questions)
    assert dict(zip(questions, with_shim)) == dict(zip(questions, without))
    assert "signal 11" in without and any("undefined symbol: no_such_name" in answer
                                          for answer in without)


@pytest.mark.parametrize("order", ["front", "behind"])
def test_rtld_next_begins_behind_the_caller(ask, shim, door, real_library, order):
    preload = [door / "libinterposer.so", shim]
    questions = [
        "interposer:ibv_create_qp", "interposer:ibv_create_qp:IBVERBS_1.1", "interposer:dlsym",
        "interposer:ibv_fork_init", "interposer:interposer_next", "interposer:ibv_open_xrc_domain"
    ]
    answers = ask(preload if order == "front" else preload[::-1], *questions, linked=True)
    next_verb, next_dlsym = (OURS, OURS) if order == "front" else (REAL, LIBDL)
    assert answers[:4] == [REAL, next_verb, next_dlsym, REAL]
    assert [answer.split()[0] for answer in answers[4:]] == ["NULL", "NULL"]


def test_an_interposer_before_the_shim_is_called_and_the_calls_work(run_preloaded, shim, door):
    result = run_preloaded([door / "libinterposer.so", shim], "linked-lazy")
    assert re.search(r"^interposer: [1-9]\d* calls of ibv_create_qp$", result.stderr, re.M)


# {order of preloading: the spies that are called}. Spy b looks up the next dlsym with a version.
# Spy a defines dlsym without one, so b does not find a.
ORDERS = {
    "a shim": "a", "shim a": "a", "b shim": "b", "shim b": "b", "a b shim": "ab", "b a shim": "b",
    "a shim b": "ab", "b shim a": "ab", "shim a b": "ab", "shim b a": "b"
}


@pytest.mark.parametrize("order", ORDERS)
def test_profilers_that_interpose_dlsym_call_the_next_one(run_preloaded, shim, door, order):
    paths = {"a": door / "libspy-a.so", "b": door / "libspy-b.so", "shim": shim}
    result = run_preloaded([paths[word] for word in order.split()])
    counts = dict(re.findall(r"^(spy-\w) was called (\d+) times$", result.stderr, re.M))
    assert sorted(counts) == [f"spy-{word}" for word in "ab" if word in order.split()]
    assert {spy[-1] for spy, count in counts.items() if int(count)} == set(ORDERS[order]), counts


@pytest.mark.parametrize("program", ["lookup", "linked-lazy"])
def test_of_two_preloaded_copies_one_works(run_preloaded, shim, tmp_path, monkeypatch, program):
    """An environment module sets LD_PRELOAD, and `xrc-compat run` of another installation adds its
    own copy. Two copies that called each other would hang at fork()."""
    monkeypatch.setenv("XRC_COMPAT_VERBOSE", "1")
    result = run_preloaded([shim, shutil.copy(shim, tmp_path)], program)
    [banner] = [line for line in result.stderr.splitlines() if ": version " in line]
    assert REAL in banner


@pytest.mark.parametrize("order", ["front", "behind"])
def test_dlsym_works_before_the_shims_constructor(run_preloaded, shim, door, order):
    library = door / "libearly.so"
    result = run_preloaded([library, shim] if order == "front" else [shim, library])
    assert "early found\n" in result.stderr
