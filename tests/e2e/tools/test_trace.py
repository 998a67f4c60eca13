# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` shows every legacy call of every process, changes no result, and lists the
registrations that the program did not end."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from check_workshop import calls, compile_c
from holder import Holder
from installed import need
from waiting import process_state, wait_for

pytestmark = pytest.mark.any_model

# The functions for which abi/symbols.tab lists arguments.
SYMBOLS = (pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "abi" /
           "symbols.tab").read_text().splitlines()
FUNCTIONS = [
    line.split()[0] for line in SYMBOLS if line.startswith("ibv_") and line.split()[5] != "-"
]


def calls_of(document, function):
    return [call for call in document["calls"] if call["function"] == function]


def test_tracing_changes_no_result_and_sees_all_functions_but_three(trace, programs):
    """The self-test does not call the three. test_srqs_of_the_program_are_seen has two of them."""
    result, document = trace(programs["selftest"])
    assert (result.returncode, result.stderr, document["exit_status"]) == (0, "", 0), result
    assert "15 passed, 0 failed" in result.stdout
    assert set(FUNCTIONS) - {call["function"] for call in document["calls"]} == {
        "ibv_query_qp", "ibv_modify_srq", "ibv_query_srq"}
    assert len({call["pid"] for call in calls_of(document, "ibv_open_xrc_domain")}) >= 6
    assert all(call["tid"] == call["pid"] for call in document["calls"])


def test_the_calls_of_the_cluster_add_up(trace, programs):
    result, document = trace(programs["cluster"], "-n", 3)
    assert result.returncode == 0, result
    counts = {name: len(calls_of(document, name)) for name in FUNCTIONS}
    assert counts["ibv_create_xrc_srq"] == 3 and counts["ibv_create_xrc_rcv_qp"] == 1
    assert counts["ibv_reg_xrc_rcv_qp"] == 2 and counts["ibv_unreg_xrc_rcv_qp"] == 3
    assert counts["ibv_open_xrc_domain"] == counts["ibv_close_xrc_domain"] >= 4
    assert document["left"] == []
    for site in document["sites"]:
        here = [call for call in document["calls"] if call["site"] == site["site"]]
        assert len(here) == site["calls"] and {
            (call["function"], call["backtrace"][0]["offset"]) for call in here
        } == {(site["function"], site["backtrace"][0]["offset"])}
    assert sum(site["calls"] for site in document["sites"]) == len(document["calls"])
    assert sum(site["failures"] for site in document["sites"]) == sum(
        call["failed"] for call in document["calls"])


def test_arguments_and_results_are_decoded(trace, programs):
    _, document = trace(programs["selftest"])

    def first(function, member="result"):
        [call, *_] = [call for call in calls_of(document, function) if not call["failed"]]
        return call["arguments"][member] if member != "result" else call["result"]

    assert {(call["arguments"]["oflag"], call["result"].split()[-1])
            for call in calls_of(document, "ibv_open_xrc_domain") if call["failed"]} == {
                ("0", "EAGAIN"), ("O_CREAT", "EBADF"), ("O_CREAT|O_EXCL", "EINVAL")}
    assert {call["result"] for call in calls_of(document, "ibv_close_xrc_domain")} == {"0", "EBUSY"}
    assert first("ibv_modify_xrc_rcv_qp", "attr_mask") == \
        "IBV_QP_STATE|IBV_QP_ACCESS_FLAGS|IBV_QP_PKEY_INDEX|IBV_QP_PORT"
    rtr = calls_of(document, "ibv_modify_xrc_rcv_qp")[-1]["arguments"]["attr"]
    assert "ah_attr.dlid=1, ah_attr.sl=0, ah_attr.src_path_bits=0, ah_attr.is_global=0, ah_attr.port_num=1" in rtr
    assert "path_mtu=4096," in rtr and "min_rnr_timer=12" in rtr
    number = first("ibv_create_xrc_rcv_qp").split()[-1]
    assert {call["arguments"]["xrc_qp_num"]
            for call in calls_of(document, "ibv_reg_xrc_rcv_qp")} == {number, "0xfffffe"}
    assert "{qp_state=RTR" in first("ibv_query_xrc_rcv_qp")
    assert first("ibv_create_xrc_srq", "srq_init_attr") == "{max_wr=4, max_sge=1, srq_limit=0}"
    assert first("ibv_create_qp", "qp_init_attr").startswith("{qp_type=IBV_QPT_XRC, ")


def test_the_backtrace_goes_from_the_line_of_the_call_through_the_program(trace, programs,
                                                                          source_root):
    _, document = trace(programs["cluster"])
    for call in document["calls"]:
        stack = call["backtrace"]
        assert call["duration_ns"] > 0
        assert not any("trace" in frame["module"] or "libc.so" in frame["module"]
                       for frame in stack)
        assert (stack[0]["module"], stack[-1]["symbol"]) == (str(programs["cluster"]), "main")
        if shutil.which("addr2line"):
            file, number = stack[0]["line"].split(":")
            text = (source_root / "demo" / file).read_text().split("\n")
            # Debugging information may give the call the line of any of its arguments.
            near = "\n".join(text[int(number) - 2: int(number) + 1])
            assert call["function"] in near, (call, near)


def test_only_frames_of_the_program_are_looked_up(traced, programs, tmp_path, shell_script):
    """addr2line takes milliseconds for each of the libraries between the program and the trace."""
    need("addr2line")
    asked = tmp_path / "asked"
    shell_script("addr2line", f'echo "$4" >>{asked}\nexec {shutil.which("addr2line")} "$@"')
    result = traced("--softhca=1", "--", programs["lookup"], "dlsym",
                    PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert result.returncode == 0 and set(asked.read_text().split()) == {str(programs["lookup"])}


SENDS_GARBAGE = """
import os, random, socket, struct
random.seed(1)
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
own.connect(os.environ["XRC_COMPAT_TRACE"])
for i in range(3000):
    words = random.choices([0, 1, 2, 255, 0xffffffff], [20, 20, 20, 20, 1], k=176)
    text = random.randbytes(random.choice([0, 1, 300, 6142]))
    words[:2] = 0x78726336, i % 20
    words[18:23] = 0, i % 22, i % 14, i % 302, len(text) if i % 5 else 0xffffff00
    own.send(struct.pack("<176I", *words) + text)
"""


def test_a_program_that_corrupts_its_memory_does_not_crash_the_trace(run, xrc_compat, tmp_path):
    output = tmp_path / "trace"
    result = run([xrc_compat, "trace", "--output", output, "--", "python3", "-c", SENDS_GARBAGE],
                 timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"^\d+ ibv_", output.read_text(errors="replace"), re.M)


# {verb that the library calls for legacy functions only: the kernel's command for it}
COMMANDS = {
    "ibv_open_xrcd": "OPEN_XRCD", "ibv_close_xrcd": "CLOSE_XRCD",
    "ibv_create_srq_ex": "CREATE_XSRQ", "ib_uverbs_open_qp": "OPEN_QP"
}


def became(document, function):
    """For each call of a legacy function, the verbs that it became and their errors, without
    questions to the device."""
    return [[(verb["function"], verb["error"]) for verb in call["became"]
             if verb["function"] != "ibv_get_device_guid"] for call in calls_of(document, function)]


@pytest.fixture
def trace_on(run, softhca, xrc_compat, tmp_path):
    """trace_on(settings, program...): (the JSON document, [the commands that succeeded in the
    kernel])."""

    def _trace_on(settings, *program):
        output, kernel = tmp_path / "trace.json", tmp_path / "kernel"
        argv = [
            softhca, "run", "--devices=2", f"--trace={kernel}", *settings, "--", xrc_compat,
            "trace", "--json", "--output", output, "--", *program
        ]
        run(argv, timeout=60)
        return json.loads(output.read_text()), re.findall(r" (\w+): ok$", kernel.read_text(), re.M)

    return _trace_on


def test_the_verbs_of_each_call_match_the_commands_of_the_kernel(trace_on, programs):
    document, kernel = trace_on([], programs["cluster"])
    verbs = [
        verb["function"] for call in document["calls"] for verb in call["became"]
        if not verb["error"]
    ]
    assert {verb: verbs.count(verb)
            for verb in COMMANDS} == {verb: kernel.count(COMMANDS[verb]) for verb in COMMANDS}
    created = verbs.count("ibv_create_qp_ex") + verbs.count("ibv_create_qp")
    assert created == kernel.count("CREATE_QP")
    # The creator's handle, and three opened ones.
    assert sorted(became(document, "ibv_unreg_xrc_rcv_qp")) == \
        [[("ib_uverbs_destroy_qp", None)]] * 3 + [[("ibv_destroy_qp", None)]]
    assert became(document, "ibv_reg_xrc_rcv_qp") == [[("ib_uverbs_open_qp", None)]] * 3
    for call in document["calls"]:
        assert 0 < sum(verb["duration_ns"] for verb in call["became"]) <= call["duration_ns"]


def test_an_error_of_the_kernel_is_reported(trace_on, programs):
    document, kernel = trace_on(["--open_qp=off"], programs["contract"], "--mode=contexts",
                                "--only=reg by another opened device is ENOSYS", "no_open_qp")
    assert became(document, "ibv_reg_xrc_rcv_qp") == [[("ib_uverbs_open_qp", "EOPNOTSUPP")]] * 2
    assert all(call["failed"] for call in calls_of(document, "ibv_reg_xrc_rcv_qp"))
    assert "OPEN_QP" not in kernel


def test_a_call_on_a_two_way_qp_becomes_two_calls(trace, programs):
    """The library creates two of today's QPs for each QP of qperf. The program sees one number, and
    each of its calls becomes two."""
    result, document = trace(programs["qperf"], "--poll")
    assert result.returncode == 0, result
    assert all({"ibv_create_qp", "ibv_create_qp_ex"} <= {verb for verb, _ in verbs}
               for verbs in became(document, "ibv_create_qp"))
    for function in ("ibv_modify_qp", "ibv_destroy_qp"):
        for verbs in became(document, function):
            assert verbs.count((function, None)) == 2, (function, verbs)
    numbers = {call["result"].split()[-1] for call in calls_of(document, "ibv_create_qp")}
    assert {
        call["arguments"]["qp"].split("qp_num=")[1].rstrip("}")
        for call in calls_of(document, "ibv_modify_qp")
    } == numbers


def test_calls_on_rc_qps_are_not_listed(trace, programs):
    result, document = trace(programs["data path"])
    assert (result.returncode, document["calls"]) == (0, []), result


def test_srqs_of_the_program_are_seen(trace, programs):
    result, document = trace(programs["contract"], "--mode=contexts",
                             "--only=the limit can be set and read back", "srq")
    assert result.returncode == 0, result
    [armed] = calls_of(document, "ibv_modify_srq")
    assert armed["arguments"]["srq_attr"] == "{srq_limit=3}"
    [queried] = calls_of(document, "ibv_query_srq")
    assert re.fullmatch(r"0, \{max_wr=[1-9]\d*, max_sge=[1-9]\d*, srq_limit=3\}", queried["result"])


@pytest.mark.parametrize("way", ["dlvsym", "dlsym"])
def test_functions_that_were_looked_up_are_seen(trace, programs, way):
    result, document = trace(programs["lookup"], way)
    assert result.returncode == 0, result
    assert {call["function"] for call in document["calls"]} >= {
        "ibv_open_xrc_domain", "ibv_create_xrc_srq", "ibv_create_xrc_rcv_qp", "ibv_create_qp"}
    assert {call["backtrace"][0]["module"] for call in document["calls"]} == {
        str(programs["lookup"])}


REUSES_DESCRIPTORS = """
import ctypes, os, socket
call = ctypes.CDLL("libibverbs.so.1").ibv_unreg_xrc_rcv_qp
call(None, 1)
os.environ.clear()
own, other = socket.socketpair()
for number in set(range(3, 600)) - {own.fileno(), other.fileno()}:
    os.dup2(own.fileno(), number)
call(None, 2)
other.setblocking(False)
try:
    print(len(other.recv(1)), "byte of the trace")
except BlockingIOError:
    print("nothing")
"""


def test_a_program_may_reuse_every_descriptor(trace):
    """The trace goes on, also without the variable, and into none of the program's files."""
    result, document = trace("python3", "-c", REUSES_DESCRIPTORS)
    assert result.stdout == "nothing\n", result
    assert [call["arguments"]["xrc_qp_num"] for call in document["calls"]] == ["0x000001", "0x000002"]


def test_registrations_of_a_killed_program_are_listed(xrc_compat, programs, tmp_path):
    output, domain = tmp_path / "trace.json", tmp_path / "domain"
    held = Holder([xrc_compat, "trace", "--softhca", "--json", "--output", output, "--",
                   programs["hold"], domain, 2], None, domain)
    try:
        wait_for(lambda: "ibv_reg_xrc_rcv_qp" in output.read_text())  # not kept in memory
        held.kill("registrant")
        held.kill("creator")
        assert held.process.wait(20) == 128 + signal.SIGKILL
    finally:
        held.end()
    left = json.loads(output.read_text())["left"]
    creator, registrant = held.pids["creator"], held.pids["registrant"]
    assert sorted((row["what"], row["pid"]) for row in left) == sorted(
        [("domain", creator), ("domain", registrant), *[("registration", creator)] * 2,
         ("registration", registrant)])
    # The compiler may have inlined both functions.
    assert {tuple(frame["symbol"] for frame in row["backtrace"][-2:]) for row in left} == {
        ("creator", "main"), ("registrant", "main")}


def test_the_text_has_a_line_for_each_call_and_a_stack_for_each_place(traced, programs):
    result = traced("--softhca=2", "--", programs["cluster"])
    text = result.stderr
    assert result.returncode == 0 and "ibv_" not in result.stdout and "port to" not in text
    assert re.search(
        r"^\d+ ibv_open_xrc_domain\(context=0x\w+, fd=-?\d+, oflag=O_CREAT\) = 0x\w+ <[\d.]+ [um]s> "
        r"\[ibv_open_xrcd <[\d.]+ [um]s>\] \[site \d+\]$", text, re.M)
    assert "legacy calls, by the place" in text
    assert text.endswith("Nothing was left registered.\n")
    stacks = re.findall(r"^        #0 ", text, re.M)
    assert len(stacks) == len(re.findall(r"^ +\d+ +\d+ +\d+ +[\d.]+  ibv_", text, re.M))


def test_port_to_names_the_function_of_today(traced, programs):
    text = traced("--softhca=2", "--port-to", "--", programs["cluster"]).stderr
    assert text.count("\n      port to: ibv_open_qp(context, attr)") == 1


@pytest.mark.parametrize("status", [7, 127])
def test_a_program_without_legacy_calls_keeps_its_status(traced, status):
    words = ["--", "sh", "-c", f"echo out; echo err >&2; exit {status}"]
    result = traced(*words)
    assert (result.returncode, result.stdout) == (status, "out\n")
    assert result.stderr == "err\n\nThe program made no legacy call.\n"
    result = traced("--json", *words)
    assert result.stdout == "out\n" and result.stderr.startswith("err\n{\n")
    assert json.loads(result.stderr[4:])["exit_status"] == status


@pytest.mark.parametrize("options, is_there", [([], False), ([], True), (["--softhca=1"], True)])
def test_text_and_json_report_a_program_that_does_not_start(traced, tmp_path, options, is_there):
    """The file is missing, or a library of the program."""
    program = tmp_path / "program"
    if is_there:
        library = compile_c(tmp_path / "libgone.so", calls(by="gone"), "-shared", "-fPIC")
        compile_c(program, calls("gone"), library)
        library.unlink()
    result = traced(*options, "--", program)
    assert result.returncode == 127
    why, said = result.stderr.split("\n\n")
    assert str(program) in why
    assert said == "The program did not start: exit status 127. A message on standard error says why.\n"
    said = traced("--json", *options, "--", program).stderr
    document = json.loads(said[said.index("{\n"):])
    assert (document["started"], document["exit_status"], document["calls"]) == (False, 127, [])


@contextlib.contextmanager
def tracing(xrc_compat, *command, **kw):
    """A running `xrc-compat trace`, which is killed in the end if it has not ended."""
    with subprocess.Popen([xrc_compat, "trace", "--", *command], **kw) as tracer:
        try:
            yield tracer
        finally:
            tracer.kill()


@pytest.mark.parametrize("name", ["TERM", "HUP", "USR2"])
def test_a_signal_reaches_the_program(xrc_compat, tmp_path, name):
    ready, number = tmp_path / "ready", getattr(signal, f"SIG{name}")
    script = f"trap 'exit 9' {name}; touch {ready}; i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i+1)); done"
    # sh cannot trap a signal that was ignored when it started, as SIGHUP is under nohup.
    with tracing(xrc_compat, "sh", "-c", script, stderr=subprocess.PIPE,
                 preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as tracer:
        wait_for(ready.exists)
        # The terminal sends the first two to the program itself. SIGPIPE says that the reader of
        # the trace has ended. The command ignores all three.
        for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
            tracer.send_signal(ignored)
        tracer.send_signal(number)
        tracer.communicate(timeout=60)
        assert tracer.returncode == 9


def full_pipe():
    """(read end, write end) of a full pipe."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while os.write(writing, bytes(4096)):
            pass
    except BlockingIOError:
        os.set_blocking(writing, True)
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


def test_a_signal_does_not_truncate_the_trace(xrc_compat, tmp_path):
    """A signal interrupts the command while it writes into a full pipe. The test sends several, so
    that one arrives during the write."""
    note = tmp_path / "pid"
    reader, writer = full_pipe()
    with tracing(xrc_compat, "sh", "-c", 'echo $$ >"$0"', note, stderr=writer) as tracer:
        writer.close()
        pid = wait_for(lambda: note.exists() and note.read_text().strip())
        wait_for(lambda: process_state(pid) == "X")
        for _ in range(20):
            tracer.send_signal(signal.SIGUSR1)
            time.sleep(0.02)
        with reader:
            assert reader.read().endswith(b"\nThe program made no legacy call.\n")
        assert tracer.wait(60) == 0


def switches(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M).group(1))


def test_the_tracer_sleeps_while_the_program_is_idle(xrc_compat, tmp_path):
    ready = tmp_path / "ready"
    with tracing(xrc_compat, "sh", "-c", f"touch {ready}; sleep 3",
                 stderr=subprocess.DEVNULL) as tracer:
        wait_for(ready.exists)
        time.sleep(0.5)
        before = switches(tracer.pid)
        time.sleep(2)
        assert switches(tracer.pid) - before <= 2
        assert tracer.wait(60) == 0


def test_tracing_changes_no_signal_action_of_the_program(run, traced):
    show = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]
    assert traced("--", *show).stdout == run(show).stdout
    assert traced("--", "sh", "-c", "kill -PIPE $$").returncode == 128 + signal.SIGPIPE


def test_the_program_survives_a_killed_tracer(run, xrc_compat, programs, softhca, tmp_path):
    marker = tmp_path / "end"
    script = (
        f'"$0" trace --output {tmp_path}/trace -- sh -c \'touch {tmp_path}/ready; until [ -e {tmp_path}/killed ]; do sleep 0.05; done; '
        f'"$0" >{tmp_path}/said 2>&1; echo $? >{marker}\' "$1" & tracer=$!; '
        f'until [ -e {tmp_path}/ready ]; do sleep 0.05; done; kill -9 $tracer; wait $tracer; touch {tmp_path}/killed; '
        f'until [ -s {marker} ]; do sleep 0.05; done')
    run([softhca, "run", "--devices=2", "--", "sh", "-c", script, xrc_compat, programs["cluster"]],
        timeout=60, env={"TMPDIR": str(tmp_path)})
    assert marker.read_text() == "0\n", (tmp_path / "said").read_text()
    assert "ibv_" not in (tmp_path / "trace").read_text()


def test_no_debugger_attaches_to_a_traced_program(run, traced):
    need("strace")
    said = traced("--", "sh", "-c", "strace -p $$ -o /dev/null & wait").stderr
    assert "Operation not permitted" in said
