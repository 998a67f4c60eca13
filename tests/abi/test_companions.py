# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The companion libraries have the sonames, nodes and functions of OFED 1.x, and the struct layouts
of both ELF classes."""

import os
import subprocess

import pytest

import elf
from facts import DEVELOPMENT

# From the linker maps of OFED 1.4 (libibumad 1:3:0) and of libibcm's last release.
UMAD = """umad_addr_dump umad_close_port umad_debug umad_done umad_dump umad_get_ca umad_get_ca_portguids umad_get_cas_names
umad_get_fd umad_get_issm_path umad_get_mad umad_get_mad_addr umad_get_pkey umad_get_port umad_init umad_open_port umad_poll
umad_recv umad_register umad_register_oui umad_release_ca umad_release_port umad_send umad_set_addr umad_set_addr_net
umad_set_grh umad_set_pkey umad_size umad_status umad_unregister""".split()
IBCM_VERBS = """open_device close_device get_event ack_event create_id destroy_id attr_id listen
send_req send_rep send_rtu send_dreq send_drep notify send_rej send_mra send_lap send_apr
send_sidr_req send_sidr_rep init_qp_attr""".split()
IBCM = [f"ib_cm_{name}" for name in IBCM_VERBS]

LIBRARIES = {"libibumad.so.1": ("IBUMAD_1.0", UMAD), "libibumad.so.2": ("IBUMAD_1.0", UMAD),
             "libibcommon.so.1": ("IBCOMMON_1.0", []), "libibcm.so.1": ("IBCM_1.0", IBCM)}


@pytest.mark.parametrize("soname", LIBRARIES)
def test_exports(build_root, soname):
    node, names = LIBRARIES[soname]
    exported, _ = elf.dynamic_symbols(build_root / "companions" / soname)
    assert exported == {f"{name}@@{node}" for name in names}


@pytest.mark.parametrize("soname", LIBRARIES)
def test_soname_and_needed_libraries(build_root, soname):
    """A companion needs neither libibumad.so.3, which may be missing, nor libibverbs."""
    library = build_root / "companions" / soname
    assert f"[{soname}]" in elf.readelf("-d", library)
    assert not [name for name in elf.needed(library) if name.startswith("libib")]


def test_each_function_of_libibumad_is_in_todays(todays_libibumad):
    exported, _ = elf.dynamic_symbols(todays_libibumad)
    assert {f"{name}@@IBUMAD_1.0" for name in UMAD} <= exported


@pytest.mark.parametrize("soname, today", DEVELOPMENT.items())
def test_development_names_load_todays_library_and_define_nothing(build_root, soname, today):
    library = build_root / "companions" / soname
    assert f"[{soname}]" in elf.readelf("-d", library)
    assert set(elf.needed(library)) - {"libc.so.6"} == {today}
    assert elf.dynamic_symbols(library)[0] == set()


@pytest.mark.parametrize("option", ["-m64", "-m32"])
def test_layouts(source_root, tmp_path, option):
    """umad_layouts.h asserts all offsets of both classes. A wrong one must not compile, or nothing
    is asserted."""
    header = (source_root / "companions" / "umad_layouts.h").read_text()
    assert compiles(header, option, tmp_path)
    for right, wrong in (("capmask, 56, 52", "capmask, 64, 56"), ("_port_2007, 96, 84",
                                                                  "_port_2007, 80, 76")):
        assert right in header
        assert not compiles(header.replace(right, wrong), option, tmp_path)


def compiles(text, option, folder):
    """Without any header of a C library, which this machine may not have for the other class."""
    source = folder / "layouts.c"
    plain = {
        "#include <stddef.h>": "#define offsetof(type, member) __builtin_offsetof(type, member)\n",
        "#include <stdint.h>": "typedef __UINT64_TYPE__ uint64_t; typedef __UINT32_TYPE__ uint32_t; typedef __UINT16_TYPE__ uint16_t;"
    }
    for line, replacement in plain.items():
        text = text.replace(line, replacement)
    source.write_text(text)
    return subprocess.run([*os.environ.get("CC", "cc").split(), option, "-fsyntax-only", source],
                          capture_output=True, timeout=60).returncode == 0
