/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Queue pairs: their life, their state machine and their queues. */
#ifndef SOFTHCA_QP_H
#define SOFTHCA_QP_H

#include <machine/hca.h>
#include <machine/mem.h>
#include <objects/objects.h>

#define PSN_MASK 0xffffffu /* of sequence numbers, and of QP numbers */

/* A QP that is attached to a multicast group. */
struct hca_member {
	struct list peer; /* device->members */
	struct list link; /* qp->groups */
	uint8_t gid[16];
	uint16_t lid;
	struct hca_qp *qp;
};

struct hca_qp_attr {
	struct ib_uverbs_qp_dest dest, alt_dest;
	uint32_t qkey, rq_psn, sq_psn, dest_qpn, access;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t path_mtu, path_mig_state, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
	uint8_t port, timeout, retry_cnt, rnr_retry, alt_port, alt_timeout;
};

/* A piece of a message that is on its way to another machine. */
struct hca_flight {
	uint64_t tag; /* that its answer has */
	uint64_t since; /* when it was sent first */
	uint64_t offset;
	uint32_t slots, packets, part;
	bool last; /* of its message */
	bool reads; /* what comes back changes memory here */
};

/* What a QP has sent to another machine and has no answer to, in its order. */
#define HCA_FLIGHTS 16
struct hca_away {
	struct hca_flight flight[HCA_FLIGHTS];
	unsigned int first, count;
	unsigned int resent; /* how many, from the first on, were sent before */
	uint32_t slots; /* of messages that are sent to their end */
	uint32_t packets; /* of all flights */
	uint64_t round_trip; /* nanoseconds until the last answer came */
	uint32_t begun; /* the slot behind the last message that was begun */
};

/* The request at hand of a QP that sends, its attempts, and the lists of work that the QP is in. */
struct qp_sender {
	struct list ready; /* machine->ready */
	struct list unanswered; /* machine->unanswered */
	struct list held; /* machine->held */
	struct timer retry;
	/* attempts of the WQE at hand that got no answer, and that found no buffer */
	unsigned int lost, not_ready;
	/* bytes of the WQE at hand that a peer of this machine has, or that were sent to another */
	uint64_t sent;
	bool started; /* the WQE at hand was tried at least once */
	/* reads and atomics that an adapter would have under way, the one at hand included */
	uint8_t reading;
	bool delayed; /* the next message has been late enough */
	bool waiting; /* for the retry timer, or until something else comes up */
	bool notify_drained;
	struct hca_away *away; /* NULL: it has sent nothing to another machine */
};

/* What a QP knows of the requests that it has received. */
struct qp_receiver {
	bool communicating; /* COMM_EST has been raised */
	uint32_t msn; /* messages that have arrived */
	/* whether an atomic has come; the last one's sequence number, and the word in its answer */
	bool atomic_known;
	uint32_t atomic_psn;
	uint64_t atomic_old;
	/* SRQ whose WQE claimed_index a message has begun to fill; 0 = none */
	uint32_t claimed_srqn;
	uint16_t claimed_index;
};

/*
 * A queue pair. The files of wire/ change send, recv, state, and the numbers of packets in attr. An
 * XRC target can have many handles, in many processes.
 */
struct hca_qp {
	struct hca_device *device;
	struct hca_context *ctx; /* owner of the rings; NULL for an XRC target QP */
	struct list link; /* ctx->qps */
	struct list handles;
	enum ibv_qp_type type;
	uint32_t qpn;
	enum ibv_qp_state state;
	struct list failed; /* machine->failed */
	struct hca_qp_attr attr;

	/* as it was created */
	struct hca_pd *pd;
	struct hca_cq *send_cq, *recv_cq;
	struct hca_srq *srq;
	struct hca_xrcd *xrcd; /* XRC target only */
	bool sq_sig_all;
	bool not_to_self; /* its messages to a group do not come back to it */
	uint32_t max_send_wr, max_send_sge, max_recv_sge, max_inline;
	uint32_t user_index;

	struct ring sq, rq;
	struct qp_sender send;
	struct qp_receiver recv;
	struct list groups; /* the memberships */
	struct hca_counts counts;
};

/* A QP in a context. */
struct hca_qp_handle {
	struct hca_object obj;
	struct hca_qp *qp;
	struct list peer; /* qp->handles */
	struct hca_xrcd_handle *domain; /* XRC target only */
	uint64_t user_handle;
	uint32_t async_events;
	bool opened; /* by ibv_open_qp */
};

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

/* The QP of this number, or NULL. */
struct hca_qp *qp_find(const struct hca_device *device, uint32_t qpn);

/* Whether its QP has no older handle: so a walk over all handles meets each QP once. */
bool qp_oldest_handle(const struct hca_qp_handle *handle);

/* 0 or -EINVAL; -ENODATA: empty GID entry; -ETIMEDOUT: no port has the GID. */
int qp_modify(struct hca_qp *qp, const struct ib_uverbs_modify_qp *request);

/* Brings the QP to ERR, and flushes its posted requests. Raises no event: the caller does. */
void qp_fail(struct hca_qp *qp);

/* Bytes of a packet's payload. */
uint32_t qp_mtu(const struct hca_qp *qp);

/* ---- masks of attributes: the kernel's rules (qp_mask.c) ---- */

/* @mask without the bits that uverbs removes before ib_core sees it. */
uint32_t qp_mask_strip(enum ibv_qp_type type, uint32_t mask);

/*
 * ib_core's ib_modify_qp_is_ok(), after uverbs has added the port to an address vector that is not
 * on the way to RTR.
 */
bool qp_mask_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type, uint32_t mask);

/* ---- send queues: which have work, and what becomes of requests (sq.c) ---- */

void sq_init(struct hca_qp *qp);

/* The slot of the request to be executed next: behind those that are on their way elsewhere. */
uint32_t sq_next(const struct hca_qp *qp);

/* The sequence number of the next packet: behind those on their way elsewhere. */
uint32_t sq_psn(const struct hca_qp *qp);

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

/* ---- pieces of requests on their way to another machine (away.c) ---- */

/* Comes before away_add(). False: no memory. */
bool away_begin(struct hca_qp *qp);

/* How many are on their way. */
unsigned int away_count(const struct hca_qp *qp);

/* The @nth of them, from 0 on. */
struct hca_flight *away_flight(const struct hca_qp *qp, unsigned int nth);

/*
 * One more, behind the others. Fills in its tag and its time. A piece that is sent again has those
 * that it had: an answer to the first try may still come.
 */
void away_add(struct hca_qp *qp, struct hca_flight *flight);

/* The oldest has its answer. */
struct hca_flight away_take(struct hca_qp *qp);

/* All are to be sent again. */
void away_recall(struct hca_qp *qp);

/* None is to be sent again. */
void away_forget(struct hca_qp *qp);

/* ---- receive queues seen alike: own ring, shared receive queue, XRC SRQ (recv.c) ---- */

/* Where the messages for @qp go. */
struct recv_queue {
	struct hca_qp *qp;
	struct hca_srq *srq; /* NULL = the QP's own ring */
	struct hca_pd *pd;   /* of the keys that count */
	struct hca_cq *cq;
	struct hca_context *ctx;
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

/* The path and the peer of a connected QP, as those of a datagram; and such a path back. */
struct av path_av(const struct hca_qp *qp);
struct ib_uverbs_qp_dest path_dest(const struct av *av);

/* Brings the QP to its alternate path, with the event. False: not armed, or that port is down. */
bool path_migrate(struct hca_qp *qp);

/* A port has gone down: QPs that are armed on it migrate. */
void path_leave(struct hca_device *device, uint8_t port);

/* Messages of @qp arrive on the path that @peer uses, and are answered there. */
bool path_used(const struct hca_qp *qp, const struct hca_qp *peer);

/* @qp has migrated, and what it sends arrives on the alternate path of @peer, which is armed. */
bool path_offered(const struct hca_qp *qp, const struct hca_qp *peer);

/*
 * A packet of @qp has reached @peer. If @qp has migrated, @peer migrates too; otherwise both become
 * armed.
 */
void path_met(struct hca_qp *qp, struct hca_qp *peer);

/* ---- asynchronous events (qp_event.c) ---- */

/* An event for the handles of the QP in every process; opened handles only with open_events. */
void event_qp(struct hca_qp *qp, enum ibv_event_type type);

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
