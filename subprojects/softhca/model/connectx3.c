/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ConnectX-3 as libmlx4 drives it: the layouts of its rings, the provider's part of commands,
 * and its numbers. All fields of the layouts are big endian unless it is said otherwise.
 */
#include "segment.h"

#include <base/bytes.h>
#include <base/refuse.h>

#include <errno.h>
#include <rdma/mlx4-abi.h>
#include <string.h>

#define MLX4_CQE_SIZE	32u
#define CONTROL_BYTES	16u
#define DATAGRAM_BYTES	48u
#define ERROR_OPCODE	0x1eu
#define FENCE		0x40u /* in the last byte of the second word */
#define FLUSH_VENDOR_ERR 0xf4

/* ---- send WQEs ---- */

static void parse_control(const uint8_t *slot, struct wqe *wqe)
{
	uint32_t flags = get32(slot + 8);

	wqe->opcode = get32(slot) & 0x1f;
	wqe->signalled = flags & 3u << 2;
	wqe->solicited = flags & 1u << 1;
	wqe->fence = slot[7] & FENCE;
	wqe->srqn = flags >> 8;
	memcpy(&wqe->imm, slot + 12, sizeof(wqe->imm));
}

static void parse_datagram(const uint8_t *segment, struct av *av)
{
	uint32_t sl_class_flow = get32(segment + 12);

	av->global = segment[5] & 0x80;
	av->dlid = get16(segment + 6);
	av->sgid_index = segment[9] & 0x7f;
	av->hop_limit = segment[11];
	av->sl = (uint8_t)(sl_class_flow >> 28);
	av->traffic_class = (uint8_t)(sl_class_flow >> 20);
	av->flow_label = sl_class_flow & 0xfffff;
	memcpy(av->dgid, segment + 16, sizeof(av->dgid));
	av->qpn = get32(segment + 32) & 0xffffff;
	av->qkey = get32(segment + 36);
}

/* The segments before the data; bytes taken, or -EINVAL. */
static int parse_head(const uint8_t *at, size_t left, bool datagram, struct wqe *wqe)
{
	if (!datagram)
		return segment_parse_remote(at, left, wqe);
	if ((wqe->opcode != OP_SEND && wqe->opcode != OP_SEND_IMM) || left < DATAGRAM_BYTES)
		return -EINVAL;
	parse_datagram(at, &wqe->av);
	return DATAGRAM_BYTES;
}

static int mlx4_parse_wqe(const uint8_t *slot, size_t size, enum ibv_qp_type type, struct wqe *wqe)
{
	size_t bytes = (slot[7] & 0x3fu) * SEGMENT_BYTES;
	int head;

	wqe->sges = wqe->inline_length = 0;
	wqe->length = 0;
	parse_control(slot, wqe);
	if (bytes < CONTROL_BYTES || bytes > size)
		return -EINVAL;
	if (wqe->opcode == OP_NOP)
		return 0;
	head = parse_head(slot + CONTROL_BYTES, bytes - CONTROL_BYTES, type == IBV_QPT_UD, wqe);
	if (head < 0)
		return head;
	return segment_parse_data(slot + CONTROL_BYTES + head, bytes - CONTROL_BYTES - (size_t)head,
				  wqe);
}

/* ---- completions ---- */

static void mlx4_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
			   uint8_t out[CQE_MAX_BYTES])
{
	uint8_t opcode = cqe->syndrome ? ERROR_OPCODE : cqe->opcode;
	/* The provider finds the SRQ of an XRC completion, erroneous or not, by this number. */
	uint32_t remote = (cqe->xrc ? cqe->srqn : cqe->remote) & 0xffffff;

	memset(out, 0, MLX4_CQE_SIZE);
	put32(out, cqe->qpn & 0xffffff);
	put16(out + 24, cqe->wqe_index);
	out[31] = (uint8_t)((format->turn ? 0x80 : 0) | (cqe->send ? 0x40 : 0) | opcode);
	if (cqe->syndrome) {
		out[26] = cqe->syndrome == SYNDROME_FLUSH ? FLUSH_VENDOR_ERR
							  : model_vendor_err(cqe->syndrome);
		out[27] = cqe->syndrome;
		put32(out + 8, remote);
		return;
	}
	memcpy(out + 4, &cqe->imm, sizeof(cqe->imm));
	put32(out + 8, (cqe->global ? 0x80000000u : 0) | remote);
	put16(out + 12, (uint16_t)(cqe->sl << 12));
	put16(out + 14, cqe->slid);
	/* A timestamp stands in place of the sender's SL and LID. */
	if (cqe->timestamp) {
		put32(out + 12, (uint32_t)(cqe->timestamp >> 16));
		put16(out + 29, (uint16_t)cqe->timestamp);
	}
	put32(out + 20, cqe->byte_count);
}

/* ---- the provider's part of commands ---- */

#define QP_TABLE (1u << 18)

static int mlx4_context(const void *in, size_t size, int ports, const struct limits *limits,
			struct driver_part *out, uint8_t *cqe_version)
{
	/* Completions of 32 bytes; no BlueFlame, so that every doorbell is in one page. */
	const struct mlx4_ib_alloc_ucontext_resp resp = {
		.dev_caps = MLX4_USER_DEV_CAP_LARGE_CQE, .qp_tab_size = QP_TABLE,
		.cqe_size = MLX4_CQE_SIZE,
	};

	(void)in;
	(void)size;
	(void)ports;
	(void)limits;
	*cqe_version = 0;
	model_put_part(out, &resp, sizeof(resp));
	return 0;
}

static void mlx4_device_caps(struct driver_part *out)
{
	/* comp_mask 0: there is no clock page that a provider could map. */
	const struct mlx4_uverbs_ex_query_device_resp resp = { .response_length = sizeof(resp) };

	model_put_part(out, &resp, sizeof(resp));
}

static int mlx4_take_cq(const void *in, size_t size, struct cq_place *place)
{
	const struct mlx4_ib_create_cq *driver = in;

	if (size < sizeof(*driver))
		return refuse(-EINVAL, "driver's part too short");
	*place = (struct cq_place){ { driver->buf_addr }, { driver->db_addr }, MLX4_CQE_SIZE };
	return 0;
}

static int mlx4_take_resize(const void *in, size_t size, struct cq_place *place)
{
	const struct mlx4_ib_resize_cq *driver = in;

	if (size < sizeof(*driver))
		return refuse(-EINVAL, "driver's part too short");
	*place = (struct cq_place){ .buffer.address = driver->buf_addr, .entry = MLX4_CQE_SIZE };
	return 0;
}

static int mlx4_take_srq(const void *in, size_t size, bool xrc, uint8_t cqe_version,
			 struct srq_place *place)
{
	const struct mlx4_ib_create_srq *driver = in;

	(void)xrc;
	(void)cqe_version;
	if (size < sizeof(*driver))
		return refuse(-EINVAL, "driver's part too short");
	*place = (struct srq_place){ { driver->buf_addr }, { driver->db_addr }, 0 };
	return 0;
}

/* ---- queue pairs ---- */

#define MIN_LOG_STRIDE 6u
#define MAX_LOG_STRIDE 10u
#define MAX_LOG_COUNT  15u

/* As the mlx4 driver sizes a receive queue; a QP that has none must not ask for one. */
static int size_rq(bool has_rq, const struct limits *limits, struct qp_caps *caps,
		   struct qp_rings *rings)
{
	if (!has_rq) {
		caps->max_recv_sge = 0;
		return caps->max_recv_wr
			       ? refuse(-EINVAL, "receives where there is no receive queue")
			       : 0;
	}
	if (!caps->max_recv_wr || !caps->max_recv_sge ||
	    caps->max_recv_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_recv_sge > (uint32_t)limits->max_sge)
		return refuse(-EINVAL, "size of the receive queue");
	rings->rq.count = model_pow2(caps->max_recv_wr);
	rings->rq.shift =
		(uint32_t)__builtin_ctz(model_pow2(caps->max_recv_sge * SEGMENT_BYTES));
	/* The program takes both numbers for the size of its ring. */
	caps->max_recv_wr = rings->rq.count;
	caps->max_recv_sge = model_pow2(caps->max_recv_sge);
	if (caps->max_recv_sge > (uint32_t)limits->max_sge)
		caps->max_recv_sge = (uint32_t)limits->max_sge;
	rings->max_recv_sge = caps->max_recv_sge;
	return 0;
}

static int size_sq(const struct mlx4_ib_create_qp *driver, const struct limits *limits,
		   const struct qp_caps *caps, struct qp_rings *rings)
{
	if (caps->max_send_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_send_sge > (uint32_t)limits->max_sge)
		return refuse(-EINVAL, "size of the send queue");
	if (driver->log_sq_stride < MIN_LOG_STRIDE || driver->log_sq_stride > MAX_LOG_STRIDE ||
	    driver->log_sq_bb_count > MAX_LOG_COUNT)
		return refuse(-EINVAL, "driver's size of the send queue");
	rings->sq.count = 1u << driver->log_sq_bb_count;
	rings->sq.shift = driver->log_sq_stride;
	return 0;
}

/* Both queues are in one buffer, the queue with the larger stride first. */
static void place_rings(const struct mlx4_ib_create_qp *driver, struct qp_rings *rings)
{
	uint64_t rq_bytes = (uint64_t)rings->rq.count << rings->rq.shift;
	uint64_t sq_bytes = (uint64_t)rings->sq.count << rings->sq.shift;
	bool rq_first = rings->rq.count && rings->rq.shift > rings->sq.shift;

	rings->rq.buffer.address = driver->buf_addr + (rq_first ? 0 : sq_bytes);
	rings->sq.buffer.address = driver->buf_addr + (rq_first ? rq_bytes : 0);
	rings->rq.record.address = driver->db_addr;
}

static int mlx4_take_qp(const void *in, size_t size, enum ibv_qp_type type, bool shared,
			uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
			struct qp_rings *rings)
{
	const struct mlx4_ib_create_qp *driver = in;
	int err;

	(void)cqe_version;
	*rings = (struct qp_rings){ 0 };
	err = size_rq(type != IBV_QPT_XRC_SEND && type != IBV_QPT_XRC_RECV && !shared, limits, caps,
		      rings);
	if (err || type == IBV_QPT_XRC_RECV)
		return err;
	/* inl_recv_sz came later than the rest: older providers end before it. */
	if (size < offsetof(struct mlx4_ib_create_qp, inl_recv_sz))
		return refuse(-EINVAL, "driver's part too short");
	err = size_sq(driver, limits, caps, rings);
	if (!err)
		place_rings(driver, rings);
	return err;
}

/* ---- the model ---- */

#define FDR_SPEED 16

static struct place sq_word(const struct ring *sq)
{
	return place_at(sq->buffer, (uint64_t)(sq->next & (sq->count - 1)) << sq->shift);
}

/* An owner bit in each slot tells whether the program has filled it in this turn of the ring. */
static uint32_t sq_known(const struct ring *sq, uint32_t word)
{
	bool owner = be32toh(word) & 0x80000000u;

	return sq->next + (owner == !!(sq->next & sq->count));
}

static uint32_t one_slot(const uint8_t *slot)
{
	(void)slot;
	return 1;
}

const struct model connectx3 = {
	.name = "connectx3",
	.title = "ConnectX-3",
	.device = "mlx4_",
	.modalias = "pci:v000015B3d00001003sv000015B3sd00000055bc02sc80i00",
	.hca_type = "MT4099",
	.firmware = "2.42.5000",
	.board_id = "MT_1090120019",
	.rate = "56 Gb/sec (4X FDR)",
	.fw_ver = 2ull << 32 | 42ull << 16 | 5000,
	.part_id = 0x1003,
	.link_speed = FDR_SPEED,
	.path_rate = IBV_RATE_56_GBPS,
	.ack_delay = 15,
	.timestamp_mask = 0xffffffffffff,
	.clock_khz = 427000,
	.driver_abi = 4,
	.max_groups = 8192,
	.max_group_members = 248,
	.limits = {
		.max_qp = 65472, .max_cq = 65408, .max_srq = 65472, .max_mr = 524032,
		.max_pd = 32764,
		.max_qp_wr = 16351, .max_sge = 32, .max_cqe = 4194303, .max_srq_wr = 16383,
		.max_srq_sge = 31,
		.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 128,
	},
	.target_tag = 1u << 23,
	/* be32 of the number of a QP with new work; be64 of what a CQ was armed for. */
	.send_bell = { 0x14, 4 },
	.arm_bell = { 0x20, 8 },
	.context = mlx4_context,
	.device_caps = mlx4_device_caps,
	.take_cq = mlx4_take_cq,
	.take_resize = mlx4_take_resize,
	.take_srq = mlx4_take_srq,
	.take_qp = mlx4_take_qp,
	.sq_word = sq_word,
	.sq_known = sq_known,
	.wqe_slots = one_slot,
	.parse_wqe = mlx4_parse_wqe,
	.build_cqe = mlx4_build_cqe,
	.resize_opcode = 0x16,
	/* The provider leaves zeroes, which would look like completions. */
	.preset = true,
	.preset_even = 0xcc,
	.preset_odd = 0x4c,
	.arm = { [1] = ARM_SOLICITED, [2] = ARM_NEXT },
	.tells_send_caps = true,
	.flag_error = -EOPNOTSUPP,
	.flags_of_ud_only = true,
	.xrc_error = -ENOSYS,
};
