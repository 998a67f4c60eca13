/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a traced process tells the command about one legacy call: one datagram. Both sides come from one build; numbers
 * and bytes only, decoded by the command, so that as little as possible happens inside the program.
 */
#ifndef XRC_COMPAT_TOOLS_TRACE_RECORD_H
#define XRC_COMPAT_TOOLS_TRACE_RECORD_H

#include <stdint.h>

#define TRACE_MAGIC 0x78726332u
#define TRACE_FRAMES 16
#define TRACE_BECAME 12
#define TRACE_ATTR_BYTES 136	/* struct ibv_qp_attr of OFED 1.5.3 */

enum trace_call {
	TRACE_OPEN_DOMAIN,
	TRACE_CLOSE_DOMAIN,
	TRACE_CREATE_SRQ,
	TRACE_CREATE_RCV_QP,
	TRACE_MODIFY_RCV_QP,
	TRACE_QUERY_RCV_QP,
	TRACE_REG,
	TRACE_UNREG,
	TRACE_CREATE_QP,
	TRACE_CALLS
};

struct trace_frame {
	uint64_t ip;		/* in the process */
	uint64_t offset;	/* of ip in the module's own addresses, as addr2line(1) takes them */
	uint64_t symbol_offset;
	char symbol[64];	/* "" unknown */
	char module[256];	/* path */
};

/* One of today's verbs that the shim called for it. */
struct trace_became {
	char function[24];
	uint64_t duration;	/* ns */
	int32_t error;		/* errno, 0 where it succeeded */
};

struct trace_record {
	uint32_t magic;
	uint32_t call;		/* enum trace_call */
	int32_t pid, tid;
	uint64_t start, duration;	/* ns of CLOCK_MONOTONIC */
	int64_t result;		/* as returned; pointers as numbers */
	int32_t error;		/* errno after the call where it failed, else 0 */
	int32_t flags;		/* oflag, or attr_mask */
	uint64_t context;	/* ibv_context or ibv_pd */
	uint64_t domain, cq, recv_cq;
	int32_t fd;
	uint32_t qp_num;	/* given or made */
	uint32_t srq_num;
	uint32_t max_wr, max_sge;
	uint32_t frame_count;
	uint32_t became_count;	/* all; only TRACE_BECAME are kept */
	uint8_t attr[TRACE_ATTR_BYTES];
	struct trace_became became[TRACE_BECAME];
	struct trace_frame frames[TRACE_FRAMES];
};

#endif
