/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Hosts, QPs, XRC objects and requests over the modern API: to test the emulated HCA. */
#ifndef TEST_SOFTHCA_RIG_H
#define TEST_SOFTHCA_RIG_H

#include <harness/row.h>

#include <infiniband/verbs.h>
#include <stdint.h>
#include <sys/types.h>

#define RIG_BUFFER 65536u
#define RIG_LONG   (3u * 256 << 10) /* three of the pieces that are moved or lost at once */
#define RIG_DEPTH  16
#define RIG_QKEY   0x11111111u
#define RIG_PSN	   0x1234u

/* The attribute masks of RC's three transitions. */
#define MASK_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define MASK_RTR \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define MASK_RTS \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

/* One host: a context and the objects that most tests need. */
struct host {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* on the channel */
	struct ibv_mr *mr; /* all rights */
	uint8_t *buffer;   /* RIG_BUFFER bytes */
	uint16_t lid;
};

/* As must() for a verb that returns an object: returns the object, or ends the row. */
void *rig_made(void *object, const char *what, const char *file, int line);
#define MADE(expression) rig_made(expression, #expression, __FILE__, __LINE__)

struct host *rig_host(int device);
void rig_free_host(struct host *host);

/* An RC, UC or UD QP (or XRC_SEND) of @host in RESET; @srq may be NULL. */
struct ibv_qp *rig_qp(struct host *host, enum ibv_qp_type type, struct ibv_srq *srq);
struct ibv_srq *rig_srq(struct host *host, uint32_t max_wr);
/* Makes and frees rings that are large enough for other memory to take their place. */
void rig_free_rings(struct host *host);
/* Private memory of this size. */
uint8_t *rig_map(size_t length);
/* The first mapping of /proc/self/maps with this in its name that ends above @from, if any. */
struct rig_mapping {
	uintptr_t begin, end, offset;
};
bool rig_find_mapping(const char *name, uintptr_t from, struct rig_mapping *found);
/* A region with all rights. */
struct ibv_sge rig_region(struct host *host, uint8_t *at, size_t length);
/* Gives the host other memory as its buffer. rig_free_host() cannot free such a host. */
void rig_use(struct host *host, uint8_t *at, size_t length);

/* Attributes of a connection. A test may change the defaults of rig_link_to(). */
struct rig_link {
	uint32_t dest_qpn;
	uint32_t psn; /* first in both directions */
	uint16_t dlid, pkey_index;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer, max_dest_rd_atomic;
	int access;
	enum ibv_mtu mtu;
};

struct rig_link rig_link_to(uint32_t qpn, uint16_t lid);

/* 0 or the errno of ibv_modify_qp. */
int rig_init(struct ibv_qp *qp, const struct rig_link *link);
int rig_rtr(struct ibv_qp *qp, const struct rig_link *link);
int rig_rts(struct ibv_qp *qp, const struct rig_link *link);
/* INIT, RTR and RTS; for a target only INIT and RTR, its last state. */
int rig_bring_up(struct ibv_qp *qp, const struct rig_link *link);
/* With IBV_QP_STATE alone, which suffices for RESET, for ERR, and from SQE to RTS. */
int rig_to_state(struct ibv_qp *qp, enum ibv_qp_state state);

struct ibv_qp_attr rig_attr(struct ibv_qp *qp);
enum ibv_qp_state rig_state(struct ibv_qp *qp);

/* Brings both up, each with the other as its destination. */
void rig_connect(struct host *a, struct ibv_qp *qp_a, struct host *b, struct ibv_qp *qp_b);

/* Posts one request over part of the host's buffer. 0 or errno. */
int rig_post_recv(struct host *host, struct ibv_qp *qp, size_t offset, uint32_t length,
		  uint64_t wr_id);
int rig_post_srq(struct host *host, struct ibv_srq *srq, size_t offset, uint32_t length,
		 uint64_t wr_id);
/* A receive for any memory, posted to the SRQ, or to the QP if @srq is NULL. */
int rig_post_sge(struct ibv_qp *qp, struct ibv_srq *srq, struct ibv_sge sge, uint64_t wr_id);
/* A signaled request with wr_id 77. Its SGE is one of 64, which the requests use in turn. */
struct ibv_send_wr rig_wr(struct host *host, enum ibv_wr_opcode opcode, size_t offset,
			  uint32_t length);
int rig_post(struct ibv_qp *qp, struct ibv_send_wr *wr);

/* The time limit for completions and events that must come, long enough for a busy machine. */
#define RIG_PATIENCE_MS 20000

/* As ibv_poll_cq for one completion, but waits for it. */
int rig_poll(struct ibv_cq *cq, struct ibv_wc *wc, int milliseconds);
/* Waits until a byte that is 0 has another value. */
bool rig_changes(const uint8_t *byte);
bool rig_readable(int fd, int milliseconds);

/*
 * The assertions below wait for what must come. If something else comes, or nothing, they end the
 * row and tell what came, and the line of their caller.
 */

/* The CQ's next completion, of any request with success, or of this request with this status. */
#define rig_must_succeed(cq) rig_must_succeed_at(cq, __FILE__, __LINE__)
struct ibv_wc rig_must_succeed_at(struct ibv_cq *cq, const char *file, int line);
#define rig_must_complete(cq, wr_id, status) \
	rig_must_complete_at(cq, wr_id, status, __FILE__, __LINE__)
struct ibv_wc rig_must_complete_at(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
				   const char *file, int line);
/* Posts a request. The next completion of the QP's send CQ must be its, with this status. */
#define rig_must_send(qp, wr, status) rig_must_send_at(qp, wr, status, __FILE__, __LINE__)
void rig_must_send_at(struct ibv_qp *qp, struct ibv_send_wr *wr, enum ibv_wc_status status,
		      const char *file, int line);
/* No completion comes within @milliseconds. */
#define rig_must_be_quiet(cq, milliseconds) \
	rig_must_be_quiet_at(cq, milliseconds, __FILE__, __LINE__)
void rig_must_be_quiet_at(struct ibv_cq *cq, int milliseconds, const char *file, int line);
/* The next asynchronous event. The caller acknowledges it. */
#define rig_must_get_event(ctx) rig_must_get_event_at(ctx, __FILE__, __LINE__)
struct ibv_async_event rig_must_get_event_at(struct ibv_context *ctx, const char *file, int line);
/* The host's next asynchronous event is this one, of this QP, CQ or SRQ. It is acknowledged. */
#define rig_must_hear(host, type, object) rig_must_hear_at(host, type, object, __FILE__, __LINE__)
void rig_must_hear_at(struct host *host, enum ibv_event_type type, const void *object,
		      const char *file, int line);
#define rig_must_hear_nothing(ctx, milliseconds) \
	rig_must_hear_nothing_at(ctx, milliseconds, __FILE__, __LINE__)
void rig_must_hear_nothing_at(struct ibv_context *ctx, int milliseconds, const char *file,
			      int line);
/* The host's CQ raises a completion event. It is acknowledged. */
#define rig_must_be_notified(host) rig_must_be_notified_at(host, __FILE__, __LINE__)
void rig_must_be_notified_at(struct host *host, const char *file, int line);

/* ---- XRC objects: NULL, with errno, where the verb refuses ---- */

/* The descriptor of a file that no other process has, for a domain. */
int xrc_file(void);
/* @fd -1: a private domain. */
struct ibv_xrcd *xrc_domain(struct host *host, int fd, int oflags);
struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd, uint32_t max_wr,
			uint32_t max_sge);
struct ibv_qp *xrc_target(struct host *host, struct ibv_xrcd *xrcd);
/* One more handle of a target. */
struct ibv_qp *xrc_open(struct host *host, struct ibv_xrcd *xrcd, uint32_t qpn);
uint32_t xrc_srq_number(struct ibv_srq *srq);

#endif
