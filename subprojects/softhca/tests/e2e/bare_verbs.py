# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""libibverbs by ctypes alone, for scripts that fork, or that close any descriptor. `script` runs
one."""

import ctypes
import pathlib

FOLDER = pathlib.Path(__file__).parent


def script(text, *words):
    """The command that runs a script. The script has the names v (the library) and
    open_device()."""
    return [
        "env", f"PYTHONPATH={FOLDER}", "/usr/bin/python3", "-c",
        "from bare_verbs import *\nv = library()\n" + text, *map(str, words)
    ]


def library():
    verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    verbs.ibv_open_device.restype = verbs.ibv_alloc_pd.restype = ctypes.c_void_p
    for verb in (verbs.ibv_open_device, verbs.ibv_close_device, verbs.ibv_alloc_pd,
                 verbs.ibv_dealloc_pd):
        verb.argtypes = [ctypes.c_void_p]
    return verbs


def open_device():
    """Opens the first device, which only the script closes."""
    verbs = library()
    context = verbs.ibv_open_device(verbs.ibv_get_device_list(None)[0])
    assert context
    return context
