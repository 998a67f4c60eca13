/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a traced process tells the command about its start and about each call: one datagram. Both
 * sides come from one build; numbers and bytes only, decoded by the command, so that as little as
 * possible happens inside the program. The layout is the same for programs of 32 and of 64 bits.
 */
#ifndef XRC_COMPAT_TOOLS_TRACE_RECORD_H
#define XRC_COMPAT_TOOLS_TRACE_RECORD_H

#include <stdint.h>

#include <abi/verb.h>

#define TRACE_MAGIC 0x78726333u
#define TRACE_FRAMES 16
#define TRACE_BECAME 12
#define TRACE_ARGUMENTS 5
/* Instead of a verb: the process has all its libraries and is about to begin. */
#define TRACE_STARTED VERBS

typedef uint64_t trace_u64 __attribute__((aligned(8)));

/* The members of struct ibv_qp_attr that are told, and the bit of the mask that selects each. */
#define TRACE_FIELDS(X) \
	X(IBV_QP_STATE, qp_state) \
	X(IBV_QP_CUR_STATE, cur_qp_state) \
	X(IBV_QP_ACCESS_FLAGS, qp_access_flags) \
	X(IBV_QP_PKEY_INDEX, pkey_index) \
	X(IBV_QP_PORT, port_num) \
	X(IBV_QP_QKEY, qkey) \
	X(IBV_QP_AV, ah_attr.dlid) \
	X(IBV_QP_AV, ah_attr.sl) \
	X(IBV_QP_AV, ah_attr.src_path_bits) \
	X(IBV_QP_AV, ah_attr.is_global) \
	X(IBV_QP_AV, ah_attr.port_num) \
	X(IBV_QP_PATH_MTU, path_mtu) \
	X(IBV_QP_TIMEOUT, timeout) \
	X(IBV_QP_RETRY_CNT, retry_cnt) \
	X(IBV_QP_RNR_RETRY, rnr_retry) \
	X(IBV_QP_RQ_PSN, rq_psn) \
	X(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic) \
	X(IBV_QP_ALT_PATH, alt_ah_attr.dlid) \
	X(IBV_QP_ALT_PATH, alt_ah_attr.sl) \
	X(IBV_QP_ALT_PATH, alt_ah_attr.src_path_bits) \
	X(IBV_QP_ALT_PATH, alt_port_num) \
	X(IBV_QP_MIN_RNR_TIMER, min_rnr_timer) \
	X(IBV_QP_SQ_PSN, sq_psn) \
	X(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic) \
	X(IBV_QP_PATH_MIG_STATE, path_mig_state) \
	X(IBV_QP_CAP, cap.max_send_wr) \
	X(IBV_QP_DEST_QPN, dest_qp_num)

#define X(bit, member) 1 +
enum { TRACE_FIELD_COUNT = TRACE_FIELDS(X) 0 };
#undef X

struct trace_qp_init {
	trace_u64 domain, send_cq, recv_cq, srq;
	uint32_t max_send_wr, max_send_sge;
};

struct trace_srq_attr {
	uint32_t max_wr, max_sge, srq_limit, unused;
};

struct trace_frame {
	/* of the call in the module's own addresses, as addr2line(1) takes them */
	trace_u64 offset;
	char module[256];	/* path */
};

/* One of today's verbs that the shim called for it. */
struct trace_became {
	trace_u64 duration;	/* ns */
	int32_t err;		/* errno, 0 where it succeeded */
	char function[28];
};

struct trace_record {
	uint32_t magic;
	/*
	 * enum verb, or TRACE_STARTED: frames[0] is the program, and of the rest only these are
	 * set:
	 */
	uint32_t verb;
	int32_t pid, tid;
	int32_t rank, ranks;	/* of an MPI process and how many there are; -1 unknown */
	trace_u64 start, duration;	/* ns of CLOCK_MONOTONIC */
	int64_t result __attribute__((aligned(8)));	/* as returned; pointers as numbers */
	trace_u64 arguments[TRACE_ARGUMENTS];	/* as passed, in the order of the table */
	trace_u64 domain;	/* given, or made */
	int32_t err;		/* errno after the call where it failed, else 0 */
	uint32_t qp_num;	/* given or made */
	uint32_t srq_num;
	uint32_t frame_count;
	uint32_t became_count;	/* all; only TRACE_BECAME are kept */
	uint32_t attr[TRACE_FIELD_COUNT];	/* in the order of TRACE_FIELDS */
	struct trace_srq_attr srq_attr;
	struct trace_qp_init qp_init;
	struct trace_became became[TRACE_BECAME];
	struct trace_frame frames[TRACE_FRAMES];
};

_Static_assert(sizeof(struct trace_record) == 4984, "one layout for 32 and 64 bits");

#endif
