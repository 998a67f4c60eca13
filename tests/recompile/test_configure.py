# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The configure checks of the old clients find the API of OFED 1.5 with the installed headers and
-libverbs, and not the XRC API of today.

Each configure check is the program that autoconf made of the client's macro. With the system's own
libibverbs each check for the old API fails.
"""

import os

import pytest

from toolchain import compiler

pytestmark = pytest.mark.any_model

VERBS = "#include <infiniband/verbs.h>\n"
RDMACM = "#include <rdma/rdma_cma.h>\n"
DRIVER = "#include <infiniband/driver.h>\n"

# AC_CHECK_FUNCS and AC_CHECK_LIB: no header, a prototype that fits nothing, linked.
FUNCTION = "char {0}();\nint main(void)\n{{\n\treturn {0}();\n}}\n"
# AC_CHECK_DECLS: passes if the name is a macro or an expression. Compiles, does not link.
DECLARED = "int main(void)\n{{\n#ifndef {0}\n\t(void) {0};\n#endif\n\treturn 0;\n}}\n"
MEMBER = "int main(void)\n{{\n\tstatic struct {0} probe;\n\tif (probe.{1})\n\t\treturn 1;\n\treturn 0;\n}}\n"
# Of programs without configure.
CALLS = RDMACM + """int main(void)
{
	return rdma_create_event_channel() && ibv_open_xrc_domain(0, 0, 0);
}
"""


class Configure:
    """The checks of a configure script that was given these flags."""

    def __init__(self, folder, cppflags=(), ldflags=()):
        self.folder, self.cppflags, self.ldflags = folder, cppflags, ldflags

    def links(self, text, *options):
        source = self.folder / "conftest.c"
        source.write_text(text)
        # autoconf's order: what comes in LDFLAGS stands before the source that needs it.
        return compiler("c", "-w", "-Wno-error", "-std=gnu89", "-o", self.folder / "conftest",
                        *self.cppflags, *self.ldflags, source, *(options or ["-libverbs"]))[0]

    def function(self, name, *libraries):
        return self.links(FUNCTION.format(name), *libraries)

    def declared(self, name, headers=VERBS):
        return self.links(headers + DECLARED.format(name), "-c")

    def member(self, struct, name):
        return self.links(VERBS + MEMBER.format(struct, name), "-c")


def open_mpi_13(configure):
    """1.3 to 1.8.4: configure links with AC_CHECK_FUNCS, and does not read the header."""
    return configure.function("ibv_create_xrc_rcv_qp")


def open_mpi_187(configure):
    """1.8.7, 1.10, 2.x: configure takes the old API if driver.h declares it and it links, unless
    today's passes, too."""
    legacy = (configure.declared("IBV_DEVICE_XRC") and
              configure.declared("ibv_create_xrc_rcv_qp", DRIVER) and
              configure.function("ibv_create_xrc_rcv_qp"))
    modern = (configure.declared("ibv_cmd_open_xrcd", DRIVER) and configure.declared("IBV_SRQT_XRC")
              and configure.function("ibv_cmd_open_xrcd"))
    return legacy and not modern


def open_mpi_rdmacm(configure):
    """1.3 to 1.8: configure looks for rdma_create_id in librdmacm. If it does not link, configure
    leaves out the rdmacm connection manager and prints no error."""
    return configure.function("rdma_create_id", "-lrdmacm",
                              "-libverbs") and configure.function("ibv_create_xrc_rcv_qp")


def mvapich2_235(configure):
    """2.3.5 and later: configure reads only the header, as the program opens the library itself."""
    return configure.declared("IBV_QPT_XRC")


def gasnet(configure):
    """configure takes today's API if it links, and does not read the header. MVAPICH2 1.8 to 2.3.4
    and qperf look for the same function."""
    return configure.function("ibv_open_xrc_domain") and not configure.function("ibv_cmd_open_xrcd")


def rdma_bw(configure):
    """No configure: its Makefile links both libraries. The script of MVAPICH 1 links libibverbs."""
    return configure.links(CALLS, "-libverbs", "-lrdmacm")


CLIENTS = [open_mpi_13, open_mpi_187, open_mpi_rdmacm, mvapich2_235, gasnet, rdma_bw]


def from_pkg_config(tree):
    """Only paths. The configure script itself adds -libverbs."""
    return tree.pkg_config("--cflags", "xrc-compat"), tree.pkg_config("--libs-only-L", "xrc-compat")


def from_alone(tree):
    return tree.pkg_config("--cflags", "xrc-compat"), tree.pkg_config("--libs", "xrc-compat-alone")


def from_ofed_home(tree):
    """As --with-openib=DIR, VAPI_HOME and IBHOME make of one directory."""
    home = tree.pkg_config("--variable=ofedhome", "xrc-compat")[0]
    return [f"-I{home}/include"], [f"-L{home}/lib64"]


def from_two_folders(tree):
    """As --with-ib-include and --with-ib-libpath, or IBHOME_LIB."""
    include, lib = (tree.pkg_config(f"--variable={name}", "xrc-compat")[0]
                    for name in ("ofedincludedir", "linkdir"))
    return [f"-I{include}"], [f"-L{lib}"]


@pytest.fixture(params=[from_pkg_config, from_alone, from_ofed_home, from_two_folders],
                ids=lambda how: how.__name__)
def configure(request, installed, tmp_path):
    return Configure(tmp_path, *request.param(installed))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_client_finds_the_old_api_and_none_on_the_system(client, installed, tmp_path):
    assert client(Configure(tmp_path, *from_pkg_config(installed)))
    assert not client(Configure(tmp_path))


def test_clients_find_the_old_api_by_every_way(configure):
    """These two clients have all kinds of checks that the others have: a declaration, functions of
    both libraries, and that today's functions are missing."""
    assert open_mpi_187(configure) and rdma_bw(configure)


def test_system_offers_todays_api(tmp_path):
    """The tests above do not fail for a broken compiler, a missing header or library."""
    system = Configure(tmp_path)
    assert system.function("ibv_open_device") and system.declared("IBV_SRQT_XRC")
    assert system.function("rdma_create_id", "-lrdmacm", "-libverbs")
    assert system.declared("rdma_create_event_channel", RDMACM)


def test_members_that_the_clients_compile_against(configure):
    """Open MPI of RHEL 6.5 did not compile: the library had the functions, but the header lacked
    the members."""
    for struct, member in [("ibv_srq", "xrc_srq_num"), ("ibv_qp_init_attr", "xrc_domain"),
                           ("ibv_send_wr", "xrc_remote_srq_num"),
                           ("ibv_async_event", "element.xrc_qp_num"),
                           ("ibv_xrc_domain", "context")]:
        assert configure.member(struct, member), f"struct {struct} has no {member}"


def test_nothing_of_drivers_or_of_today_links(configure):
    for name in ("ibv_cmd_open_xrcd", "ibv_cmd_create_qp", "ibv_register_driver",
                 "ibv_reg_mr_iova2"):
        assert not configure.function(
            name), f"{name} was not in an application's libibverbs of OFED 1.5"


def test_link_directory_cannot_be_loaded_from(installed, tmp_path, run):
    """CMake and LD_RUN_PATH turn link paths into run paths. Even so the program gets the real
    library."""
    linkdir = installed.pkg_config("--variable=linkdir", "xrc-compat")[0]
    assert sorted(os.listdir(linkdir)) == ["libibverbs.so", "librdmacm.so", "libxrc-compat.so"]
    configure = Configure(tmp_path, installed.pkg_config("--cflags", "xrc-compat"),
                          [f"-L{linkdir}", f"-Wl,-rpath,{linkdir}"])
    # The call forces the linker to keep the library.
    assert configure.links(VERBS +
                           "int main(void)\n{\n\tibv_get_device_list(0);\n\treturn 0;\n}\n")
    done = run([tmp_path / "conftest"], env={"LD_LIBRARY_PATH": linkdir})
    assert done.returncode == 0, done.stderr
