/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ConnectX-5 as libmlx5 drives it: the layouts of its rings, the provider's part of commands,
 * and its numbers. All fields of the layouts are big endian unless it is said otherwise.
 */
#include "segment.h"

#include <base/bytes.h>
#include <base/refuse.h>

#include <endian.h>
#include <errno.h>
#include <rdma/mlx5-abi.h>
#include <string.h>

#define MLX5_WQE_SHIFT	  6u /* a send queue consists of units of 64 bytes */
#define MLX5_CQE_SIZE	  64u
#define MLX5_MAX_SQ_BYTES 1024u	 /* of a send WQE */
#define MLX5_MAX_RQ_BYTES 512u	 /* of a receive WQE */
#define MLX5_MAX_QUEUE	  32768u /* units of a send queue, WQEs of a receive queue or an SRQ */
#define DATAGRAM_BYTES	  48u

/* fm_ce_se, the last byte of the flags */
#define COMPLETION_WANTED 0x08u
#define SOLICITED	  0x02u
#define FENCE		  0x80u

#define FLUSH_VENDOR_ERR 0xf9

/* The upper half of a completion's last byte. */
enum {
	CQE_REQUEST = 0,
	CQE_RECV_FIRST = 1,
	CQE_RESIZE = 5,
	CQE_REQUEST_ERROR = 13,
	CQE_RECV_ERROR = 14
};

/* ---- send WQEs ---- */

/* Units of the send WQE that begins with this one. */
static uint32_t mlx5_wqe_units(const uint8_t *unit)
{
	uint32_t segments = unit[7] & 0x3fu;

	return segments ? (segments + 3) / 4 : 1;
}

static void parse_control(const uint8_t *bytes, struct wqe *wqe)
{
	wqe->opcode = bytes[3];
	wqe->signalled = bytes[11] & COMPLETION_WANTED;
	wqe->solicited = bytes[11] & SOLICITED;
	wqe->fence = bytes[11] & FENCE;
	wqe->srqn = 0;
	memcpy(&wqe->imm, bytes + 12, sizeof(wqe->imm));
}

static void parse_datagram(const uint8_t *segment, struct av *av)
{
	uint32_t grh = get32(segment + 28);

	av->qkey = get32(segment);
	av->qpn = get32(segment + 8) & 0xffffff;
	av->sl = segment[12] & 0xf;
	av->dlid = get16(segment + 14);
	av->traffic_class = segment[26];
	av->hop_limit = segment[27];
	av->global = grh & 1u << 30;
	av->sgid_index = (uint8_t)(grh >> 20);
	av->flow_label = grh & 0xfffff;
	memcpy(av->dgid, segment + 32, sizeof(av->dgid));
}

/* The address segment of a datagram, the SRQ number of XRC; bytes taken, or -EINVAL. */
static int parse_destination(const uint8_t *at, size_t left, enum ibv_qp_type type, struct wqe *wqe)
{
	if (type == IBV_QPT_UD) {
		if ((wqe->opcode != OP_SEND && wqe->opcode != OP_SEND_IMM) || left < DATAGRAM_BYTES)
			return -EINVAL;
		parse_datagram(at, &wqe->av);
		return DATAGRAM_BYTES;
	}
	if (type != IBV_QPT_XRC_SEND)
		return 0;
	if (left < SEGMENT_BYTES)
		return -EINVAL;
	wqe->srqn = get32(at) & 0xffffff;
	return SEGMENT_BYTES;
}

static int mlx5_parse_wqe(const uint8_t *bytes, size_t size, enum ibv_qp_type type, struct wqe *wqe)
{
	size_t length = (bytes[7] & 0x3fu) * SEGMENT_BYTES;
	size_t at = SEGMENT_BYTES;
	int taken;

	wqe->sges = wqe->inline_length = 0;
	wqe->length = 0;
	parse_control(bytes, wqe);
	if (length < SEGMENT_BYTES || length > size)
		return -EINVAL;
	if (wqe->opcode == OP_NOP)
		return 0;
	taken = parse_destination(bytes + at, length - at, type, wqe);
	if (taken < 0)
		return taken;
	at += (size_t)taken;
	taken = segment_parse_remote(bytes + at, length - at, wqe);
	if (taken < 0)
		return taken;
	at += (size_t)taken;
	return segment_parse_data(bytes + at, length - at, wqe);
}

/* ---- completions ---- */

static uint8_t kind_of(const struct cqe *cqe)
{
	if (cqe->syndrome)
		return cqe->send ? CQE_REQUEST_ERROR : CQE_RECV_ERROR;
	if (cqe->opcode == CQE_RESIZE)
		return CQE_RESIZE;
	return cqe->send ? CQE_REQUEST : (uint8_t)(CQE_RECV_FIRST + cqe->opcode);
}

/* Without user indices an SRQ is found by its number, and a QP by field 56. */
static uint32_t index_of(const struct cqe *cqe, uint8_t version)
{
	return version ? cqe->user_index : cqe->srqn;
}

/* An entry of 128 bytes has the completion in its second half. */
static void mlx5_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
			   uint8_t out[CQE_MAX_BYTES])
{
	uint8_t *at = out + format->bytes - MLX5_CQE_SIZE;

	memset(out, 0, format->bytes);
	put32(at + 32, index_of(cqe, format->version) & 0xffffff);
	put32(at + 56, (cqe->send ? (uint32_t)cqe->opcode << 24 : 0) | (cqe->qpn & 0xffffff));
	put16(at + 60, cqe->wqe_index);
	at[63] = (uint8_t)(kind_of(cqe) << 4 | format->turn);
	if (cqe->syndrome) {
		/* No time stamp. */
		at[54] = cqe->syndrome == SYNDROME_FLUSH ? FLUSH_VENDOR_ERR
							 : model_vendor_err(cqe->syndrome);
		at[55] = cqe->syndrome;
		return;
	}
	put16(at + 22, cqe->slid);
	put32(at + 24, (cqe->global ? 1u << 28 : 0) | (uint32_t)(cqe->sl & 0xf) << 24 |
			       (cqe->remote & 0xffffff));
	memcpy(at + 36, &cqe->imm, sizeof(cqe->imm));
	put32(at + 44, cqe->byte_count);
	put64(at + 48, cqe->timestamp);
}

/*
 * ---- the provider's part of commands ----
 *
 * The parts of older libraries are shorter: the driver requires a least size, and takes zero for
 * what is missing behind it.
 */

#define QP_TABLE       (1u << 18)
#define BF_REG_SIZE    512u
#define BFREGS_PER_UAR 2u
#define MAX_BFREGS     512u
#define CACHE_LINE     64u
#define NO_USER_INDEX  0xffffffu /* sent by libraries without user indices */
#define MAX_SHIFT      31u

/* Takes at most as much as the client sent. The rest of the part is zero. */
static void take_part(void *part, size_t room, const void *in, size_t size)
{
	memset(part, 0, room);
	if (size)
		memcpy(part, in, size < room ? size : room);
}

/* ---- context ---- */

static int check_context(const struct mlx5_ib_alloc_ucontext_req_v2 *req, uint32_t bfregs)
{
	if (req->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX || req->comp_mask || req->reserved0 ||
	    req->reserved1 || req->reserved2)
		return refuse(-EOPNOTSUPP, "context flags or reserved");
	if (!bfregs || req->num_low_latency_bfregs > bfregs - 1)
		return refuse(-EINVAL, "number of doorbell registers");
	return bfregs > MAX_BFREGS ? refuse(-ENOMEM, "more doorbell registers than there are") : 0;
}

static int mlx5_context(const void *in, size_t size, int ports, const struct limits *limits,
			struct driver_part *out, uint8_t *cqe_version)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct mlx5_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = QP_TABLE, .bf_reg_size = BF_REG_SIZE, .cache_line_size = CACHE_LINE,
		.max_sq_desc_sz = MLX5_MAX_SQ_BYTES, .max_rq_desc_sz = MLX5_MAX_RQ_BYTES,
		.max_send_wqebb = MLX5_MAX_QUEUE,
		.max_recv_wr = MLX5_MAX_QUEUE, .max_srq_recv_wr = (uint32_t)limits->max_srq_wr + 1,
		.num_ports = (uint16_t)ports,
		.response_length = sizeof(resp), .log_uar_size = 12, .num_uars_per_page = 1,
	};
	uint32_t bfregs;
	int err;

	/* Two structures: the first had the numbers of registers only. */
	if (size != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    size < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return refuse(-EINVAL, "size of the driver's part");
	take_part(&req, sizeof(req), in, size);
	bfregs = (req.total_num_bfregs + BFREGS_PER_UAR - 1) & ~(BFREGS_PER_UAR - 1);
	err = check_context(&req, bfregs);
	if (err)
		return err;
	/* Not 0, which would have the library ask for its doorbell pages by ioctl. */
	resp.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
	resp.tot_bfregs = bfregs;
	resp.cqe_version = *cqe_version = req.max_cqe_version ? 1 : 0;
	model_put_part(out, &resp, sizeof(resp));
	return 0;
}

/* Nothing: cmds_supp_uhw says that queries have no driver's part. */
static void mlx5_device_caps(struct driver_part *out)
{
	out->size = 0;
}

static void mlx5_answer_ah(const uint8_t mac[6], struct driver_part *out)
{
	struct mlx5_ib_create_ah_resp resp = { .response_length = sizeof(resp) };

	memcpy(resp.dmac, mac, sizeof(resp.dmac));
	model_put_part(out, &resp, sizeof(resp));
}

/* ---- completion queues ---- */

static int check_entry(uint32_t bytes)
{
	return bytes == 64 || bytes == 128 ? 0 : refuse(-EINVAL, "size of a completion");
}

static int mlx5_take_cq(const void *in, size_t size, struct cq_place *place)
{
	struct mlx5_ib_create_cq req;

	if (size < offsetof(struct mlx5_ib_create_cq, flags))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	/* An adapter may have padding, real time or compression; this one has not. */
	if (req.flags || req.cqe_comp_en)
		return refuse(-EOPNOTSUPP, "CQ flags or compression");
	*place = (struct cq_place){ { req.buf_addr }, { req.db_addr }, req.cqe_size };
	return check_entry(req.cqe_size);
}

static int mlx5_take_resize(const void *in, size_t size, struct cq_place *place)
{
	struct mlx5_ib_resize_cq req;

	if (size < sizeof(req))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	if (req.reserved0 || req.reserved1)
		return refuse(-EINVAL, "reserved");
	*place = (struct cq_place){ .buffer.address = req.buf_addr, .entry = req.cqe_size };
	return check_entry(req.cqe_size);
}

/* ---- what the program calls its objects ---- */

/* The index must be sent if completions are to carry it, and not otherwise. */
static int take_index(uint32_t sent, uint8_t cqe_version, uint32_t *index)
{
	if (!cqe_version) {
		*index = 0;
		return sent && sent != NO_USER_INDEX ? refuse(-EINVAL, "user index") : 0;
	}
	*index = sent;
	return sent >= NO_USER_INDEX ? refuse(-EINVAL, "user index") : 0;
}

static int mlx5_take_srq(const void *in, size_t size, bool xrc, uint8_t cqe_version,
			 struct srq_place *place)
{
	struct mlx5_ib_create_srq req;

	if (size < offsetof(struct mlx5_ib_create_srq, reserved0))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	if (req.reserved0 || req.reserved1 || req.flags)
		return refuse(-EINVAL, "SRQ flags or reserved");
	*place = (struct srq_place){ { req.buf_addr }, { req.db_addr }, 0 };
	/* A basic SRQ's completions carry the index of the QP. */
	return xrc ? take_index(req.uidx, cqe_version, &place->user_index) : 0;
}

/* ---- queue pairs ---- */

/* The driver computes the receive queue's size, too: none if receives go to an SRQ. */
static int size_rq(const struct mlx5_ib_create_qp *req, bool has_rq, const struct limits *limits,
		   struct qp_caps *caps, struct qp_rings *rings)
{
	if (caps->max_recv_wr > (uint32_t)limits->max_qp_wr)
		return refuse(-EINVAL, "size of the receive queue");
	if (!has_rq) {
		caps->max_recv_wr = caps->max_recv_sge = 0;
		return req->rq_wqe_count || req->rq_wqe_shift
			       ? refuse(-EINVAL, "receives where there is no receive queue")
			       : 0;
	}
	if (req->rq_wqe_shift > MAX_SHIFT || !req->rq_wqe_count ||
	    req->rq_wqe_count & (req->rq_wqe_count - 1) || req->rq_wqe_count > MLX5_MAX_QUEUE ||
	    1u << req->rq_wqe_shift < SEGMENT_BYTES ||
	    /* libmlx5 rounds the bytes up to a power of two; only they count, not max_recv_sge */
	    1u << req->rq_wqe_shift >= 2 * SEGMENT_BYTES * (uint32_t)limits->max_sge)
		return refuse(-EINVAL, "driver's size of the receive queue");
	rings->rq.count = req->rq_wqe_count;
	rings->rq.shift = req->rq_wqe_shift;
	rings->max_recv_sge = (1u << req->rq_wqe_shift) / SEGMENT_BYTES;
	return 0;
}

static int size_sq(const struct mlx5_ib_create_qp *req, const struct limits *limits,
		   const struct qp_caps *caps, struct qp_rings *rings)
{
	if (caps->max_send_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_send_sge > (uint32_t)limits->max_sge || req->sq_wqe_count > MLX5_MAX_QUEUE ||
	    req->sq_wqe_count & (req->sq_wqe_count - 1))
		return refuse(-EINVAL, "size of the send queue");
	rings->sq.count = req->sq_wqe_count;
	rings->sq.shift = MLX5_WQE_SHIFT;
	return 0;
}

/* The receive queue first. Both have their word in one record, the send queue the second one. */
static void place_rings(const struct mlx5_ib_create_qp *req, struct qp_rings *rings)
{
	rings->rq.buffer.address = req->buf_addr;
	rings->sq.buffer.address =
		req->buf_addr + ((uint64_t)rings->rq.count << rings->rq.shift);
	rings->rq.record.address = req->db_addr;
	rings->sq.record.address = req->db_addr + sizeof(uint32_t);
}

static int mlx5_take_qp(const void *in, size_t size, enum ibv_qp_type type, bool shared,
			uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
			struct qp_rings *rings)
{
	struct mlx5_ib_create_qp req;
	int err;

	*rings = (struct qp_rings){ 0 };
	/* The driver is not even shown what came with an XRC target. */
	if (type == IBV_QPT_XRC_RECV)
		return 0;
	if (size < offsetof(struct mlx5_ib_create_qp, ece_options))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	/* SCATTER_CQE allows, but does not ask, to scatter small messages into completions. */
	if (req.flags & ~(uint32_t)MLX5_QP_FLAG_SCATTER_CQE)
		return refuse(-EINVAL, "QP flags");
	err = take_index(req.uidx, cqe_version, &rings->user_index);
	if (!err)
		err = size_rq(&req, type != IBV_QPT_XRC_SEND && !shared && caps->max_recv_wr,
			      limits, caps, rings);
	if (!err)
		err = size_sq(&req, limits, caps, rings);
	if (!err)
		place_rings(&req, rings);
	return err;
}

/* ---- the model ---- */

#define EDR_SPEED 32
#define ARM_NEVER 0x3f000000u

/* Send queues have no owner bits: their record counts the units that were posted. */
static struct place sq_word(const struct ring *sq)
{
	return sq->record;
}

static uint32_t sq_known(const struct ring *sq, uint32_t word)
{
	return sq->next + (uint16_t)(be32toh(word) - sq->next);
}

const struct model connectx5 = {
	.name = "connectx5",
	.title = "ConnectX-5",
	.device = "mlx5_",
	.modalias = "pci:v000015B3d00001017sv000015B3sd00000008bc02sc00i00",
	.hca_type = "MT4119",
	.firmware = "16.35.2000",
	.board_id = "MT_0000000008",
	.rate = "100 Gb/sec (4X EDR)",
	.fw_ver = 16ull << 32 | 35ull << 16 | 2000,
	.part_id = 0x1017,
	.link_speed = EDR_SPEED,
	.path_rate = IBV_RATE_100_GBPS,
	.ack_delay = 16,
	.timestamp_mask = 0x7fffffffffffffff,
	.clock_khz = 78125,
	.stamps_all = true,
	.driver_abi = 1,
	.max_groups = 2097152,
	.max_group_members = 240,
	.limits = {
		.max_qp = 131072, .max_cq = 65408, .max_srq = 65472, .max_mr = 524032,
		.max_pd = 32764,
		.max_qp_wr = MLX5_MAX_QUEUE, .max_sge = 30, .max_cqe = 4194303,
		.max_srq_wr = MLX5_MAX_QUEUE - 1, .max_srq_sge = 31,
		.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16,
	},
	.one_sequence = true,
	/* The first bytes of a WQE; be64 of what a CQ was armed for. */
	.send_bell = { 0x800, 8 },
	.arm_bell = { 0x20, 8 },
	.mmap_commands = true,
	.context = mlx5_context,
	.device_caps = mlx5_device_caps,
	.answer_ah = mlx5_answer_ah,
	.take_cq = mlx5_take_cq,
	.take_resize = mlx5_take_resize,
	.take_srq = mlx5_take_srq,
	.take_qp = mlx5_take_qp,
	.srqs_exceed_limits = true,
	.sq_word = sq_word,
	.sq_known = sq_known,
	.wqe_slots = mlx5_wqe_units,
	.parse_wqe = mlx5_parse_wqe,
	.build_cqe = mlx5_build_cqe,
	.roce_v2 = true,
	.tells_packet = true,
	.resize_opcode = CQE_RESIZE,
	/* Command and sequence are both 0 in the first arming of a CQ. */
	.arm = { [0] = ARM_NEXT, [1] = ARM_SOLICITED },
	/* The first arming writes zeroes, so a CQ that was never armed has this value. */
	.arm_never = ARM_NEVER,
	.flag_error = -EINVAL,
	.xrc_error = -EOPNOTSUPP,
	.never_drains = true,
};
