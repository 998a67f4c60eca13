# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What tests in several directories know, and programs and settings that they have in common."""

import sys

# Without "ibv_".
XRC_VERBS = [
    "open_xrc_domain", "close_xrc_domain", "create_xrc_srq", "create_xrc_rcv_qp",
    "modify_xrc_rcv_qp", "query_xrc_rcv_qp", "reg_xrc_rcv_qp", "unreg_xrc_rcv_qp"
]

# {development name: the library behind it}
DEVELOPMENT = {"libibverbs.so": "libibverbs.so.1", "librdmacm.so": "librdmacm.so.1",
               "libibumad.so": "libibumad.so.3", "libibmad.so": "libibmad.so.5"}

# malloc() fills the memory that it returns, and free() overwrites memory at once. Neither touches
# memory of a thread's cache, so the threads have none.
FILLED_HEAP = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}

# A program that executes its arguments with SIGCHLD ignored, as some of perl and Python do.
IGNORING_CHILDREN = [
    sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
    "os.execv(sys.argv[1], sys.argv[1:])"
]
