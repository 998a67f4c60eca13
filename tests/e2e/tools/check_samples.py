# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The sample programs of test_check.py: how each is made, how `check` is asked about it, and what
differs in its report from the report on the usual program, USUAL.

In all texts @ is the directory of the samples, and in reports PROGRAM is the program that was asked
about.
"""

import errno
import os

from check_workshop import (FROM_FOLDER, HP_MPI, LINKED, MVAPICH, ONE_WAY, PLUGIN,
                            RUN_TIME, SHELL_SCRIPT, STATIC_VERBS, STUB, altered, big_endian, calls,
                            class_32, file, first_half, hostile_name, library_is_a_fifo,
                            named, object_file, program, with_capabilities,
                            without_section_headers)


def device(name, **different):
    return {"name": name, "driver": "fake", "firmware": "2.42.5000", "opened": True, "error": None,
            "xrc": True, "open_qp": True, **different}


MLX4, QEDR = device("mlx4_0"), device("qedr0", open_qp=False)
RXE = device("rxe0", xrc=False, open_qp=False)
CLOSED = device("mlx5_9", driver=None, firmware=None, opened=False, error="Permission denied",
                xrc=None, open_qp=None)


def both_by(path):
    return [f"ibv_open_xrc_domain, by {path}", f"ibv_create_xrc_rcv_qp, by {path}"]


USUAL = {
    "program": "PROGRAM",
    "interpreter": None,
    "machine": "x86-64",
    "static": False,
    "can_be_preloaded": True,
    "starts_programs": False,
    "starts": None,
    "mpi": False,
    "platform_mpi": None,
    "needs": both_by("PROGRAM"),
    "direction": "one-way",
    "libibverbs": "SYSTEM",
    "old_libibverbs": None,
    "system_libibverbs": "SYSTEM",
    "libraries": [],
    "companions": [],
    "missing": [],
    "missing_for_plugins": [],
    "loader_gives_up": None,
    "devices": [MLX4],
    "verdict": "ready",
    "reason": "it needs the old functions, and libxrc-compat gives them to it",
    "advice": None,
    "next": "xrc-compat run -- PROGRAM",
    "exit_status": 0,
}
TWO_WAY = {"needs": ["ibv_open_xrc_domain, by PROGRAM"], "direction": "two-way"}
ENV = {"mpi": True, "next": "xrc-compat env PROGRAM"}
REPLACED = "it brings an old libibverbs along (%s), which finds no device on today's kernels: run puts the system's in its place"


def bundled(path):
    return {"libibverbs": path, "old_libibverbs": path, "libraries": [f"libibverbs.so.1 => {path}"]}


def ends(verdict, status, reason, advice=None, following=None):
    return {"verdict": verdict, "exit_status": status, "reason": reason, "advice": advice,
            "next": following}


def broken(reason, status=127):
    return ends("broken", status, reason)


def unsupported(reason):
    return ends("unsupported", 5, reason)


BETWEEN_MACHINES = ("use softhca --machines=HOSTFILE, which carries XRC between machines over "
                    "their network, slower than an adapter: softhca(1)")


def no_device(reason, advice=None, following="xrc-compat run --softhca -- PROGRAM"):
    return {"devices": [], **ends("no device", 4, reason, advice, following)}


NOT_READ = {"needs": [], "direction": None, "libibverbs": None, "system_libibverbs": None,
            "can_be_preloaded": False}
NOT_NEEDED = {"needs": [], "direction": None, **ends(
    "not needed", 1, "neither it nor its libraries use the XRC functions of OFED 1.3 to 1.5")}


def no_program(reason, advice=None, status=126):
    return {**NOT_READ, "machine": None, "devices": [],
            **ends("cannot start", status, reason, advice)}


def not_preloadable(reason, advice):
    return {"can_be_preloaded": False, **ends("cannot be preloaded", 125, reason, advice)}


MUSL = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
OF_MUSL = {"libibverbs": None, "system_libibverbs": None, **not_preloadable(
    "PROGRAM: belongs to another C library, whose loader is /lib/ld-musl-x86_64.so.1; libxrc-compat needs glibc",
    "run a build of the program for glibc")}


def starter(program, by, following=None):
    return {
        "starts_programs": True, "starts": following, "needs": [], "direction": None,
        "libibverbs": None, **ends(
            "cannot tell", 3, f"it starts other programs: ask about {program}. Start it with xrc-compat {by}",
            following=f"xrc-compat check {following}" if following else f"xrc-compat {by} PROGRAM")
    }


LAUNCHED = ends(
    "cannot tell", 3, "a launcher starts it on each host: ask about the program, and start the launcher by its line of xrc-compat env",
    following="xrc-compat env")
EARLY = "PROGRAM: @/early/libibverbs.so.1: version `IBVERBS_1.1' not found (required by PROGRAM)"
NO_VERSION = "PROGRAM: @/libversion.so: version `IBVERBS_1.1' not found (required by @/today/libibverbs.so.1)"
OPTIONS = ", with --companions if a library is missing"
WITH_PATH = ", with --system-libibverbs if an old libibverbs is in the LD_LIBRARY_PATH that it sets" + OPTIONS
NO_TEXT = no_program(
    "PROGRAM: is neither an ELF program nor a script with an interpreter in its '#!' line",
    "is it a shell script without a '#!' line? then: xrc-compat run sh PROGRAM")
NO_WHOLE_PROGRAM = no_program(
    "PROGRAM: is an ELF file, but no whole program: it is cut off, damaged, an object file or a core dump",
    "copy it again from where it came from; of a core dump: xrc-compat ps --core FILE")
SETUID = not_preloadable(
    "PROGRAM: is setuid or setgid; the dynamic loader ignores LD_PRELOAD for it",
    "run a copy without the bits: cp PROGRAM copy && chmod ug-s copy")
STATIC = {"static": True, **NOT_READ, **not_preloadable(
    "PROGRAM: is statically linked or packed; no library can be preloaded into it",
    "link it dynamically, as a libibverbs.a of that age finds no device on today's kernels; unpack a copy of a packed program: upx -d")}


class Sample:
    """@ask: the options of check, the devices that are there, and variables."""

    def __init__(self, make, *different, ask=None, **more):
        self.make = make
        self.ask = ask or {}
        self.report = dict(USUAL)
        for members in (*different, more):
            assert set(members) <= set(USUAL)
            self.report.update(members)


SAMPLES = {
    "linked": Sample(LINKED),
    "two_way": Sample(program(calls("ibv_open_xrc_domain", "ibv_create_qp"), STUB), TWO_WAY),
    "without_our_library": Sample(
        LINKED, broken("/nonexistent/libxrc-compat.so.1: No such file or directory", 125), ask={"XRC_COMPAT_LIBRARY": "/nonexistent/libxrc-compat.so.1"}),
    "our_library_in_a_directory_with_a_blank": Sample(
        LINKED, broken("@/with blank/libxrc-compat.so.1: LD_PRELOAD cannot hold a path with a colon, a blank or a '$'", 125),
        ask={"XRC_COMPAT_LIBRARY": "@/with blank/libxrc-compat.so.1"}),
    "our_library_is_a_program": Sample(
        LINKED, broken("PROGRAM: is not a shared library", 125),
        ask={"XRC_COMPAT_LIBRARY": "@/linked"}),

    # ---- devices ----
    "all_devices": Sample(LINKED, devices=[MLX4, QEDR, CLOSED, RXE],
                          ask={"devices": "mlx4_0 qedr0 mlx5_9 rxe0"}),
    "no_device": Sample(LINKED, no_device("there is no RDMA device on this machine"),
                        ask={"devices": ""}),
    "crashing_driver": Sample(
        LINKED, no_device("the devices could not be listed: a driver crashed"),
        ask={"devices": "crash", "options": ["--device=mlx4_0"]}),
    "only_devices_without_xrc": Sample(
        LINKED, no_device("no device on this machine has XRC: rxe0 (fake)", BETWEEN_MACHINES), devices=[RXE],
        ask={"devices": "rxe0"}),
    "wanted_device_without_xrc": Sample(
        LINKED, no_device("device rxe0 was not found or has no XRC"), devices=[MLX4, RXE],
        ask={"devices": "mlx4_0 rxe0", "options": ["--device=rxe0"]}),
    # It may have XRC.
    "wanted_device_that_cannot_be_opened": Sample(
        LINKED, no_device("device mlx5_9 cannot be opened: Permission denied; check the permissions of /dev/infiniband/uverbs*",
                          following="xrc-compat doctor"), devices=[MLX4, CLOSED],
        ask={"devices": "mlx4_0 mlx5_9", "options": ["--device=mlx5_9"]}),
    "device_that_does_not_answer": Sample(
        LINKED, no_device("device mlx5_8 cannot be queried: Input/output error",
                          following="xrc-compat doctor"),
        devices=[{**CLOSED, "name": "mlx5_8", "driver": "fake", "opened": True,
                  "error": "Input/output error"}],
        ask={"devices": "mlx5_8"}),
    "device_that_is_busy": Sample(
        LINKED, no_device("device mlx5_9 cannot be opened: Device or resource busy",
                          following="xrc-compat doctor"),
        devices=[{**CLOSED, "error": "Device or resource busy"}],
        ask={"devices": "mlx5_9", "FAKE_ERRNO": str(errno.EBUSY)}),

    # ---- old and other libraries ----
    "bundled": Sample(
        named("@/bundled"), bundled("@/bundle/libibverbs.so.1"),
        reason=USUAL["reason"] + "; " + REPLACED % "@/bundle/libibverbs.so.1"),
    "bundled_and_no_device": Sample(
        named("@/bundled"),
        no_device("there is no RDMA device on this machine; " +
                  REPLACED % "@/bundle/libibverbs.so.1"), bundled("@/bundle/libibverbs.so.1"),
        ask={"devices": ""}),
    "bundled_but_not_needed": Sample(
        program(calls("ibv_get_device_list"), STUB, "-Wl,-rpath,$ORIGIN/looks-up"),
        bundled("@/looks-up/libibverbs.so.1"), needs=[], direction=None,
        reason="it uses no XRC; " + REPLACED % "@/looks-up/libibverbs.so.1"),
    # The program was linked with the libibumad of OFED 1.3.
    "companions": Sample(
        program(calls("umad_init", "ibv_open_xrc_domain"), STUB, "@/stub/libibumad.so.1"), TWO_WAY,
        companions=["libibumad.so.1"],
        reason=USUAL["reason"] + "; xrc-compat brings along libibumad.so.1"),
    "companions_without_xrc": Sample(
        program(calls("umad_init"), "@/stub/libibumad.so.1"), needs=[], direction=None,
        libibverbs=None, companions=["libibumad.so.1"],
        reason="it uses no XRC; xrc-compat brings along libibumad.so.1"),
    "missing_library": Sample(
        program(calls("ibv_open_xrc_domain", "gone"), STUB, "@/stub/libgone.so"), TWO_WAY,
        broken("the program cannot start: libgone.so is nowhere to be found"),
        missing=["libgone.so"]),
    "another_version": Sample(
        program(calls("ibv_versioned"), "@/stub/libversion.so", "-Wl,-rpath,$ORIGIN"),
        broken("the program cannot start: PROGRAM: @/libversion.so: version `IBVERBS_1.1' not found (required by PROGRAM)"),
        needs=[], direction=None, libibverbs=None,
        libraries=["libversion.so => @/libversion.so"],
        loader_gives_up="PROGRAM: @/libversion.so: version `IBVERBS_1.1' not found (required by PROGRAM)"),
    "another_version_of_libibverbs": Sample(
        program(calls("ibv_open_xrc_domain"), STUB, "-Wl,-rpath,$ORIGIN/early"), TWO_WAY,
        bundled("@/early/libibverbs.so.1"), broken(f"the program cannot start: {EARLY}"),
        old_libibverbs=None, loader_gives_up=EARLY),
    "another_version_for_libibverbs": Sample(
        program(calls("ibv_open_xrc_domain"), STUB, "-Wl,-rpath,$ORIGIN/today"), TWO_WAY,
        bundled("@/today/libibverbs.so.1"), broken(f"the program cannot start: {NO_VERSION}"),
        old_libibverbs=None, loader_gives_up=NO_VERSION,
        libraries=["libibverbs.so.1 => @/today/libibverbs.so.1", "libversion.so => @/libversion.so"]),
    "terminal_sequences": Sample(
        altered(calls("ibv_open_xrc_domain", "gone"), STUB, "@/stub/libgone_0123456.so",
                change=hostile_name), TWO_WAY,
        broken("the program cannot start: \ufffd\"\\\ufffd456.so is nowhere to be found"),
        missing=["\ufffd\"\\\ufffd456.so"]),
    "library_is_a_fifo": Sample(
        library_is_a_fifo,
        broken("the program cannot start: the loader does not return from opening a library"),
        libibverbs=None, system_libibverbs=None,
        loader_gives_up="the loader does not return from opening a library",
        ask={"LD_LIBRARY_PATH": "@/fifos"}),

    # ---- how the functions are bound ----
    # Only the program is linked with libibverbs, so the library asks for no version.
    "through_a_library": Sample(
        program(calls("transport"), "@/libtransport.so", STUB, *FROM_FOLDER),
        needs=both_by("@/libtransport.so"),
        libraries=["libtransport.so => @/libtransport.so"]),
    "run_time": Sample(
        program(RUN_TIME), libibverbs="@/development/libibverbs.so",
        ask={"LD_LIBRARY_PATH": "@/development",
             "XRC_COMPAT_LIBRARY": os.environ["XRC_COMPAT_BUILD_ROOT"] +
             "/shim/libxrc-compat.so.1"}),
    "run_time_with_an_old_one": Sample(
        program(RUN_TIME), bundled("@/old-development/libibverbs.so"), libraries=[],
        companions=["libibverbs.so"],
        reason=USUAL["reason"] + "; xrc-compat brings along libibverbs.so; " +
        REPLACED % "@/old-development/libibverbs.so",
        ask={"LD_LIBRARY_PATH": "@/old-development"}),
    # No start code of the compiler either. Only the relocations of its calls name what it wants.
    "without_section_headers": Sample(
        altered(ONE_WAY, STUB, "-nostartfiles", "-Wl,-e,main", "-Wl,-z,lazy",
                change=without_section_headers)),
    "without_section_headers_by_old_hash": Sample(
        altered(ONE_WAY, STUB, "-Wl,--hash-style=sysv", change=without_section_headers)),

    # ---- other interfaces ----
    "transitional": Sample(
        program(calls("ibv_create_xsrq"), STUB), NOT_NEEDED,
        unsupported(
            "it uses the interface of 2011 to 2014 that was never released (IBV_XRC_OPS); its sources compile for today's libibverbs with the pkg-config package xrc-compat-xsrq")),
    "not_needed": Sample(program(calls("ibv_get_device_list"), STUB), NOT_NEEDED),
    # Bytes outside all segments, as debugging information, do not count.
    "mapped_to_no_process": Sample(
        altered(calls("ibv_get_device_list"), STUB,
                change=lambda data: data + b"\0ibv_open_xrc_domain\0"), NOT_NEEDED),
    # No program "time", although its name begins so.
    "time-step": Sample(program(calls("ibv_get_device_list"), STUB), NOT_NEEDED),
    # An old driver: the functions that drivers call do not count.
    "driver": Sample(
        program(calls("ibv_get_device_list"), STUB), NOT_NEEDED,
        libraries=["@/libmlx4-rdmav2.so => @/libmlx4-rdmav2.so"],
        ask={"options": ["--plugin", "@/libmlx4-rdmav2.so"]}),

    # ---- plugins and MPI ----
    "plugin": Sample(
        program(calls()), needs=both_by("@/mca_btl_openib.so"),
        libraries=["@/mca_btl_openib.so => @/mca_btl_openib.so"],
        ask={"options": ["--plugin", "@/mca_btl_openib.so"]}),
    "plugin_that_is_not_there": Sample(
        LINKED, broken("the plugin @/gone.so cannot be read, or is not a library", 125),
        ask={"options": ["--plugin", "@/gone.so", "--plugin", "@/gone2.so"]}),
    "mpirun": Sample(
        program(calls("orte_init"), "@/ompi16/libopen-rte.so.4", "-Wl,-rpath,$ORIGIN/ompi16"), ENV,
        starts_programs=True, needs=both_by("@/ompi16/openmpi/mca_btl_openib.so"),
        libraries=["libopen-rte.so.4 => @/ompi16/libopen-rte.so.4",
                   "@/ompi16/openmpi/mca_btl_openib.so => @/ompi16/openmpi/mca_btl_openib.so"]),
    # An MPI library was linked into the program, and reads a variable.
    "mvapich": Sample(program(MVAPICH, STUB), ENV),
    "hp_mpi": Sample(
        program(HP_MPI), ENV, platform_mpi="HP-MPI or Platform MPI",
        libibverbs="@/development/libibverbs.so", ask={"LD_LIBRARY_PATH": "@/development"}),

    # ---- programs that start others ----
    "a script": Sample(file("#!@/linked\n"), interpreter="@/linked", starts_programs=True,
                       needs=both_by("@/linked"), next="xrc-compat run -- 'PROGRAM'"),
    # As those that start commercial programs. Its shell is a program of this test, because the
    # shells of distributions differ.
    # It sets LD_LIBRARY_PATH, so a check of what it starts would lead to the wrong command.
    "shell_script": Sample(file(SHELL_SCRIPT), starter("@/linked", "run" + WITH_PATH, "@/linked"),
                           interpreter="@/sh", next="xrc-compat run --system-libibverbs -- PROGRAM"),
    "job_script": Sample(
        file("#!@/sh\ncd scratch\nmpirun -x LD_PRELOAD @/libtransport.so @/linked input\n/bin/rm -f scratch\n"),
        starter("@/linked", "env" + OPTIONS, "@/linked"), interpreter="@/sh", mpi=True),
    # An unknown launcher: only its call of execvp() shows that it starts programs.
    "starts_programs": Sample(program(calls("execvp")),
                              starter("the one that uses InfiniBand", "run"),
                              next="xrc-compat run -- PROGRAM"),
    "pdsh": Sample(program(calls()), starter("the one that uses InfiniBand", "env")),
    "mpispawn": Sample(
        program(calls("execvp")), LAUNCHED, starts_programs=True, needs=[], direction=None,
        libibverbs=None),
    "orted": Sample(program(ONE_WAY, STUB), LAUNCHED),

    # ---- programs into which nothing can be preloaded ----
    "static_with_verbs": Sample(program(STATIC_VERBS, "-static"), STATIC),
    "static_class_32": Sample(program(STATIC_VERBS, "-static", "-m32"), STATIC, machine="i386"),
    "libibverbs_a_inside": Sample(
        program(STATIC_VERBS), NOT_NEEDED,
        unsupported("a libibverbs.a is linked into it, which finds no device on today's kernels, and in whose place no library can be put; link it with libibverbs.so.1"),
        libibverbs=None),
    "setuid": Sample(altered(ONE_WAY, STUB, mode=0o4755), SETUID),
    "sudo": Sample(
        altered(calls("execvp"), mode=0o4755), SETUID, starts_programs=True, needs=[],
        direction=None, libibverbs=None,
        advice="put the command behind it, as in: su USER -c 'xrc-compat run PROGRAM', or: sudo xrc-compat run PROGRAM"),
    "of_musl": Sample(program(ONE_WAY, STUB, MUSL), OF_MUSL),
    "of_musl_without_xrc": Sample(
        program(calls("ibv_get_device_list"), STUB, MUSL), OF_MUSL, needs=[], direction=None),
    "setgid_without_its_library": Sample(
        altered(calls("ibv_open_xrc_domain", "gone"), STUB, "@/stub/libgone.so", mode=0o2755),
        TWO_WAY, SETUID, missing=["libgone.so"]),
    "file_capabilities": Sample(
        with_capabilities,
        not_preloadable("PROGRAM: has file capabilities; the dynamic loader ignores LD_PRELOAD for it", "run a copy: cp does not keep file capabilities")),
    "class_32": Sample(
        class_32, bundled("@/stub32/libibverbs.so.1"),
        not_preloadable("PROGRAM: is a 32-bit i386 program, but this libxrc-compat is 64-bit x86-64",
                        "install libxrc-compat for that machine beside this one (docs/32-bit.md), or name it in XRC_COMPAT_LIBRARY"), machine="i386",
        system_libibverbs=None),

    # ---- programs that cannot start ----
    "no_loader": Sample(
        program(ONE_WAY, STUB, "-Wl,--dynamic-linker=/nonexistent/ld.so"),
        ends("cannot start", 127, "PROGRAM: its dynamic loader /nonexistent/ld.so was not found",
             "install the C library of that class (on Debian libc6:i386 for 32-bit programs)"),
        can_be_preloaded=False),
    "big_endian": Sample(
        big_endian, no_program("PROGRAM: is a 64-bit program for ppc64, big-endian, and this machine is x86_64"), machine="ppc64, big-endian", static=True,
        devices=[MLX4]),
    # Not executable, as distributions install libraries.
    "library": Sample(
        altered(PLUGIN, STUB, "-shared", "-fPIC", mode=0o644),
        ends("cannot start", 126, "PROGRAM: is a shared library or plugin, not a program",
             "ask about the program that loads it: xrc-compat check --plugin FILE PROGRAM"),
        can_be_preloaded=False),
    "cut_off": Sample(altered(ONE_WAY, STUB, change=first_half), NO_WHOLE_PROGRAM),
    "object_file": Sample(altered(ONE_WAY, STUB, change=object_file), NO_WHOLE_PROGRAM),
    "text": Sample(file("words\n"), NO_TEXT),
    "empty_interpreter": Sample(file("#! \t\n"), NO_TEXT),
    "interpreter_too_long_for_the_kernel": Sample(file("#!/" + 300 * "x" + "\n"), NO_TEXT),
    "script_of_itself": Sample(file("#!@/script_of_itself\n"),
                               no_program("PROGRAM: the kernel follows no more than 5 '#!' lines")),
    "without_interpreter": Sample(
        file("#!/nonexistent/sh\n"),
        no_program("PROGRAM: its interpreter /nonexistent/sh was not found", status=127),
        interpreter="/nonexistent/sh"),
    "carriage_return": Sample(
        file("#!/bin/sh\r\necho\r\n"),
        no_program("PROGRAM: its '#!' line ends with a carriage return, as in text files of Windows; sed -i 's/\\r$//' removes them", status=127),
        interpreter="/bin/sh\r"),
    "fifo": Sample(named("@/fifo"), no_program("PROGRAM: is not a regular file")),
    "script_of_a_fifo": Sample(file("#!@/fifo\n"), no_program("@/fifo: is not a regular file"),
                               interpreter="@/fifo"),
    "directory": Sample(named("@/bundle"), no_program("PROGRAM: is a directory, not a program")),
    "not_executable": Sample(
        file("#!/bin/sh\n", mode=0o644),
        no_program("PROGRAM: is there, but may not be executed; chmod +x, if it is a program")),
    "not_found": Sample(named("./no-such-program"),
                        no_program("PROGRAM: no such program", status=127)),
    "not_on_path": Sample(named("no-such-program"),
                          no_program("PROGRAM: no such program on PATH", status=127)),
    "here_but_not_on_path": Sample(
        named("linked"),
        no_program("PROGRAM: no such program on PATH; the file here is ./PROGRAM", status=127)),
}
