# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""32- and 64-bit programs of one user share a prefix, an emulated HCA and a receive QP."""

import json
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / folder) for folder in ("packaging", "abi", "e2e/shim")]
import contract_rows  # noqa: E402
import elf  # noqa: E402
import tree  # noqa: E402
from workers import Worker  # noqa: E402

WORKER = pathlib.Path("tests") / "e2e" / "classes" / "worker"
CLIENTS = pathlib.Path("tests") / "legacy" / "clients"


@pytest.fixture(scope="session")
def builds(build_root):
    """{bits: build directory}"""
    native = build_root.with_name(build_root.name.removesuffix("-i386"))
    if native == build_root or not (native / WORKER).exists():
        pytest.exit(f"SKIP: {native} is not the 64-bit build that belongs to this one",
                    returncode=77)
    return {32: build_root, 64: native}


@pytest.fixture(scope="session")
def prefix(builds, tmp_path_factory):
    """Both builds, installed into one prefix."""
    trees = {
        bits: tree.Tree(build, tmp_path_factory.mktemp(f"tree{bits}"))
        for bits, build in builds.items()
    }
    trees[32].root = trees[64].root
    for each in trees.values():
        each.install()
    return trees[64].prefix


@pytest.fixture
def launch(model, run, prefix, tmp_path):
    return lambda *words, **env: run([
        prefix / "bin" / "xrc-compat", "run", "--softhca=2", "--", *words
    ], timeout=60, env={
        "LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": "", "TMPDIR": str(tmp_path), **env
    })


def test_commands_are_of_64_bits(prefix):
    """The 64-bit commands serve both classes; the 32-bit ones have the same names and must not be
    installed."""
    for name in ("softhca", "xrc-compat"):
        assert (prefix / "bin" / name).read_bytes()[4] == 2


def test_calls_on_files_of_32_bits_have_64_bit_inodes_and_offsets(builds):
    """The inode's number identifies a domain. A number of 32 bits would name another file, or
    stat() would fail with EOVERFLOW."""
    _, undefined = elf.dynamic_symbols(builds[32] / "shim" / "libxrc-compat.so.1")
    names = {symbol.split("@")[0] for symbol in undefined}
    assert names & {"fstat64", "__fxstat64", "open64", "mmap64"}
    assert not names & {
        "open", "openat", "fstat", "stat", "fstatat", "mmap", "ftruncate", "__fxstat", "__xstat"
    }


@pytest.mark.any_model
def test_one_ld_preload_serves_both_word_sizes(launch, builds):
    done = launch("sh", "-c", 'printenv LD_PRELOAD; for i; do $i --poll; done', "sh",
                  *(builds[bits] / CLIENTS / "openmpi" for bits in (64, 32)))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    preloads, *lines = done.stdout.splitlines()
    assert preloads.count("$LIB") == 2
    assert len([line for line in lines if line.endswith("all right")]) == 2, done.stdout


@pytest.mark.parametrize("bits", [32, 64])
def test_env_of_a_program_names_the_library_of_its_word_size(run, builds, bits):
    done = run([builds[64] / "tools" / "xrc-compat", "env", "srun", builds[bits] / WORKER],
               env={"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": ""})
    assert f"={builds[bits]}/shim/libxrc-compat.so.1" in done.stdout, done


def test_lines_for_launchers_serve_both_word_sizes(run, prefix, builds, tmp_path):
    lines = run([prefix / "bin" / "xrc-compat", "env"],
                env={"XRC_COMPAT_LIBRARY": ""}).stdout.splitlines()
    [export] = [line for line in lines if line.startswith("export ")]
    shell = f"unset LD_PRELOAD; {export}; exec {prefix}/bin/softhca run -- sh -c '$0 --poll && $1 --poll' "
    done = run(
        ["sh", "-c", shell + " ".join(str(builds[bits] / CLIENTS / "openmpi") for bits in builds)],
        timeout=60, env={"TMPDIR": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("client",
                         ["gasnet", "mvapich", "mvapich2", "mvapich2-dlopen", "portals4", "qperf"])
def test_clients_of_32_bits_on_a_daemon_of_64(launch, builds, client):
    done = launch(builds[32] / CLIENTS / client, "--poll")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.any_model
@pytest.mark.parametrize("words", [["env", "LANG=C", "PROGRAM"], ["./wrapper"], ["sh", "wrapper"]])
def test_companions_through_a_launcher_of_64_bits(launch, builds, tmp_path, monkeypatch,
                                                  shell_script, words):
    """The companions of a 32-bit program reach it through a 64-bit shell or launcher."""
    program = builds[32] / "tests" / "legacy" / "umad" / "umad-2007"
    shell_script("wrapper", f'exec {program} "$@"')
    monkeypatch.chdir(tmp_path)
    done = launch(*(program if word == "PROGRAM" else word for word in words),
                  XRC_COMPAT_VERBOSE="1")
    assert "i386-linux-gnu/xrc-compat/libibumad.so.1 is preloaded for " in done.stderr
    assert "cannot be preloaded" not in done.stderr and "error while loading" not in done.stderr
    if done.stdout == "no libibumad: umad_init fails\n":
        pytest.skip("this machine has no libibumad of 32 bits")
    assert done.stdout == "2 adapters, all right\n"


@pytest.mark.parametrize("group", ["rcv_qp", "reg", "end", "event", "data"])
def test_contract_of_32_bits_on_a_daemon_of_64(launch, builds, group):
    done = launch(builds[32] / "tests" / "e2e" / "shim" / "contract", "--mode=processes", group)
    contract_rows.check(done)
    assert done.stderr == ""


@pytest.mark.any_model
def test_a_program_of_the_class_that_is_not_installed_is_refused(run, builds, tmp_path):
    """With only the 64-bit build installed, the command says what a 32-bit program lacks."""
    alone = tree.Tree(builds[64], tmp_path).install()
    for command in ("run", "check", "trace"):
        done = run([alone.bin / "xrc-compat", command, builds[32] / WORKER],
                   env={"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": ""})
        assert done.returncode == 125, done
        assert "is a 32-bit i386 program, but this libxrc-compat is 64-bit x86-64" in done.stdout + done.stderr


@pytest.mark.any_model
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("place", ["prefix", "build"])
def test_the_64_bit_command_traces_both_word_sizes(run, prefix, builds, tmp_path, bits, place):
    """The 64-bit command traces programs of both classes, with the same arguments, numbers and
    backtraces. Without a prefix it finds the libraries of the other class in the other build
    directory."""
    output = tmp_path / "trace.json"
    command = {"prefix": prefix / "bin", "build": builds[64] / "tools"}[place] / "xrc-compat"
    done = run([
        command, "trace", "--softhca=2", "--json", "--output", output, "--",
        builds[bits] / CLIENTS / "openmpi", "--poll"
    ], timeout=60, env={"LD_PRELOAD": "", "XRC_COMPAT_LIBRARY": "", "TMPDIR": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, ""), done
    calls = json.loads(output.read_text())["calls"]
    assert {call["function"] for call in calls} >= {
        "ibv_open_xrc_domain", "ibv_create_xrc_srq", "ibv_create_qp", "ibv_create_xrc_rcv_qp",
        "ibv_modify_xrc_rcv_qp"
    }
    for call in calls:
        assert call["became"] or call["function"].endswith("reg_xrc_rcv_qp") or call["failed"], call
        assert call["backtrace"][0]["module"] == str(builds[bits] / CLIENTS / "openmpi"), call
        assert call["backtrace"][0]["symbol"], call
    # Inlining decides which functions have a frame, and the first function of a thread is libc's.
    assert max(len(call["backtrace"]) for call in calls) > 1
    created = {call["result"].split()[-1] for call in calls
               if call["function"] == "ibv_create_xrc_rcv_qp"}
    modified = [call["arguments"] for call in calls if call["function"] == "ibv_modify_xrc_rcv_qp"]
    assert created == {arguments["xrc_qp_num"] for arguments in modified}
    assert any("ah_attr.port_num=1" in arguments["attr"] and "path_mtu=" in arguments["attr"]
               for arguments in modified)


@pytest.mark.any_model
def test_a_daemon_of_32_bits_refuses_a_program_of_64(run, builds):
    done = run([
        builds[32] / "subprojects" / "softhca" / "bin" / "softhca", "run", "--", builds[64] / WORKER, "0",
        "/dev/null"
    ])
    assert done.returncode != 0
    assert "64-bit program" in done.stderr


@pytest.fixture
def job(model, builds, prefix, run, tmp_path):
    """A daemon of emulated adapters, and the workers on it."""

    class Job:
        def __init__(self, env):
            self.env, self.workers = env, []

        def worker(self, bits, device=0):
            run_worker = [prefix / "bin" / "xrc-compat", "run", builds[bits] / WORKER]
            self.workers.append(Worker(run_worker, [device, tmp_path / "domain"], self.env))
            assert self.workers[-1].bits == bits
            return self.workers[-1]

        def registrants(self):
            """{QP number: pids} by `xrc-compat ps`; it also lists processes without a registration,
            and those of other programs."""
            shown = run([prefix / "bin" / "xrc-compat", "ps", "--json"], env=self.env)
            assert shown.returncode in (0, 1), shown  # 1: another test forges tables
            found = {}
            for row in json.loads(shown.stdout)["registrations"]:
                if row["qp"] is not None and row["run"] == self.env["SOFTHCA_DIR"]:
                    found.setdefault(row["qp"], set()).add(row["pid"])
            return found

    env = dict(os.environ, LD_PRELOAD="", SOFTHCA_DIR=str(tmp_path / "softhca"))
    started = run([prefix / "bin" / "softhca", "start", "--devices=2"], env=env)
    assert started.returncode == 0, started
    # softhca prints a line for a shell, maybe with single quotes.
    job = Job({**env, "LD_PRELOAD": started.stdout.split("LD_PRELOAD=")[1].strip().strip("'")})
    yield job
    for worker in job.workers:
        worker.kill()
    run([prefix / "bin" / "softhca", "stop"], env=env)


def deliver(sender, receiver, number, byte):
    assert receiver.ask("post") == 0
    assert sender.ask("send", receiver.srq, byte) == 0
    assert receiver.ask("receive", byte) == number


@pytest.mark.parametrize("first, second", [(64, 32), (32, 64)])
def test_both_word_sizes_share_a_receive_qp(job, first, second):
    """Contract 5.6: each registered process keeps the QP alive, 32-bit or 64-bit; a killed process
    is not registered any more."""
    creator, other = job.worker(first), job.worker(second)
    sender = job.worker(second, device=1)
    number = creator.ask("create")
    assert other.ask("reg", number) == 0
    assert job.registrants() == {number: {creator.pid, other.pid}}
    assert creator.ask("connect", number, sender.lid, sender.ask("sender", creator.lid,
                                                                 number)) == 0
    deliver(sender, creator, number, 65)
    deliver(sender, other, number, 66)
    creator.kill()
    assert job.registrants() == {number: {other.pid}}
    deliver(sender, other, number, 67)
    assert other.ask("unreg", number) == 0
    assert job.registrants() == {}
