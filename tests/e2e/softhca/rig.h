/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A small machine of verbs objects over the modern API, for the tests of the emulated HCA. */
#ifndef TEST_SOFTHCA_RIG_H
#define TEST_SOFTHCA_RIG_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_BUFFER 65536u
#define RIG_DEPTH  16

/* One host: a context with what most tests need. */
struct host {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* on the channel */
	struct ibv_mr *mr; /* all rights */
	uint8_t *buffer;   /* RIG_BUFFER bytes */
	uint16_t lid;
};

/* Ends the process with a message when the rig itself cannot be built: a test that cannot run has not passed. */
void rig_need(bool good, const char *what);
#define NEED(expression) rig_need(expression, #expression)

struct host *rig_host(int device);
void rig_free_host(struct host *host);

/* An RC, UC or UD QP (or XRC_SEND) of @host in RESET; @srq may be NULL. */
struct ibv_qp *rig_qp(struct host *host, enum ibv_qp_type type, struct ibv_srq *srq);

/* Attributes of a connection; rig_link is what a test changes before it connects. */
struct rig_link {
	uint32_t dest_qpn;
	uint32_t psn; /* first in both directions */
	uint16_t dlid;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer, max_dest_rd_atomic;
	int access;
	enum ibv_mtu mtu;
};

struct rig_link rig_link_to(uint32_t qpn, uint16_t lid);

/* 0 or the errno of ibv_modify_qp. */
int rig_init(struct ibv_qp *qp, const struct rig_link *link);
int rig_rtr(struct ibv_qp *qp, const struct rig_link *link);
int rig_rts(struct ibv_qp *qp, const struct rig_link *link);

/* What a query says. */
enum ibv_qp_state rig_state(struct ibv_qp *qp);

/* All three at once, in both directions, with these attributes (destinations are filled in). */
void rig_connect(struct host *a, struct ibv_qp *qp_a, struct host *b, struct ibv_qp *qp_b, struct rig_link link);

/* An XRC domain on @fd (-1: private), a shared receive queue and a target QP in it. */
struct ibv_xrcd *rig_domain(struct host *host, int fd, int oflags);
struct ibv_srq *rig_xrc_srq(struct host *host, struct ibv_xrcd *xrcd);
struct ibv_qp *rig_target(struct host *host, struct ibv_xrcd *xrcd);
uint32_t rig_srq_number(struct ibv_srq *srq);

/* Posts one request over part of the host's buffer. 0 or errno. */
int rig_post_recv(struct host *host, struct ibv_qp *qp, size_t offset, uint32_t length, uint64_t wr_id);
int rig_post_srq(struct host *host, struct ibv_srq *srq, size_t offset, uint32_t length, uint64_t wr_id);
struct ibv_send_wr rig_wr(struct host *host, struct ibv_sge *sge, enum ibv_wr_opcode opcode, size_t offset,
			  uint32_t length);
int rig_post(struct ibv_qp *qp, struct ibv_send_wr *wr);

/* Waits up to five seconds for one completion. False when none came. */
bool rig_poll(struct ibv_cq *cq, struct ibv_wc *wc);
/* The same with a patience of @milliseconds. */
/* For what must come, on however busy a machine. */
#define RIG_PATIENCE_MS 20000

bool rig_poll_within(struct ibv_cq *cq, struct ibv_wc *wc, int milliseconds);
/* True if no completion comes within @milliseconds. */
bool rig_quiet(struct ibv_cq *cq, int milliseconds);
/* Waits up to five seconds for an asynchronous event; it still has to be acknowledged. */
bool rig_async(struct ibv_context *ctx, struct ibv_async_event *event);
bool rig_readable(int fd, int milliseconds);

/* ---- a list of tests, each with its name ---- */

struct rig_case {
	const char *name;
	bool (*run)(void);
};

/* Runs all cases, or those named on the command line; prints one line each. Exit status. */
int rig_run(int argc, char **argv, const struct rig_case *cases, size_t count);

/* The main() of a program that runs a table of cases. */
#define RIG_MAIN(cases)                                                                                                \
	int main(int argc, char **argv)                                                                                \
	{                                                                                                              \
		return rig_run(argc, argv, cases, sizeof(cases) / sizeof((cases)[0]));                                 \
	}

/* Within a case: says what is not as it should be and ends the case. */
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			rig_complain(#condition, __LINE__);                                                            \
			return false;                                                                                  \
		}                                                                                                      \
	} while (0)
void rig_complain(const char *condition, int line);

#endif
