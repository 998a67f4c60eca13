#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the header of MLNX_OFED 2.x-4.x from OFED's. Of the members that programs with two-way QPs
use, only those of XRC SRQs lie elsewhere: behind those that libibverbs wrote (contract 2.6).

usage: verbs.py HEADER OUTPUT
"""

import re
import sys

OFED = re.compile(r"(struct ibv_srq \{.*?\tuint32_t handle;\n)(\tuint32_t events_completed;\n)"
                  r"\tuint32_t xrc_srq_num;.*?(\tpthread_mutex_t mutex;.*?)\};", re.S)
MLNX = r"""\1\3\2	uint32_t xrc_srq_num_bin_compat_padding;
	void *bin_compat_padding[3];
	uint32_t xrc_srq_num;
	struct ibv_xrc_domain *xrc_domain;
	struct ibv_cq *xrc_cq;
};"""

with open(sys.argv[1], encoding="ascii") as header:
    text, replaced = OFED.subn(MLNX, header.read(), count=1)
assert replaced, f"{sys.argv[1]} has no struct ibv_srq as OFED's"
with open(sys.argv[2], "w", encoding="ascii") as output:
    output.write(text)
