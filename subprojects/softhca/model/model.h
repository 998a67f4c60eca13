/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The HCAs that are emulated: for each a table of what its provider does in a way of its own. */
#ifndef SOFTHCA_MODEL_H
#define SOFTHCA_MODEL_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- work requests and completions, whatever the rings of a model look like ---- */

/* The opcodes of send requests and of their completions, which all models so far have alike. */
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

/* The opcodes of receive completions. */
enum recv_opcode { RECV_WRITE_IMM = 0, RECV_SEND = 1, RECV_SEND_IMM = 2 };

/* Kinds of packets in the hardware's manual. UCX finds the receiver's address by the kind. */
enum packet_kind { KIND_ROCE_V1 = 0, KIND_IPV6 = 1, KIND_IPV4 = 2, KIND_UDP = 8 };

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

/* The destination of a UD request, or of a connected QP. */
struct av {
	uint16_t dlid;
	uint8_t sl, sgid_index, hop_limit, traffic_class;
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
	uint32_t user_index; /* the provider's name for the QP, or for XRC the SRQ */
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

/* ---- rings and models ---- */

/* Where a ring or a doorbell record lies. */
struct place {
	uint64_t address; /* in the client; 0 = there is none */
	uint8_t *shared;  /* the same memory as the daemon has it, or NULL (machine/arena.h) */
};

/* @offset bytes further. */
static inline struct place place_at(struct place place, uint64_t offset)
{
	place.address += offset;
	if (place.shared)
		place.shared += offset;
	return place;
}

/* A send or receive queue of a QP. */
struct ring {
	struct place buffer;
	struct place record; /* doorbell record */
	uint32_t count;	 /* slots, a power of two; 0 = there is no queue */
	uint32_t shift;	 /* log2 of a slot */
	uint32_t next;	 /* slot of the next WQE, counted without end */
	/* the slot behind the last one that is known to be filled, counted as next is */
	uint32_t known;
};

/* The sizes of a QP, as the program asks for them and as it gets them. */
struct qp_caps {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
};

/* The rings of a new QP. */
struct qp_rings {
	struct ring sq, rq;
	uint32_t max_recv_sge; /* entries in the scatter list of a receive WQE */
	uint32_t user_index;
};

struct cq_place {
	struct place buffer, record;
	uint32_t entry; /* bytes of a completion */
};

struct srq_place {
	struct place buffer, record;
	uint32_t user_index;
};

/* The limits of each device and of each queue. In settings 0 stands for the model's own. */
struct limits {
	int max_qp, max_cq, max_srq, max_mr, max_pd;
	int max_qp_wr, max_sge, max_cqe, max_srq_wr, max_srq_sge;
	/* reads and atomics under way on a QP: as responder, as requester */
	int max_qp_rd_atom, max_qp_init_rd_atom;
};

/* The part of a response that is the provider's. */
struct driver_part {
	size_t size;
	union {
		uint8_t bytes[128];
		uint64_t align;
	};
};

/* A word that stands for "look at your rings". */
struct bell {
	uint32_t at;	/* in the doorbell page */
	uint32_t bytes; /* 4 or 8 */
};

/* How one CQ wants its completions. */
struct cqe_format {
	uint32_t bytes;
	bool turn;	    /* producer index & ring size */
	uint8_t version;    /* the one that the context agreed on */
};

#define CQE_MAX_BYTES 128u

/* The meaning of an arm word. */
enum arm_kind { ARM_NONE, ARM_SOLICITED, ARM_NEXT };

struct arm_request {
	enum arm_kind kind;
	int sequence;
	uint32_t consumer; /* 24 bits */
};

struct model {
	/* for people, and for the choice of a provider */
	const char *name;     /* --model=NAME */
	const char *title;    /* of the adapter */
	const char *device;   /* device names begin with it */
	const char *modalias, *hca_type, *firmware, *board_id, *rate;
	uint64_t fw_ver;
	uint16_t part_id;
	uint8_t link_speed;
	uint8_t path_rate; /* enum ibv_rate, in path records */
	uint8_t ack_delay; /* local_ca_ack_delay */
	uint64_t timestamp_mask;
	uint64_t clock_khz; /* of the time stamps */
	bool stamps_all; /* mlx5: completions have their time whether asked for or not */
	uint32_t driver_abi; /* abi_version in /sys */
	uint32_t max_groups, max_group_members; /* for multicast: of a device, QPs in each */
	struct limits limits;

	/* numbers */
	uint32_t target_tag; /* bits that the number of every XRC target QP has */
	bool one_sequence; /* mlx5: QPs and SRQs are numbered from one sequence */

	/* the doorbell page, and what else is mapped */
	struct bell send_bell, arm_bell;
	bool mmap_commands; /* libmlx5: an mmap offset is a page index with a command above it */

	/* driver's parts of commands: 0 or the kernel driver's -errno */
	int (*context)(const void *in, size_t size, int ports, const struct limits *limits,
		       struct driver_part *out, uint8_t *cqe_version);
	void (*device_caps)(struct driver_part *out);
	/* NULL: the provider needs no address */
	void (*answer_ah)(const uint8_t mac[6], struct driver_part *out);
	int (*take_cq)(const void *in, size_t size, struct cq_place *place);
	int (*take_resize)(const void *in, size_t size, struct cq_place *place);
	int (*take_srq)(const void *in, size_t size, bool xrc, uint8_t cqe_version,
			struct srq_place *place);
	/* Sizes and places both rings; @caps as it goes back. @shared: there is an SRQ. */
	int (*take_qp)(const void *in, size_t size, enum ibv_qp_type type, bool shared,
		       uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
		       struct qp_rings *rings);
	/* mlx5_ib: an SRQ may fill its ring and its WQEs, beyond max_srq_wr and max_srq_sge */
	bool srqs_exceed_limits;

	/* send queues */
	/* the word that tells whether there is more */
	struct place (*sq_word)(const struct ring *sq);
	/* ring->known with that word, as it lies there */
	uint32_t (*sq_known)(const struct ring *sq, uint32_t word);
	/* the number of slots of the WQE that begins with this one; at least 1 */
	uint32_t (*wqe_slots)(const uint8_t *slot);
	/*
	 * Reads a send WQE out of a private copy. 0; -EINVAL for one that no hardware could execute
	 * (its completion is a local QP operation error). opcode, signalled and imm are set in
	 * either case.
	 */
	int (*parse_wqe)(const uint8_t *bytes, size_t size, enum ibv_qp_type type, struct wqe *wqe);

	/* completions */
	void (*build_cqe)(const struct cqe *cqe, const struct cqe_format *format,
			  uint8_t out[CQE_MAX_BYTES]);
	uint8_t resize_opcode; /* of the entry that ends a ring which was resized */
	bool preset; /* mlx4: the HCA makes entries of a new ring invalid */
	/* bytes that fill an entry not valid in an even, an odd turn of the ring */
	uint8_t preset_even, preset_odd;
	enum arm_kind arm[16]; /* the meaning of an arm word, by its command */
	/* arm word of a CQ that was never armed, host order; 0 = as the provider leaves it */
	uint32_t arm_never;

	/* ports */
	bool roce_v2; /* mlx5: ports of Ethernet have RoCE v2 beside v1 */
	/* mlx5 over RoCE: the service level of a datagram is its enum packet_kind */
	bool tells_packet;

	/* QPs */
	int flag_error; /* the driver's -errno for a creation flag that the adapter lacks */
	bool flags_of_ud_only; /* mlx4_ib: only UD QPs have creation flags */
	int xrc_error; /* the driver's -errno for an XRC QP on an adapter without XRC */
	bool tells_send_caps; /* mlx4_ib, in a query; libmlx5 knows them itself */
	bool never_drains; /* mlx5_ib has no transition to SQD */
};

extern const struct model connectx3, connectx5;

/* All models, NULL after the last. */
extern const struct model *const models[];

/* NULL when there is none of that name. */
const struct model *model_find(const char *name);

/* wc.vendor_err of an error, except for a flush error, as logs of real adapters have it. */
uint8_t model_vendor_err(uint8_t syndrome);

/* The meaning of an arm word, which is as it lies in the record. */
struct arm_request model_arm(const struct model *model, uint32_t word);

/* Fills in the driver's part of a response. */
void model_put_part(struct driver_part *out, const void *part, size_t size);

/* The least power of two that is not below @value. */
uint32_t model_pow2(uint32_t value);

#endif
