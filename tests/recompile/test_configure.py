# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The configure tests of the old clients find the API of OFED 1.5 with the installed headers and
-libverbs, and none of today's.

Each test is the program that autoconf made of the client's macro. On the system's own libibverbs it
must fail.
"""

import os
import subprocess

import pytest

from toolchain import compiler

pytestmark = pytest.mark.any_model

VERBS = "#include <infiniband/verbs.h>\n"
RDMACM = "#include <rdma/rdma_cma.h>\n"
DRIVER = "#include <infiniband/driver.h>\n"

# AC_CHECK_FUNCS and AC_CHECK_LIB: no header, a prototype that fits nothing, linked.
FUNCTION = "char {0}();\nint main(void)\n{{\n\treturn {0}();\n}}\n"
# AC_CHECK_DECLS: a macro of the name counts, anything else must be an expression; compiled only.
DECLARED = "int main(void)\n{{\n#ifndef {0}\n\t(void) {0};\n#endif\n\treturn 0;\n}}\n"
MEMBER = "int main(void)\n{{\n\tstatic struct {0} probe;\n\tif (probe.{1})\n\t\treturn 1;\n\treturn 0;\n}}\n"


class Configure:
    """The tests of a configure script that was given these flags."""

    def __init__(self, folder, cppflags=(), ldflags=()):
        self.folder, self.cppflags, self.ldflags = folder, cppflags, ldflags

    def _try(self, text, *options):
        source = self.folder / "conftest.c"
        source.write_text(text)
        # autoconf's order: what comes in LDFLAGS stands before the source that needs it.
        return compiler("c", "-w", "-Wno-error", "-std=gnu89", "-o", self.folder / "conftest",
                        *self.cppflags, *self.ldflags, source, *options)[0]

    def function(self, name, *libraries):
        return self._try(FUNCTION.format(name), *(libraries or ["-libverbs"]))

    def declared(self, name, headers=VERBS):
        return self._try(headers + DECLARED.format(name), "-c")

    def member(self, struct, name):
        return self._try(VERBS + MEMBER.format(struct, name), "-c")

    def links(self, text, *libraries):
        return self._try(text, *(libraries or ["-libverbs"]))


def open_mpi_13(configure):
    """1.3 to 1.8.4: AC_CHECK_FUNCS only; the header is not looked at."""
    return configure.function("ibv_create_xrc_rcv_qp")


def open_mpi_187(configure):
    """1.8.7, 1.10, 2.x: the old API if it is declared through driver.h and linkable, unless today's
    is there too."""
    legacy = (configure.declared("IBV_DEVICE_XRC") and
              configure.declared("ibv_create_xrc_rcv_qp", DRIVER) and
              configure.function("ibv_create_xrc_rcv_qp"))
    modern = (configure.declared("ibv_cmd_open_xrcd", DRIVER) and configure.declared("IBV_SRQT_XRC")
              and configure.function("ibv_cmd_open_xrcd"))
    return legacy and not modern


def mvapich2_18(configure):
    """1.8 to 2.3.4."""
    return configure.function("ibv_open_xrc_domain")


def mvapich2_235(configure):
    """2.3.5 and later: looks at the header only, as the program opens the library itself."""
    return configure.declared("IBV_QPT_XRC")


def gasnet(configure):
    """Uses today's API if it links, without looking at the header."""
    return configure.function("ibv_open_xrc_domain") and not configure.function("ibv_cmd_open_xrcd")


def qperf(configure):
    """AC_CHECK_LIB(ibverbs, ibv_open_xrc_domain)."""
    return configure.function("ibv_open_xrc_domain")


def open_mpi_rdmacm(configure):
    """1.3 to 1.8: librdmacm is looked for by a function of it; without it a connection manager is
    missing, silently."""
    return configure.function("rdma_create_id", "-lrdmacm",
                              "-libverbs") and configure.function("ibv_create_xrc_rcv_qp")


def rdma_bw(configure):
    """No test: its Makefile links both libraries."""
    return configure.links(
        RDMACM +
        "int main(void)\n{\n\treturn rdma_create_event_channel() && ibv_open_xrc_domain(0, 0, 0);\n}\n",
        "-libverbs", "-lrdmacm")


def mvapich_1(configure):
    """No test: its script takes two folders, where the compiler must find what the sources use."""
    return configure.declared("IBV_QPT_XRC") and configure.links(
        VERBS + "int main(void)\n{\n\treturn !ibv_open_xrc_domain;\n}\n")


CLIENTS = [
    open_mpi_13, open_mpi_187, open_mpi_rdmacm, mvapich_1, mvapich2_18, mvapich2_235, gasnet, qperf,
    rdma_bw
]


def from_pkg_config(tree, package):
    """Only paths; the script itself adds -libverbs."""
    return tree.pkg_config("--cflags", package), tree.pkg_config("--libs-only-L", package)


def from_alone(tree, package):
    return tree.pkg_config("--cflags", package), tree.pkg_config("--libs", package + "-alone")


def from_ofed_home(tree, package):
    """As --with-openib=DIR, VAPI_HOME and IBHOME make of one directory."""
    home = tree.pkg_config("--variable=ofedhome", package)[0]
    return [f"-I{home}/include"], [f"-L{home}/lib64"]


def from_two_folders(tree, package):
    """As --with-ib-include and --with-ib-libpath, or IBHOME_LIB."""
    include, lib = (tree.pkg_config(f"--variable={name}", package)[0]
                    for name in ("ofedincludedir", "linkdir"))
    return [f"-I{include}"], [f"-L{lib}"]


WAYS = [from_pkg_config, from_alone, from_ofed_home, from_two_folders]


@pytest.fixture(params=WAYS, ids=lambda how: how.__name__)
def configure(request, installed, tmp_path):
    return Configure(tmp_path, *request.param(installed, "xrc-compat"))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_client_finds_the_old_api(client, installed, tmp_path):
    assert client(Configure(tmp_path, *from_pkg_config(installed, "xrc-compat")))


def test_every_way_leads_to_the_same_header_and_libraries(configure):
    """These two clients ask for all that the others ask for: a declaration, functions of both
    libraries, and that today's functions are missing."""
    assert open_mpi_187(configure) and rdma_bw(configure)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_client_finds_no_old_api_on_the_system(client, tmp_path):
    assert not client(Configure(tmp_path))


def test_system_offers_todays_api(tmp_path):
    """Shows that the tests above do not fail for a broken compiler."""
    system = Configure(tmp_path)
    assert system.function("ibv_open_device") and system.declared("IBV_SRQT_XRC")


def test_members_that_the_clients_compile_against(configure):
    """Open MPI of RHEL 6.5 did not compile: the library had the functions, but the header had not
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


# AC_TRY_RUN: this program needs the function when it starts.
TRY_RUN = VERBS + """
struct ibv_xrc_domain *(*volatile wanted)(struct ibv_context *, int, int) = ibv_open_xrc_domain;

int main(void)
{
	return wanted ? 0 : 1;
}
"""


def test_try_run_needs_the_command(configure, tmp_path, installed, run, request):
    """Under `xrc-compat run` every program that a configure script tries gets the functions."""
    assert configure.links(TRY_RUN)
    script = tmp_path / "configure"
    script.write_text(
        "#!/bin/sh\ncd \"$(dirname \"$0\")\" && ./conftest && echo 'checking XRC... yes'\n")
    script.chmod(0o755)
    alone = "from_alone" in request.node.name
    assert (run([script]).returncode == 0) == alone
    done = run([installed.bin / "xrc-compat", "run", "--", script])
    assert (done.returncode, done.stdout) == (0, "checking XRC... yes\n"), done.stderr


def test_link_folder_cannot_be_loaded_from(installed, tmp_path, run):
    """CMake and LD_RUN_PATH turn link paths into run paths: even so the program must get the real
    library."""
    linkdir = installed.pkg_config("--variable=linkdir", "xrc-compat")[0]
    assert sorted(os.listdir(linkdir)) == ["libibverbs.so", "librdmacm.so", "libxrc-compat.so"]
    configure = Configure(tmp_path, installed.pkg_config("--cflags", "xrc-compat"),
                          [f"-L{linkdir}", f"-Wl,-rpath,{linkdir}"])
    assert configure.links(VERBS +
                           "int main(void)\n{\n\treturn ibv_get_device_list(0) ? 0 : 0;\n}\n")
    done = run([tmp_path / "conftest"], env={"LD_LIBRARY_PATH": linkdir})
    assert done.returncode == 0, done.stderr


def test_link_folder_is_on_no_default_path(installed):
    """Neither compilers nor the loader search this folder by default."""
    loader = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=30,
                            check=True).stdout
    assert "xrc-compat/" not in loader
    ok, search = compiler("c", "-print-search-dirs")
    assert ok and "xrc-compat" not in search
