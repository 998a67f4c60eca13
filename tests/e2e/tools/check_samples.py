# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The sample programs of test_check.py: each case_* function makes one, and says how `check` is
asked about it.

It returns the program and {setting: value}: options of check, devices, variables of its
environment.
"""

import os
import pathlib
import shutil
import struct

from compiling import compile_c

OLD_LIBIBVERBS = """
#define F(x) int x(void); int x(void) { return 0; }
F(ibv_open_xrc_domain) F(ibv_close_xrc_domain) F(ibv_create_xrc_srq) F(ibv_create_qp)
F(ibv_create_xrc_rcv_qp) F(ibv_reg_xrc_rcv_qp) F(ibv_exp_query_device) F(ibv_rate_to_mbps) F(ibv_create_xsrq) F(ibv_get_device_list)
F(ibv_open_device) F(ibv_cmd_open_xrc_domain) F(ibv_reset_xrc_rcv_qp)
"""
NODE = "IBVERBS_1.1 { global: ibv_*; };\n"


def calls(*names, more=""):
    body = "".join(f"int {name}(void); " for name in names)
    return f"{body}{more} int main(void) {{ return {' + '.join(f'{name}()' for name in names) or '0'}; }}"


ONE_WAY = calls("ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp")
PLUGIN = ONE_WAY.replace("int main", "int component")
RUN_TIME = """
#include <dlfcn.h>
int main(void) { void *h = dlopen("libibverbs.so", RTLD_NOW); return !(h && dlsym(h, "ibv_open_xrc_domain") &&
dlsym(h, "ibv_create_xrc_rcv_qp")); }
"""
STATIC_VERBS = """
const char *volatile strings[] = { "%s/class/infiniband_verbs", "libibverbs: Warning: couldn't load driver" };
int main(int c, char **v) { (void)v; return strings[c & 1][0]; }
"""


# Before glibc 2.34 dlopen() and dlsym() were in a library of their own.
LIBDL = ["-Wl,--as-needed", "-ldl"]


class Workshop:
    """Makes samples in one folder. stub/ has an old libibverbs to link with, where the loader does
    not look for it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "stub").mkdir()
        (folder / "node.map").write_text(NODE)
        self.library("stub/libibverbs.so.1", OLD_LIBIBVERBS, "-Wl,-soname,libibverbs.so.1",
                     f"-Wl,--version-script={folder}/node.map")
        self.stub = str(folder / "stub" / "libibverbs.so.1")

    def program(self, name, source, *flags):
        return compile_c(self.folder / name, source, *flags, *LIBDL)

    def library(self, name, source, *flags):
        return self.program(name, source, "-shared", "-fPIC", *flags)

    def linked(self):
        return self.program("linked", ONE_WAY, self.stub)

    def bundle(self):
        """bundle/ has an old libibverbs for the loader to find."""
        (self.folder / "bundle").mkdir(exist_ok=True)
        shutil.copy(self.stub, self.folder / "bundle")

    def fifo(self, name):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            os.mkfifo(path, 0o700)
        return path

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path


def case_two_way(w):
    """The program also calls a function that libibverbs still has."""
    return w.program("two-way", calls("ibv_open_xrc_domain", "ibv_create_qp"), w.stub), {}


def case_bundled_rpath(w):
    w.bundle()
    return w.program("bundled-rpath", ONE_WAY, w.stub, "-Wl,--disable-new-dtags",
                     "-Wl,-rpath,$ORIGIN/bundle"), {}


def case_bundled_runpath(w):
    w.bundle()
    return w.program("bundled-runpath", ONE_WAY, w.stub, "-Wl,--enable-new-dtags",
                     "-Wl,-rpath,${ORIGIN}/bundle"), {}


def case_ld_library_path(w):
    w.bundle()
    return w.program("by-environment", ONE_WAY,
                     w.stub), {"LD_LIBRARY_PATH": f"/nonexistent:{w.folder}/bundle"}


def case_through_a_library(w):
    """Only the program is linked with libibverbs, so the library asks for no version of the
    functions."""
    library = w.library("libtransport.so", ONE_WAY.replace("int main", "int transport"),
                        "-Wl,-soname,libtransport.so")
    return w.program("through-library", calls("transport"), str(library), w.stub,
                     "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"), {}


def case_plugin(w):
    plugin = w.library("mca_btl_openib.so", PLUGIN, w.stub)
    return w.program("with-plugin", calls()), {"options": ["--plugin", plugin]}


def case_plugin_that_is_not_there(w):
    return w.program("with-plugin", calls()), {"options": ["--plugin", w.folder / "gone.so"]}


def case_plugin_that_is_a_program(w):
    program = w.program("with-plugin", calls())
    return program, {"options": ["--plugin", program]}


def case_mpi_plugins(w):
    (w.folder / "mpi" / "openmpi").mkdir(parents=True, exist_ok=True)
    library = w.library("mpi/libmpi.so.0", "int MPI_Init(void) { return 0; }",
                        "-Wl,-soname,libmpi.so.0")
    w.library("mpi/openmpi/mca_btl_openib.so", PLUGIN, w.stub)
    return w.program("mpi-program", calls("MPI_Init"), str(library), "-Wl,-rpath,$ORIGIN/mpi"), {}


def case_mpirun(w):
    """Open MPI 1.6: the launcher is linked with libopen-rte only, and loads plugins from the folder
    that programs load them from."""
    (w.folder / "ompi16" / "openmpi").mkdir(parents=True, exist_ok=True)
    library = w.library("ompi16/libopen-rte.so.4", "int orte_init(void) { return 0; }",
                        "-Wl,-soname,libopen-rte.so.4")
    w.library("ompi16/openmpi/mca_btl_openib.so", PLUGIN, w.stub)
    return w.program("mpirun", calls("orte_init"), str(library), "-Wl,-rpath,$ORIGIN/ompi16"), {}


def case_library(w):
    """The launcher is the file that users of Open MPI may ask about first."""
    return w.library("mca_btl_openib_alone.so", PLUGIN, w.stub), {}


def case_library_with_a_soname(w):
    """Not executable, as distributions install libraries."""
    plugin = w.library("mca_btl_libtool.so", PLUGIN, w.stub, "-Wl,-soname,mca_btl_libtool.so")
    plugin.chmod(0o644)
    return plugin, {}


def case_no_loader(w):
    return w.program("no-loader", ONE_WAY, w.stub, "-Wl,--dynamic-linker=/nonexistent/ld.so"), {}


def case_library_is_a_fifo(w):
    """The library is a FIFO: the loader would wait for ever when it opens it, `check` must not."""
    w.fifo("fifos/libibverbs.so.1")
    return w.program("fifo", ONE_WAY, w.stub), {"LD_LIBRARY_PATH": f"{w.folder}/fifos"}


def case_fifo(w):
    w.fifo("a-fifo")
    return "./a-fifo", {}


def case_script_of_a_fifo(w):
    return w.script("fifo-script", f"#!{w.fifo('b-fifo')}\n"), {}


def case_not_on_path(w):
    return "no-such-program", {}


def case_terminal_sequences(w):
    """A library's name has a sequence that clears the screen, a new line, quotes, and bytes that
    are not UTF-8."""
    library = w.library("libgone_0123456.so", "int gone(void) { return 0; }",
                        "-Wl,-soname,libgone_0123456.so")
    program = w.program("sequences", calls("ibv_open_xrc_domain", "gone"), w.stub, str(library))
    program.write_bytes(program.read_bytes().replace(b"libgone_0123456.so\0",
                                                     b"lib\x1b[2J\n\x9b\"\\\xff456.so\0"))
    return program, {}


def case_run_time(w):
    library = pathlib.Path(os.environ["XRC_COMPAT_BUILD_ROOT"]) / "shim" / "libxrc-compat.so.1"
    return w.program("run-time", RUN_TIME), {"XRC_COMPAT_LIBRARY": str(library)}


def case_mlnx(w):
    return w.program("mlnx",
                     calls("ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp", "ibv_exp_query_device"),
                     w.stub), {}


def case_a_name_like_theirs(w):
    """No library ever had this function."""
    return w.program("like-theirs",
                     calls("ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp", "ibv_reset_xrc_rcv_qp"),
                     w.stub), {}


def case_mlnx_by_its_headers(w):
    """OFED had all functions of the program, but the debugging information names ofa_verbs.h. Only
    MLNX_OFED's verbs.h included that header."""
    (w.folder / "ofa_verbs.h").write_text("struct of_ofa_verbs { int member; };\n")
    source = '#include "ofa_verbs.h"\nstruct of_ofa_verbs object;\n' + ONE_WAY
    return w.program("mlnx-headers", source, "-gdwarf-4", f"-I{w.folder}", w.stub), {}


def case_mlnx_if_it_is_there(w):
    """A program does not need a weak import: where the function is missing, its address is 0."""
    source = ONE_WAY.replace(
        " int main(void) { return", " int ibv_exp_query_device(void) __attribute__((weak)); "
        "int main(void) { return (ibv_exp_query_device ? ibv_exp_query_device() : 0) +")
    return w.program("mlnx-weak", source, w.stub), {}


def case_driver(w):
    """An old driver in a program that uses nothing old: the functions that drivers call do not
    count."""
    driver = w.library("libmlx4-rdmav2.so",
                       calls("ibv_cmd_open_xrc_domain").replace("int main", "int open_domain"),
                       w.stub)
    return w.program("with-driver", calls("ibv_get_device_list"),
                     w.stub), {"options": ["--plugin", driver]}


def case_not_needed_but_bundled(w):
    """The program brings an old libibverbs, which defines the functions and calls dlsym(). But
    nothing uses them."""
    (w.folder / "looks-up").mkdir(exist_ok=True)
    source = "#include <dlfcn.h>\n" + OLD_LIBIBVERBS + "int start(void *h); int start(void *h) { return !dlsym(h, \"openib_driver_init\"); }"
    w.library("looks-up/libibverbs.so.1", source, "-Wl,-soname,libibverbs.so.1",
              f"-Wl,--version-script={w.folder}/node.map")
    return w.program("bundled-unused", calls("ibv_get_device_list"), w.stub,
                     "-Wl,-rpath,$ORIGIN/looks-up"), {}


def case_transitional(w):
    return w.program("transitional", calls("ibv_create_xsrq"), w.stub), {}


def case_not_needed(w):
    return w.program("not-needed", calls("ibv_get_device_list"), w.stub), {}


def case_missing_library(w):
    library = w.library("libgone.so", "int gone(void) { return 0; }", "-Wl,-soname,libgone.so")
    program = w.program("missing-library", calls("ibv_open_xrc_domain", "gone"), w.stub,
                        str(library))
    library.unlink()
    return program, {}


def case_static_with_verbs(w):
    return w.program("static-verbs", STATIC_VERBS, "-static"), {}


def case_libibverbs_a_inside(w):
    """The program is dynamic, but linked with OFED's libibverbs.a. No symbol of that library is
    left."""
    return w.program("verbs-inside", STATIC_VERBS), {}


def case_static_without_verbs(w):
    return w.program("static", calls(), "-static"), {}


def without_section_headers(program):
    """As sstrip(1) and packers do: e_shoff, e_shnum and e_shstrndx are 0."""
    data = bytearray(program.read_bytes())
    for start, size in ((0x28, 8), (0x3C, 2), (0x3E, 2)) if data[4] == 2 else ((0x20, 4), (0x30, 2),
                                                                               (0x32, 2)):
        data[start:start + size] = bytes(size)
    program.write_bytes(data)
    return program


def case_without_section_headers(w):
    """The program has no start code of the compiler either. Only the relocations of its calls name
    what it wants."""
    return without_section_headers(
        w.program("sstripped", ONE_WAY, w.stub, "-nostartfiles", "-Wl,-e,main", "-Wl,-z,lazy")), {}


def case_without_section_headers_by_old_hash(w):
    return without_section_headers(
        w.program("sstripped-sysv", ONE_WAY, w.stub, "-Wl,--hash-style=sysv")), {}


def case_without_section_headers_not_needed(w):
    return without_section_headers(
        w.program("sstripped-not-needed", calls("ibv_get_device_list"), w.stub)), {}


def case_packed(w):
    return without_section_headers(w.program("packed", calls(), "-static")), {}


def case_setuid(w):
    program = w.program("setuid", ONE_WAY, w.stub)
    program.chmod(0o4755)
    return program, {}


def case_class_32(w):
    (w.folder / "stub32").mkdir(exist_ok=True)
    library = w.library("stub32/libibverbs.so.1", OLD_LIBIBVERBS, "-m32",
                        "-Wl,-soname,libibverbs.so.1", f"-Wl,--version-script={w.folder}/node.map")
    return w.program("class-32", ONE_WAY, str(library), "-m32", "-Wl,-rpath,$ORIGIN/stub32"), {}


def case_shell_script(w):
    """A script like those that start commercial programs. Its shell is a program of this test,
    because the shells of distributions differ."""
    w.linked()
    return w.script("wrapper", f"""#!{w.program('sh', calls())}
# /bin/true
LD_LIBRARY_PATH=/nonexistent:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH
exec "$(dirname "$0")/linked" -licence here "$@"
"""), {}


def case_shell_script_without_exec(w):
    """The script does more after the program has ended."""
    w.linked()
    return w.script(
        "cleaning",
        f"#!{w.program('sh', calls())}\n{w.folder}/linked \"$@\"\n/bin/rm -f scratch\n"), {}


def case_job_script(w):
    w.linked()
    return w.script(
        "job",
        f"#!{w.program('sh', calls())}\ncd scratch\nmpirun -np 4 {w.folder}/linked input\n"), {}


def case_python_script(w):
    """A Python program may open libibverbs itself, with ctypes."""
    return w.script("solver.py", f"#!{w.program('python3.11', calls())}\nimport ctypes\n"), {}


def case_launcher(w):
    return w.program("mpirun_rsh", calls()), {}


def case_starts_programs(w):
    """An unknown launcher: only its call of execvp() shows that it starts programs."""
    return w.program("start-solver", calls("execvp")), {}


def foreign(w, name, order, machine):
    """The header of a program with one segment, and nothing else."""
    ident = b"\x7fELF" + bytes([2, 1 if order == "<" else 2, 1]) + bytes(9)
    header = struct.pack(order + "HHIQQQIHHHHHH", 2, machine, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64,
                         0, 0)
    segment = struct.pack(order + "IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120, 120, 4096)
    path = w.folder / name
    path.write_bytes(ident + header + segment)
    path.chmod(0o755)
    return path


def case_aarch64(w):
    return foreign(w, "of-aarch64", "<", 183), {}


def case_big_endian(w):
    return foreign(w, "of-ppc64", ">", 21), {}


def case_mvapich(w):
    """An MPI library was linked into the program, and reads this variable."""
    source = ONE_WAY.replace("int main", 'const char *volatile name = "MV2_USE_XRC"; int main')
    return w.program("mvapich2-job", source, w.stub), {}


def case_companions(w):
    """The program was linked with the libibumad of OFED 1.3."""
    (w.folder / "old").mkdir(exist_ok=True)
    library = w.library("old/libibumad.so.1", "int umad_init(void) { return 0; }",
                        "-Wl,-soname,libibumad.so.1")
    return w.program("with-umad", calls("umad_init", "ibv_open_xrc_domain"), w.stub,
                     str(library)), {}


def case_companions_without_xrc(w):
    case_companions(w)
    return w.program("only-umad", calls("umad_init"), str(w.folder / "old" / "libibumad.so.1")), {}


def case_bundled_and_no_device(w):
    return case_bundled_rpath(w)[0], {"devices": ""}


def case_script(w):
    return w.script("a script", f"#!{w.program('behind-script', ONE_WAY, w.stub)}\n"), {}


def case_our_library_in_a_folder_with_a_blank(w):
    (w.folder / "with blank").mkdir(exist_ok=True)
    library = w.library("with blank/libxrc-compat.so.1", "int ours(void) { return 0; }")
    return w.linked(), {"XRC_COMPAT_LIBRARY": str(library)}


def case_our_library_is_a_program(w):
    program = w.linked()
    return program, {"XRC_COMPAT_LIBRARY": str(program)}


def case_not_found(w):
    return "./no-such-program", {}


def case_no_program(w):
    return w.script("text", "words\n"), {}


def case_cut_off(w):
    program = w.program("cut-off", ONE_WAY, w.stub)
    data = program.read_bytes()
    program.write_bytes(data[:len(data) // 2])
    return program, {}


def case_setuid_without_its_library(w):
    """`run` refuses it for the setuid bit, before the loader can miss the library."""
    program = shutil.copy(case_missing_library(w)[0], w.folder / "setuid-missing")
    program.chmod(0o4755)
    return program, {}


# {case: how `check` is asked about the usual program}
USUAL_PROGRAM = {
    "linked": {},
    "no_device": {"devices": ""},
    "only_devices_without_xrc": {"devices": "rxe0"},
    # A device that cannot be opened may have XRC.
    "device_that_cannot_be_opened": {"devices": "rxe0 mlx5_9"},
    "wanted_device_that_cannot_be_opened": {"devices": "mlx4_0 mlx5_9",
                                            "options": ["--device=mlx5_9"]},
    "all_devices": {"devices": "mlx4_0 qedr0 rxe0 mlx5_9"},
    "wanted_device": {"devices": "mlx4_0 qedr0", "options": ["--device", "qedr0"]},
    "wanted_device_without_xrc": {"devices": "mlx4_0 rxe0", "options": ["--device=rxe0"]},
    "crashing_driver": {"devices": "crash"},
    "without_our_library": {"XRC_COMPAT_LIBRARY": "/nonexistent/libxrc-compat.so.1"},
}


def usual(name, settings):
    def case(w):
        return w.linked(), dict(settings)

    case.__name__ = f"case_{name}"
    return case


CASES = [value for name, value in sorted(globals().items()) if name.startswith("case_")]
CASES += [usual(name, settings) for name, settings in USUAL_PROGRAM.items()]
