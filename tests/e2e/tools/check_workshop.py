# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes the sample programs of check_samples.py in one directory, which is @ in all texts here."""

import os
import struct
import subprocess

import pytest

OLD_LIBIBVERBS = """
#define F(x) int x(void); int x(void) { return 0; }
F(ibv_open_xrc_domain) F(ibv_create_qp) F(ibv_create_xrc_rcv_qp) F(ibv_create_xsrq)
F(ibv_get_device_list) F(ibv_open_device) F(ibv_cmd_open_xrc_domain)
"""
LOOKING_UP = """#include <dlfcn.h>
int start(void *h); int start(void *h) { return !dlsym(h, "openib_driver_init"); }"""


def calls(*names, by="main"):
    """The source of a function that calls these."""
    body = "".join(f"int {name}(void); " for name in names)
    return f"{body} int {by}(void) {{ return {' + '.join(f'{name}()' for name in names) or '0'}; }}"


ONE_WAY = calls("ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp")
PLUGIN = calls("ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp", by="component")
RUN_TIME = """
#include <dlfcn.h>
int main(void) { void *h = dlopen("libibverbs.so", RTLD_NOW); return !(h && dlsym(h, "ibv_open_xrc_domain") &&
dlsym(h, "ibv_create_xrc_rcv_qp")); }
"""
# The strings of OFED's libibverbs.a, which leaves no symbol in a program.
STATIC_VERBS = """
const char *volatile strings[] = { "%s/class/infiniband_verbs", "libibverbs: Warning: couldn't load driver" };
int main(int c, char **v) { (void)v; return strings[c & 1][0]; }
"""
MVAPICH = ONE_WAY.replace("int main", 'const char *volatile name = "MV2_USE_XRC"; int main')
# It opens what the variable says, and looks the verbs up.
HP_MPI = calls().replace("int main", """
const char *const names[] = { "MPI_ICLIB_IBV__IBV_MAIN", "ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp" };
const char *const *volatile name = names; int main""")
SHELL_SCRIPT = """#!@/sh
# /bin/true
LD_LIBRARY_PATH=/nonexistent:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH
exec "$(dirname "$0")/linked" -licence here "$@"
"""

# The loader does not look into stub/. A program that is linked with a library there needs it only.
STUB = "@/stub/libibverbs.so.1"
NODE = "-Wl,--version-script=@/node.map"
FROM_FOLDER = ["-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"]
# Before glibc 2.34 dlopen() and dlsym() were in a library of their own.
LIBDL = ["-Wl,--as-needed", "-ldl"]

# {file: (source, flags...)}. Each has its name as SONAME.
LIBRARIES = {
    "stub/libibverbs.so.1": (OLD_LIBIBVERBS, NODE),
    "bundle/libibverbs.so.1": (OLD_LIBIBVERBS, NODE),
    # It defines the functions and calls dlsym(), but nothing uses them.
    "looks-up/libibverbs.so.1": (LOOKING_UP + OLD_LIBIBVERBS, NODE),
    "old-development/libibverbs.so": (OLD_LIBIBVERBS, NODE),
    "stub/libversion.so": ("int ibv_versioned(void) { return 0; }", NODE),
    "libversion.so": ("int ibv_versioned(void) { return 0; }", "-Wl,--default-symver"),
    # Of today: each rdma-core has that string.
    "early/libibverbs.so.1": ('const char *today = "IBVERBS_PRIVATE_";' + OLD_LIBIBVERBS,
                              "-Wl,--default-symver"),
    "development/libibverbs.so": ('const char *today = "IBVERBS_PRIVATE_";' + OLD_LIBIBVERBS, NODE),
    "today/libibverbs.so.1": (
        'const char *today = "IBVERBS_PRIVATE_";' + OLD_LIBIBVERBS +
        calls("ibv_versioned", by="ibv_start"), NODE, "@/stub/libversion.so", "-Wl,-rpath,@"),
    "stub/libgone.so": ("int gone(void) { return 0; }",),
    "stub/libgone_0123456.so": ("int gone(void) { return 0; }",),
    "stub/libibumad.so.1": ("int umad_init(void) { return 0; }",),
    "libtransport.so": (calls("ibv_open_xrc_domain", "ibv_create_xrc_rcv_qp", by="transport"),),
    "mca_btl_openib.so": (PLUGIN, STUB),
    "libmlx4-rdmav2.so": (calls("ibv_cmd_open_xrc_domain", by="open_domain"), STUB),
    # Open MPI 1.6: the launcher is linked with libopen-rte only, and loads plugins from the
    # directory that programs load them from.
    "ompi16/libopen-rte.so.4": ("int orte_init(void) { return 0; }",),
    "ompi16/openmpi/mca_btl_openib.so": (PLUGIN, STUB),
    "with blank/libxrc-compat.so.1": ("int ours(void) { return 0; }",),
}


def compile_c(output, source, *flags):
    """Compiles and links @source as @output, with all libraries in @flags. Skips the test if it
    cannot do -static or -m32."""
    output.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", "-o", output, *flags],
        input=source, text=True, capture_output=True, timeout=60)
    if done.returncode and {"-static", "-m32"} & set(flags):
        pytest.skip(f"the compiler cannot do {' '.join(map(str, flags))} here")
    assert done.returncode == 0, done.stderr
    return output


def compile_demo(output, build_root, source_root, *flags):
    """Compiles and links the demo, a program of OFED's time that needs no file of this machine."""
    # cc also compiles an empty source from stdin.
    return compile_c(output, "", "-w", "-O1", "-D_GNU_SOURCE", f"-I{source_root}/include/ofed",
                     f"-I{source_root}", *sorted((source_root / "demo").glob("*.c")),
                     build_root / "abi" / "link" / "libibverbs.so", "-Wl,-z,lazy", *flags)


class Workshop:
    """Makes samples in one directory."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "node.map").write_text("IBVERBS_1.1 { global: ibv_*; };\n")
        for name, (source, *flags) in LIBRARIES.items():
            self.library(name, source, *flags)
        self.program("linked", ONE_WAY, STUB)
        self.program("sh", calls())
        self.program("bundled", ONE_WAY, STUB, "-Wl,-rpath,$ORIGIN/bundle")
        os.mkfifo(folder / "fifo", 0o755)

    def here(self, text):
        return str(text).replace("@", str(self.folder))

    def program(self, name, source, *flags):
        return compile_c(self.folder / name, source, *map(self.here, flags), *LIBDL)

    def library(self, name, source, *flags):
        return self.program(name, source, "-shared", "-fPIC",
                            f"-Wl,-soname,{os.path.basename(name)}", *flags)


# ---- makers of a sample: each takes the workshop and the sample's name ----


def program(source, *flags):
    return lambda w, name: w.program(name, source, *flags)


def named(name):
    """What is there already, or is not there."""
    return lambda w, _: w.here(name)


LINKED = named("@/linked")


def file(text, mode=0o755):
    def make(w, name):
        path = w.folder / name
        path.write_bytes(w.here(text).encode())
        path.chmod(mode)
        return path

    return make


def altered(source, *flags, change=lambda data: data, mode=0o755):
    """A program that is changed after the linker made it."""
    def make(w, name):
        path = w.program(name, source, *flags)
        data = path.read_bytes()
        path.write_bytes(change(data))
        path.chmod(mode)
        return path

    return make


def without_section_headers(data):
    """As sstrip(1) and packers do: e_shoff, e_shnum and e_shstrndx are 0."""
    data = bytearray(data)
    for start, size in ((0x28, 8), (0x3C, 2), (0x3E, 2)) if data[4] == 2 else ((0x20, 4), (0x30, 2),
                                                                               (0x32, 2)):
        data[start:start + size] = bytes(size)
    return data


def first_half(data):
    return data[:len(data) // 2]


def object_file(data):
    return data[:16] + b"\1" + data[17:]


def hostile_name(data):
    """A sequence that clears the screen, a new line, quotes, and bytes that are not UTF-8."""
    return data.replace(b"libgone_0123456.so\0", b"lib\x1b[2J\n\x9b\"\\\xff456.so\0")


def library_is_a_fifo(w, name):
    """The loader would wait for ever when it opens the library."""
    (w.folder / "fifos").mkdir()
    os.mkfifo(w.folder / "fifos" / "libibverbs.so.1")
    return w.program(name, ONE_WAY, STUB)


def big_endian(w, name):
    """The header of a program for ppc64 with one segment, and nothing else."""
    ident = b"\x7fELF" + bytes([2, 2, 1]) + bytes(9)
    header = struct.pack(">HHIQQQIHHHHHH", 2, 21, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack(">IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120, 120, 4096)
    path = w.folder / name
    path.write_bytes(ident + header + segment)
    path.chmod(0o755)
    return path


def class_32(w, name):
    w.library("stub32/libibverbs.so.1", OLD_LIBIBVERBS, "-m32", NODE)
    made = w.program(name, ONE_WAY, "@/stub32/libibverbs.so.1", "-m32", "-Wl,-rpath,$ORIGIN/stub32")
    try:
        subprocess.run([made], capture_output=True, timeout=30, check=False)
    except OSError:
        pytest.skip("this kernel executes no 32-bit programs")
    return made


def with_capabilities(w, name):
    path = w.program(name, ONE_WAY, STUB)
    try:
        # VFS_CAP_REVISION_2, effective; cap_net_bind_service permitted (linux/capability.h).
        os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
    except OSError as error:
        pytest.skip(f"no file capabilities can be given here: {error}")
    return path
