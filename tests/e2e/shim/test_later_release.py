# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A libibverbs of a later release, whose private functions may have other signatures: the library
does not call them. Made of the system's, with a node that no release has, and with an
ibv_cmd_open_qp that ends the process."""

import pathlib
import re
import subprocess

import pytest

from contract_rows import MODES, check

CRASH = b"\x0f\x0b"  # ud2


def file_offset(path, symbol):
    """Where the function begins in the file."""
    def readelf(option):
        return subprocess.check_output(["readelf", "-W", option, path], text=True, timeout=30)

    address = int(re.search(rf": (\w+) .* {symbol}@", readelf("--dyn-syms"))[1], 16)
    for offset, start, size in re.findall(r"LOAD +(\w+) (\w+) \w+ (\w+)", readelf("-l")):
        if 0 <= address - int(start, 16) < int(size, 16):
            return int(offset, 16) + address - int(start, 16)
    raise AssertionError(f"{path}: {symbol} is in no segment")


@pytest.fixture
def later_release(real_library, tmp_path, monkeypatch):
    """Programs get the libibverbs of a later release, and its drivers."""
    libibverbs, drivers = pathlib.Path(real_library), pathlib.Path(real_library).parent / "libibverbs"
    if not list(drivers.glob("libmlx5-rdmav*.so")):
        pytest.skip(f"no drivers in {drivers}")
    for path in [libibverbs, *drivers.glob("libmlx[45]-rdmav*.so")]:
        data = bytearray(path.read_bytes())
        if path == libibverbs:
            at = file_offset(path, "ibv_cmd_open_qp")
            data[at:at + len(CRASH)] = CRASH
        data = re.sub(rb"IBVERBS_PRIVATE_\d\d", b"IBVERBS_PRIVATE_99", data)
        # libibverbs then looks for its drivers on the loader's path.
        data = re.sub(rb"/usr/lib(?=[^\0]*/lib%s-rdmav)", b"/nowhere", data)
        (tmp_path / path.name).write_bytes(data)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", ["rcv_qp", "query", "reg", "end", "event", "data"])
def test_rows(later_release, on_device, group, mode):
    check(on_device(mode, group))
