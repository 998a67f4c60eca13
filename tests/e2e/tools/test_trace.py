# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat trace` shows every legacy call of every process, changes no result, and lists the
registrations that the program did not end."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from waiting import process_state, wait_for

pytestmark = pytest.mark.any_model

# The functions for which abi/symbols.tab lists arguments.
SYMBOLS = (pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "abi" /
           "symbols.tab").read_text().splitlines()
FUNCTIONS = [
    line.split()[0] for line in SYMBOLS if line.startswith("ibv_") and line.split()[5] != "-"
]


@pytest.fixture
def programs(build_root, helpers):
    return {"cluster": build_root / "demo" / "xrc-cluster",
            "selftest": build_root / "tools" / "selftest" / "xrc-compat-selftest",
            "hold": helpers / "hold-registrations",
            "lookup": build_root / "tests" / "e2e" / "door" / "lookup",
            "dlopen": build_root / "tests" / "legacy" / "clients" / "mvapich2-dlopen",
            "qperf": build_root / "tests" / "legacy" / "clients" / "qperf",
            "show": helpers / "show-start"}


@pytest.fixture
def trace(run, xrc_compat, tmp_path, sanitizer_env):
    """trace(program...): (result, the JSON document)."""

    def _trace(*program, options=("--softhca=2",)):
        output = tmp_path / "trace.json"
        output.unlink(missing_ok=True)
        result = run([xrc_compat, "trace", *options, "--json", "--output", output, "--", *program],
                     timeout=60, env={**sanitizer_env, "TMPDIR": str(tmp_path)})
        return result, json.loads(output.read_text())

    return _trace


def calls_of(document, function):
    return [call for call in document["calls"] if call["function"] == function]


def test_tracing_changes_no_result_of_the_program(trace, programs):
    result, document = trace(programs["selftest"])
    assert (result.returncode, result.stderr) == (0, ""), result
    assert "16 passed, 0 failed" in result.stdout
    assert document["exit_status"] == 0


def test_calls_of_all_but_three_functions_and_of_six_processes_are_seen(trace, programs):
    """The self-test does not call the three. test_srqs_of_the_program_are_seen has two of them."""
    _, document = trace(programs["selftest"])
    assert set(FUNCTIONS) - {call["function"] for call in document["calls"]} == {
        "ibv_query_qp", "ibv_modify_srq", "ibv_query_srq"}
    assert len({call["pid"] for call in calls_of(document, "ibv_open_xrc_domain")}) >= 6


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
    opened = calls_of(document, "ibv_open_xrc_domain")
    assert {(call["arguments"]["oflag"], call["result"].split()[-1]) for call in opened
            if call["failed"]} == {("0", "EAGAIN"), ("O_CREAT", "EBADF"),
                                   ("O_CREAT|O_EXCL", "EINVAL")}
    assert {call["result"] for call in calls_of(document, "ibv_close_xrc_domain")} == {"0", "EBUSY"}
    [init,
     rtr] = [call for call in calls_of(document, "ibv_modify_xrc_rcv_qp") if not call["failed"]]
    assert init["arguments"]["attr"].startswith("{qp_state=INIT, ")
    assert "port_num=1" in init["arguments"]["attr"]
    assert init["arguments"]["attr_mask"] == \
        "IBV_QP_STATE|IBV_QP_ACCESS_FLAGS|IBV_QP_PKEY_INDEX|IBV_QP_PORT"
    assert "ah_attr.dlid=1, ah_attr.sl=0, ah_attr.src_path_bits=0, ah_attr.is_global=0, ah_attr.port_num=1" in (
        rtr["arguments"]["attr"])
    assert "path_mtu=" in rtr["arguments"]["attr"] and "min_rnr_timer=12" in rtr["arguments"]["attr"]
    [created] = calls_of(document, "ibv_create_xrc_rcv_qp")
    number = created["result"].split()[-1]
    assert {call["arguments"]["xrc_qp_num"]
            for call in calls_of(document, "ibv_reg_xrc_rcv_qp")} == {number, "0xfffffe"}
    assert "{qp_state=RTR" in [
        call for call in calls_of(document, "ibv_query_xrc_rcv_qp") if not call["failed"]
    ][0]["result"]
    qp = calls_of(document, "ibv_create_qp")[0]["arguments"]["qp_init_attr"]
    assert calls_of(document, "ibv_create_xrc_srq"
                    )[0]["arguments"]["srq_init_attr"] == "{max_wr=4, max_sge=1, srq_limit=0}"
    assert qp.startswith("{qp_type=IBV_QPT_XRC, ") and "max_send_wr=4, max_send_sge=1" in qp


def test_the_backtrace_goes_through_the_program(trace, programs):
    _, document = trace(programs["cluster"])
    for call in document["calls"]:
        symbols = [frame["symbol"] for frame in call["backtrace"]]
        assert call["duration_ns"] > 0
        assert not any("trace" in frame["module"] or "libc.so" in frame["module"]
                       for frame in call["backtrace"])
        assert symbols[-1] == "main"
        assert call["backtrace"][0]["module"] == str(programs["cluster"])
    lines = {call["backtrace"][0]["line"] for call in calls_of(document, "ibv_create_xrc_rcv_qp")}
    source = "receiver.c"
    assert all(line and line.startswith(source + ":") for line in lines) or lines == {None}


@pytest.mark.skipif(
    subprocess.run(["sh", "-c", "command -v addr2line"], capture_output=True).returncode != 0,
    reason="addr2line is not installed")
def test_the_line_is_that_of_the_call(trace, programs, source_root):
    _, document = trace(programs["hold"], "/nonexistent/file", 1)
    assert document["calls"] == [] and document["exit_status"] == 1
    _, document = trace(programs["cluster"])
    for call in document["calls"]:
        file, number = call["backtrace"][0]["line"].split(":")
        text = (source_root / "demo" / file).read_text().split("\n")
        # Debugging information may give the call the line of any of its arguments.
        near = "\n".join(text[int(number) - 2: int(number) + 1])
        assert call["function"] in near, (call, near)


# {verb that the library calls for legacy functions only: the kernel's command for it}
COMMANDS = {
    "ibv_open_xrcd": "OPEN_XRCD", "ibv_close_xrcd": "CLOSE_XRCD",
    "ibv_create_srq_ex": "CREATE_XSRQ", "ibv_cmd_open_qp": "OPEN_QP"
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
        [[("ibv_cmd_destroy_qp", None)]] * 3 + [[("ibv_destroy_qp", None)]]
    assert became(document, "ibv_reg_xrc_rcv_qp") == [[("ibv_cmd_open_qp", None)]] * 3
    for call in document["calls"]:
        assert 0 < sum(verb["duration_ns"] for verb in call["became"]) <= call["duration_ns"]


def test_an_error_of_the_kernel_is_reported(trace_on, build_root):
    document, kernel = trace_on(
        ["--open_qp=off"], build_root / "tests" / "e2e" / "shim" / "contract", "--mode=contexts",
        "--only=reg by another opened device is ENOSYS", "no_open_qp")
    assert became(document, "ibv_reg_xrc_rcv_qp") == [[("ibv_cmd_open_qp", "EOPNOTSUPP")]] * 2
    assert all(call["failed"]
               for call in calls_of(document, "ibv_reg_xrc_rcv_qp")) and "OPEN_QP" not in kernel


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


def test_calls_on_rc_qps_are_not_listed(trace, build_root):
    result, document = trace(build_root / "softhca" / "tests" / "e2e" / "softhca-data-path")
    assert result.returncode == 0, result
    assert document["calls"] == []


def test_srqs_of_the_program_are_seen(trace, build_root):
    result, document = trace(build_root / "tests" / "e2e" / "shim" / "contract",
                             "--mode=contexts", "--only=the limit can be set and read back", "srq")
    assert result.returncode == 0, result
    [armed] = calls_of(document, "ibv_modify_srq")
    assert armed["arguments"]["srq_attr"] == "{srq_limit=3}"
    [queried] = calls_of(document, "ibv_query_srq")
    assert re.fullmatch(r"0, \{max_wr=[1-9]\d*, max_sge=[1-9]\d*, srq_limit=3\}", queried["result"])


@pytest.mark.parametrize("program, words, more", [
    ("lookup", ["dlvsym"], set()),
    ("lookup", ["dlsym"], set()),
    ("dlopen", [], {"ibv_reg_xrc_rcv_qp"}),
])
def test_functions_that_were_looked_up_are_seen(trace, programs, program, words, more):
    result, document = trace(programs[program], *words)
    assert result.returncode == 0, result
    assert {call["function"] for call in document["calls"]} >= {
        "ibv_open_xrc_domain", "ibv_create_xrc_srq", "ibv_create_xrc_rcv_qp", "ibv_create_qp"
    } | more
    assert all(
        call["backtrace"][0]["module"] == str(programs[program]) for call in document["calls"])


def test_registrations_of_a_killed_program_are_listed(xrc_compat, programs, tmp_path):
    output = tmp_path / "trace.json"
    argv = [
        xrc_compat, "trace", "--softhca", "--json", "--output", output, "--", programs["hold"],
        tmp_path / "domain", 2
    ]
    process = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        said = dict(process.stdout.readline().split()[:2] for _ in range(2))
        for role in ("registrant", "creator"):
            os.kill(int(said[role]), signal.SIGKILL)
        assert process.wait(20) == 128 + signal.SIGKILL
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    left = json.loads(output.read_text())["left"]
    found = sorted((row["what"], row["pid"], row["backtrace"][0]["symbol"]) for row in left)
    creator, registrant = int(said["creator"]), int(said["registrant"])
    assert [row[:2] for row in found if row[0] == "domain"] == sorted([("domain", creator),
                                                                       ("domain", registrant)])
    assert [row[1] for row in found if row[0] == "registration"] == sorted(
        [creator, creator, registrant])
    # Inlining may hide the innermost function, never all of them.
    assert all(any(frame["symbol"] == "main" for frame in row["backtrace"]) for row in left)


def test_the_text_has_a_line_for_each_call_and_a_stack_for_each_place(run, xrc_compat, programs):
    result = run([xrc_compat, "trace", "--softhca=2", "--", programs["cluster"]], timeout=60)
    assert result.returncode == 0 and "ibv_" not in result.stdout
    text = result.stderr
    assert "port to" not in text
    assert re.search(
        r"^\d+ ibv_open_xrc_domain\(context=0x\w+, fd=-?\d+, oflag=O_CREAT\) = 0x\w+ <[\d.]+ [um]s> "
        r"\[ibv_open_xrcd <[\d.]+ [um]s>\] \[site \d+\]$", text, re.M)
    assert "legacy calls, by the place" in text
    assert text.endswith("Nothing was left registered.\n")
    stacks = re.findall(r"^        #0 ", text, re.M)
    assert len(stacks) == len(re.findall(r"^ +\d+ +\d+ +\d+ +[\d.]+  ibv_", text, re.M))


def test_port_to_names_the_function_of_today(run, xrc_compat, programs):
    text = run([xrc_compat, "trace", "--softhca=2", "--port-to", "--", programs["cluster"]],
               timeout=60).stderr
    assert text.count("\n      port to: ibv_open_qp(context, attr)") == 1


def test_a_program_without_legacy_calls_keeps_its_status(run, xrc_compat, programs):
    result = run([xrc_compat, "trace", "--", "sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (result.returncode, result.stdout) == (7, "out\n")
    assert result.stderr == "err\n\nThe program made no legacy call.\n"


@pytest.fixture(params=[
    "no such file", "not executable", "no program", "missing library", "missing library, emulated"
])
def no_start(request, tmp_path):
    """(options, program that cannot be started, its exit status)"""
    program = tmp_path / "program"
    if request.param == "no such file":
        return [], program, 127
    if request.param == "not executable":
        program.write_text("#!/bin/sh\n")
        return [], program, 126
    if request.param == "no program":
        program.write_text("words\n")
        program.chmod(0o755)
        return [], program, 126
    library = tmp_path / "libgone.so"
    for source, *flags in [("int gone(void) { return 0; }", "-shared", "-fPIC", "-o", library),
                           ("int gone(void); int main(void) { return gone(); }", "-o", program,
                            library)]:
        subprocess.run(["cc", "-x", "c", "-", "-x", "none", *flags], input=source, text=True,
                       check=True, timeout=60)
    library.unlink()
    return ["--softhca=1"] if "emulated" in request.param else [], program, 127


def test_text_and_json_report_a_program_that_does_not_start(run, xrc_compat, no_start):
    options, program, status = no_start
    result = run([xrc_compat, "trace", *options, "--", program])
    assert result.returncode == status
    why, said = result.stderr.split("\n\n")
    assert str(program) in why
    assert said == f"The program did not start: exit status {status}. A message on standard error says why.\n"
    said = run([xrc_compat, "trace", "--json", *options, "--", program]).stderr
    document = json.loads(said[said.index("{\n"):])
    assert (document["started"], document["exit_status"], document["calls"]) == (False, status, [])


def test_exit_status_127_of_a_started_program_is_its_own(run, xrc_compat):
    result = run([xrc_compat, "trace", "--", "sh", "-c", "exit 127"])
    assert (result.returncode, result.stderr) == (127, "\nThe program made no legacy call.\n")


def test_only_trace_preloads_the_tracing_library(run, xrc_compat, programs):
    traced = run([xrc_compat, "trace", "--", programs["show"]]).stdout
    assert re.search(r"^preload=\S*/libxrc-trace\.so:\S*/libxrc-compat\.so\.1", traced, re.M)
    assert "libxrc-trace" not in run([xrc_compat, "run", "--", programs["show"]]).stdout


@pytest.mark.parametrize("name", ["TERM", "HUP", "USR1", "USR2"])
def test_a_signal_reaches_the_program(xrc_compat, tmp_path, name):
    ready, number = tmp_path / "ready", getattr(signal, f"SIG{name}")
    script = f"trap 'exit 9' {name}; touch {ready}; i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i+1)); done"
    # sh cannot trap a signal that was ignored when it started, as SIGHUP is under nohup.
    process = subprocess.Popen([str(xrc_compat), "trace", "--", "sh", "-c", script],
                               stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    wait_for(ready.exists)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 9


def test_trace_exits_with_125_if_its_stderr_is_closed(xrc_compat):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as stderr:
        done = subprocess.run([xrc_compat, "trace", "--", "sh", "-c", "echo $XRC_COMPAT_TRACE"],
                              stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=60)
    assert done.returncode == 125 and not os.path.exists(os.path.dirname(done.stdout.strip()))


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
    tracer = subprocess.Popen([xrc_compat, "trace", "--", "sh", "-c", 'echo $$ >"$0"', note],
                              stderr=writer)
    writer.close()
    pid = wait_for(lambda: note.exists() and note.read_text().strip())
    wait_for(lambda: process_state(pid) == "X")
    for _ in range(20):
        tracer.send_signal(signal.SIGUSR1)
        time.sleep(0.02)
    with reader:
        assert reader.read().endswith(b"\nThe program made no legacy call.\n")
    assert tracer.wait(60) == 0


def test_tracing_changes_no_signal_action_of_the_program(run, xrc_compat):
    show = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]
    assert run([xrc_compat, "trace", "--", *show]).stdout == run(show).stdout
    assert run([xrc_compat, "trace", "--", "sh", "-c",
                "kill -PIPE $$"]).returncode == 128 + signal.SIGPIPE


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


@pytest.mark.parametrize(
    "parent", ["/tmp", "/nonexistent", "/proc", "/bin/sh", "/nonexistent" * 20, "relative"])
def test_no_temporary_file_is_left(run, xrc_compat, parent):
    socket = run([xrc_compat, "trace", "--", "sh", "-c", "echo $XRC_COMPAT_TRACE"],
                 env={"TMPDIR": parent}).stdout.strip()
    assert socket.startswith("/tmp/xrc-trace-") and not os.path.exists(os.path.dirname(socket))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_trace_to_a_standard_stream_does_not_overwrite_what_the_program_writes(
        run, xrc_compat, programs, stream, tmp_path):
    script = f'"$0" trace --softhca=2 --output=/dev/{stream} -- sh -c "$1" "$2" >log 2>&1'
    lines = "for i in 1 2 3; do echo begin $i; done; $0; for i in 1 2 3; do echo end $i; done"
    done = run(["sh", "-c", script, xrc_compat, lines, programs["cluster"]], timeout=60,
               cwd=tmp_path)
    text = (tmp_path / "log").read_text()
    assert done.returncode == 0, text
    assert re.findall("^(?:begin|end) [1-3]$", text, re.M) == [
        f"{word} {i}" for word in ("begin", "end") for i in "123"]
    assert re.search(r"ibv_open_xrc_domain\(", text) and "\0" not in text


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_program_is_required(run, xrc_compat, arguments):
    result = run([xrc_compat, "trace", *arguments])
    assert (result.returncode, result.stdout) == (125,
                                                  "") and "usage: xrc-compat trace" in result.stderr


def test_a_file_that_cannot_be_written_is_an_error_before_the_program_runs(run, xrc_compat):
    result = run([xrc_compat, "trace", "--output", "/nonexistent/x", "--", "echo", "ran"])
    assert (result.returncode, result.stdout) == (125, "") and "/nonexistent/x" in result.stderr


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_full_output_file_is_an_error(run, xrc_compat, programs, form):
    result = run([
        xrc_compat, "trace", "--softhca=2", *form, "--output", "/dev/full", "--",
        programs["cluster"]
    ], timeout=60)
    assert result.returncode == 125 and "xrc-compat: cannot write the trace to /dev/full: " in result.stderr


def test_a_full_standard_error_is_an_error(run, xrc_compat):
    result = run(["sh", "-c", '"$0" trace -- true 2>/dev/full', xrc_compat])
    assert result.returncode == 125
