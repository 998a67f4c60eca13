/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Queue pairs: their life, their state machine and their queues. */
#ifndef SOFTHCA_QP_H
#define SOFTHCA_QP_H

#include <machine/hca.h>
#include <machine/mem.h>
#include <objects/objects.h>

#define PSN_MASK 0xffffffu /* of sequence numbers, and of QP numbers */

struct qp_request {
	uint64_t user_handle;
	enum ibv_qp_type type;
	struct hca_pd *pd;
	struct hca_cq *send_cq, *recv_cq;
	struct hca_srq *srq;
	struct hca_xrcd_handle *domain; /* XRC target */
	bool sq_sig_all;
	bool not_to_self;
	struct qp_caps caps; /* as they are given */
	struct qp_rings rings;
};

/* 0 or -ENOMEM. */
int qp_create(struct hca_context *ctx, const struct qp_request *request,
	      struct hca_qp_handle **handle);

/* One handle of each QP is the first, so that a walk over all handles meets each QP once. */
bool qp_first_handle(const struct hca_qp_handle *handle);

/* 0 or -EINVAL; -ENODATA: empty GID entry; -ETIMEDOUT: no port has the GID. */
int qp_modify(struct hca_qp *qp, const struct ib_uverbs_modify_qp *request);

/* Brings the QP to ERR, and flushes its posted requests. Raises no event: the caller does. */
void qp_fail(struct hca_qp *qp);

/* Bytes of a packet's payload. */
uint32_t qp_mtu(const struct hca_qp *qp);

/* ---- masks of attributes: the kernel's rules (qp_mask.c) ---- */

/* @mask without the bits that uverbs removes before ib_core sees it. */
uint32_t qp_mask_strip(enum ibv_qp_type type, uint32_t mask);

/* ib_core's ib_modify_qp_is_ok(). */
bool qp_mask_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type, uint32_t mask);

/* ---- send queues: which have work, and what becomes of requests (sq.c) ---- */

void sq_init(struct hca_qp *qp);

/* The slot of the request to be executed next: behind those that are on their way elsewhere. */
uint32_t sq_next(const struct hca_qp *qp);

/* How many pieces of requests are on their way to another machine. */
unsigned int sq_away(const struct hca_qp *qp);

/* The @place-th of them; the place behind the last is for the next one. */
struct hca_flight *sq_flight(struct hca_away *away, unsigned int place);

/* The sequence number of the next packet: behind those on their way elsewhere. */
uint32_t sq_psn(const struct hca_qp *qp);

/* All that is on its way is to be sent again. */
void sq_recall(struct hca_qp *qp);

/* The first request has made progress, or is complete: its retries are counted from 0 again. */
void sq_settle(struct hca_qp *qp);

/* No timer, no place in any list of work; for a QP that goes, resets or fails. */
void sq_stop(struct hca_qp *qp);

/* Whether there is a request to be executed. */
bool sq_posted(struct hca_qp *qp);

/* Reads the request at @slot. SYNDROME_OK, or the syndrome of one that cannot be executed. */
enum syndrome sq_fetch(const struct hca_qp *qp, uint32_t slot, struct wqe *wqe);

/* Ends the first request. It completes if signalled, or failed. @wqe is NULL if it was not read. */
void sq_complete(struct hca_qp *qp, const struct wqe *wqe, uint8_t syndrome);

/* Completes everything posted with a flush error. */
void sq_flush(struct hca_qp *qp);

/* True if the QP's state lets it execute. */
bool sq_may_execute(const struct hca_qp *qp);

/* Puts the QP into the list of work if there is any. */
void sq_kick(struct hca_qp *qp);

/* The same for all QPs with rings in a context, whose doorbell has rung for one of them. */
void sq_kick_all(struct hca_context *ctx);

/* All QPs that wait for an answer retry at once. */
void sq_retry_unanswered(struct hca_machine *machine);

/* The QP is in SQD: says when the send queue has come to rest. */
void sq_drain(struct hca_qp *qp);

/* ---- receive queues seen alike: own ring, shared receive queue, XRC SRQ (recv.c) ---- */

/* Where the messages for @qp go. */
struct recv_queue {
	struct hca_qp *qp;
	struct hca_srq *srq; /* NULL = the QP's own ring */
	struct hca_pd *pd;   /* of the keys that count */
	struct hca_cq *cq;
	const struct hca_context *ctx;
};

/* @srqn matters to XRC targets only. False when there is no such SRQ in the QP's domain. */
bool recv_queue_of(struct hca_qp *qp, uint32_t srqn, struct recv_queue *queue);

bool recv_available(const struct recv_queue *queue);

/* The scatter list of the next WQE. Number of entries. */
uint32_t recv_peek(const struct recv_queue *queue, struct sge sge[WQE_MAX_SGE]);

/* The message in several pieces that begins keeps the SRQ's next WQE until its completion. */
void recv_claim(const struct recv_queue *queue);

/* Takes the next WQE and writes its completion; fills in what the queue knows about it. */
void recv_complete(const struct recv_queue *queue, struct cqe *cqe, bool solicited);

/* A QP in ERR: completes what is posted to its own ring. */
void recv_flush(struct hca_qp *qp);

/* ---- multicast: which QPs of a device get what is sent to a group (mcast.c) ---- */

/* 0; -EINVAL for a QP or a name that cannot be; -ENOMEM: the device or the group is full. */
int mcast_attach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid);

/* 0, or -EINVAL when it is not attached. */
int mcast_detach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid);

/* The QP goes. */
void mcast_detach_all(struct hca_qp *qp);

bool mcast_is_member(const struct hca_member *member, const uint8_t gid[16], uint16_t lid);

/* ---- paths, and their migration (path.c; InfiniBand specification 17.2.8) ---- */

/* The QP's state lets messages in. */
bool path_receives(const struct hca_qp *qp);

/* The QP behind this port, if it is up and of the type that @qp talks to, or NULL. */
struct hca_qp *path_peer(const struct hca_qp *qp, uint16_t lid, uint32_t qpn);

/* Brings the QP to its alternate path, with the event. False: not armed, or that port is down. */
bool path_migrate(struct hca_qp *qp);

/* A port has gone down: QPs that are armed on it migrate. */
void path_leave(struct hca_device *device, uint8_t port);

/* Messages of @qp arrive on the path that @peer uses, and are answered there. */
bool path_used(const struct hca_qp *peer, const struct hca_qp *qp);

/* @qp has migrated, and what it sends arrives on the alternate path of @peer, which is armed. */
bool path_offered(const struct hca_qp *peer, const struct hca_qp *qp);

/*
 * A packet of @qp has reached @peer. If @qp has migrated, @peer migrates too; otherwise both become
 * armed.
 */
void path_met(struct hca_qp *peer, struct hca_qp *qp);

/* ---- what a QP and its port have done ---- */

static inline struct hca_counts *count_port(struct hca_qp *qp)
{
	return &qp->device->port[qp->attr.port].counts;
}

static inline void count_sent(struct hca_qp *qp, uint64_t bytes)
{
	qp->counts.sent++;
	qp->counts.sent_bytes += bytes;
	count_port(qp)->sent++;
	count_port(qp)->sent_bytes += bytes;
}

static inline void count_received(struct hca_qp *qp, uint64_t bytes)
{
	qp->counts.received++;
	qp->counts.received_bytes += bytes;
	count_port(qp)->received++;
	count_port(qp)->received_bytes += bytes;
}

static inline void count_error(struct hca_qp *qp, uint8_t syndrome)
{
	if (syndrome == SYNDROME_FLUSH)
		return;
	qp->counts.errors++;
	count_port(qp)->errors++;
}

/* ---- commands ---- */

cmd_fn cmd_create_qp, cmd_ex_create_qp, cmd_open_qp, cmd_modify_qp, cmd_query_qp, cmd_destroy_qp;
cmd_fn cmd_attach_mcast, cmd_detach_mcast;

#endif
