/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Work requests and completions as the HCA itself speaks of them, whatever the rings of a model
 * look like.
 */
#ifndef SOFTHCA_WORK_H
#define SOFTHCA_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of send requests, and of their completions. All models so far have the same numbers. */
enum opcode {
	OP_NOP = 0x00,
	OP_WRITE = 0x08,
	OP_WRITE_IMM = 0x09,
	OP_SEND = 0x0a,
	OP_SEND_IMM = 0x0b,
	OP_READ = 0x10,
	OP_ATOMIC_CS = 0x11,
	OP_ATOMIC_FA = 0x12,
};

/* Of receive completions. */
enum recv_opcode { RECV_WRITE_IMM = 0, RECV_SEND = 1, RECV_SEND_IMM = 2 };

enum syndrome {
	SYNDROME_OK = 0x00,
	SYNDROME_LOCAL_LENGTH = 0x01,
	SYNDROME_LOCAL_QP_OP = 0x02,
	SYNDROME_LOCAL_PROT = 0x04,
	SYNDROME_FLUSH = 0x05,
	SYNDROME_REMOTE_INVALID = 0x12,
	SYNDROME_REMOTE_ACCESS = 0x13,
	SYNDROME_REMOTE_OP = 0x14,
	SYNDROME_RETRY_EXCEEDED = 0x15,
	SYNDROME_RNR_EXCEEDED = 0x16,
};

#define WQE_MAX_SGE   64u
#define WQE_MAX_BYTES 1024u /* of a send WQE */

struct sge {
	uint64_t address;
	uint32_t length;
	uint32_t key;
};

/* What a UD request says about its destination. */
struct av {
	uint16_t dlid;
	uint8_t port, sl, sgid_index, hop_limit, traffic_class;
	bool global;
	uint32_t flow_label;
	uint8_t dgid[16];
	uint32_t qpn, qkey;
};

/* A send request. */
struct wqe {
	uint32_t slots; /* of the ring that it takes */
	uint8_t opcode;
	bool signalled, solicited;
	bool fence; /* reads and atomics before it are done first */
	uint32_t imm; /* as in memory, never swapped */
	uint32_t srqn;
	uint64_t remote_address;
	uint32_t rkey;
	uint64_t swap_add, compare;
	struct av av;
	uint64_t length; /* bytes of the message */
	uint32_t inline_length;
	uint32_t sges;
	struct sge sge[WQE_MAX_SGE];
	uint8_t inline_data[WQE_MAX_BYTES];
};

/* A completion before it is laid out. */
struct cqe {
	uint32_t qpn;
	uint32_t imm;	 /* as in memory */
	uint32_t remote; /* source QP */
	bool xrc;	 /* out of an XRC SRQ */
	uint32_t srqn;	 /* out of any SRQ; 0 = none */
	uint32_t user_index; /* what the provider called the QP, or for XRC the SRQ */
	uint16_t slid;
	uint8_t sl;
	bool global;
	uint32_t byte_count;
	uint16_t wqe_index;
	bool send;
	uint8_t opcode;
	uint8_t syndrome; /* not SYNDROME_OK makes it an error completion */
	uint64_t timestamp; /* in ticks of the adapter's clock; 0 = not asked for */
};

#endif
