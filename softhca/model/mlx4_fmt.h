/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The layouts that libmlx4 shares with a ConnectX: work queue entries, completions, ring geometry. Nobody else knows them. */
#ifndef SOFTHCA_MLX4_FMT_H
#define SOFTHCA_MLX4_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mlx4_opcode {
	MLX4_NOP = 0x00,
	MLX4_WRITE = 0x08,
	MLX4_WRITE_IMM = 0x09,
	MLX4_SEND = 0x0a,
	MLX4_SEND_IMM = 0x0b,
	MLX4_READ = 0x10,
	MLX4_ATOMIC_CS = 0x11,
	MLX4_ATOMIC_FA = 0x12,
};

/* Opcodes of receive completions. */
enum mlx4_recv_opcode { MLX4_RECV_WRITE_IMM = 0, MLX4_RECV_SEND = 1, MLX4_RECV_SEND_IMM = 2 };

enum mlx4_syndrome {
	MLX4_OK = 0x00,
	MLX4_LOCAL_LENGTH = 0x01,
	MLX4_LOCAL_QP_OP = 0x02,
	MLX4_LOCAL_PROT = 0x04,
	MLX4_FLUSH = 0x05,
	MLX4_LOCAL_ACCESS = 0x11,
	MLX4_REMOTE_INVALID = 0x12,
	MLX4_REMOTE_ACCESS = 0x13,
	MLX4_REMOTE_OP = 0x14,
	MLX4_RETRY_EXCEEDED = 0x15,
	MLX4_RNR_EXCEEDED = 0x16,
};

#define MLX4_MAX_SGE	  64u
#define MLX4_MAX_WQE	  1024u /* bytes of a send WQE */
#define MLX4_CQE_SIZE	  32u
#define MLX4_CQE_RESIZE	  0x16u
#define MLX4_CQE_PRESET	  0xcc /* fills an entry that is not valid in an even turn of the ring: owner bit set */
#define MLX4_CQE_PRESET_ODD 0x4c /* not valid in an odd turn */
#define MLX4_RESERVED_KEY 0x100u /* ends the scatter list of a receive WQE */
#define MLX4_XRC_TARGET	  (1u << 23) /* in the number of every XRC target QP */

#define MLX4_UAR_SEND	0x14 /* be32: any QP of the context has new work */
#define MLX4_UAR_ARM	0x20 /* be64: any CQ of the context was armed */

struct mlx4_sge {
	uint64_t address;
	uint32_t length;
	uint32_t key;
};

/* What a UD WQE says about its destination. */
struct mlx4_av {
	uint16_t dlid;
	uint8_t port, sl, sgid_index, hop_limit, traffic_class;
	bool global;
	uint32_t flow_label;
	uint8_t dgid[16];
	uint32_t qpn, qkey;
};

struct mlx4_wqe {
	uint8_t opcode;
	bool signalled, solicited;
	uint32_t imm; /* as in memory, never swapped */
	uint32_t srqn;
	uint64_t remote_address;
	uint32_t rkey;
	uint64_t swap_add, compare;
	struct mlx4_av av;
	uint64_t length; /* bytes of the message */
	uint32_t inline_length;
	uint32_t sges;
	struct mlx4_sge sge[MLX4_MAX_SGE];
	uint8_t inline_data[MLX4_MAX_WQE];
};

/* True if the first word of the slot says that the program has filled it in this turn of the ring. */
bool mlx4_wqe_valid(uint32_t first_word_be, uint32_t index, uint32_t count);

/*
 * Reads a send WQE out of a private copy of its slot. @datagram = a UD queue, which has an address segment.
 * 0; -EINVAL for one that no hardware could execute (its completion is a local QP operation error). opcode, signalled
 * and imm are set in either case.
 */
int mlx4_parse_wqe(const uint8_t *slot, size_t size, bool datagram, struct mlx4_wqe *wqe);

/* Scatter list of a receive WQE: @bytes of data segments. Number of entries. */
uint32_t mlx4_parse_scatter(const uint8_t *segments, size_t bytes, struct mlx4_sge sge[MLX4_MAX_SGE]);

/* A completion before it is laid out. */
struct mlx4_cqe {
	uint32_t qpn;
	uint32_t imm; /* as in memory */
	uint32_t remote; /* source QP, or for XRC the SRQ number */
	uint16_t slid;
	uint8_t sl;
	bool global;
	uint32_t byte_count;
	uint16_t wqe_index;
	bool send;
	uint8_t opcode;
	uint8_t syndrome; /* not MLX4_OK makes it an error completion */
};

/* @turn = producer index & ring size: the owner bit. */
void mlx4_build_cqe(const struct mlx4_cqe *cqe, bool turn, uint8_t out[MLX4_CQE_SIZE]);

/* Powers of two: bytes per receive WQE of @max_sge entries; bytes per SRQ WQE, which begins with a 16 byte header. */
uint32_t mlx4_rq_stride(uint32_t max_sge);
uint32_t mlx4_srq_stride(uint32_t max_sge);
uint32_t mlx4_pow2(uint32_t value);

#define MLX4_SRQ_HEADER 16u

#endif
