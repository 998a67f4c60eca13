/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The XRC API of 2011 (ibv_create_xsrq, srq->ext.xrc.srq_num), between OFED's and today's, on top
 * of today's header.
 *
 * No libibverbs was released with it, and the complete layout of its binaries is not known, so this
 * header is for sources. A program that is compiled with it is a program of today: it needs neither
 * the library of xrc-compat nor its command. If a name of that API means something else today, it
 * is a macro here for a type or function that begins with xsrq_.
 *
 * Difference: qp->srq is the provider's SRQ, so its type is not that of the program's own SRQs. If
 * another library creates SRQs, their srq_context must be even: events of an odd one name the wrong
 * object.
 */
#ifndef XSRQ_VERBS_H
#define XSRQ_VERBS_H

#include_next <infiniband/verbs.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sources of that time test for this macro. */
#define IBV_XRC_OPS 1

/* ---- Types ---- */

/* Marks an SRQ of this header by its handle. The kernel's handles count from 0. */
#define XSRQ_HANDLE 0xfffffffdu

/*
 * Has the layout of today's struct ibv_srq up to the handle. That struct has no room for the rest.
 * So the provider's SRQ is a second one, provider_srq.
 */
struct xsrq_srq {
	struct ibv_context *context;
	void *srq_context;
	struct ibv_pd *pd;
	uint32_t handle;
	enum ibv_srq_type srq_type;
	union {
		struct {
			struct ibv_xrcd *xrcd;
			struct ibv_cq *cq;
			uint32_t srq_num;
		} xrc;
	} ext;
	struct ibv_srq *provider_srq;
};

struct xsrq_srq_init_attr {
	void *srq_context;
	struct ibv_srq_attr attr;
	enum ibv_srq_type srq_type;
	union {
		struct {
			struct ibv_xrcd *xrcd;
			struct ibv_cq *cq;
		} xrc;
	} ext;
};

/* Has the layout of today's struct up to ext. */
struct xsrq_qp_init_attr {
	void *qp_context;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct xsrq_srq *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
	union {
		struct {
			struct ibv_xrcd *xrcd;
		} xrc_recv;
	} ext;
};

/*
 * Has the layout of today's struct. remote_srqn is where today's qp_type.xrc has it, behind the
 * other members of wr.
 */
struct xsrq_send_wr {
	uint64_t wr_id;
	struct xsrq_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_wr_opcode opcode;
	unsigned int send_flags;
	__be32 imm_data;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_ah *ah;
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
		struct {
			char others[offsetof(struct ibv_send_wr, qp_type) -
				    offsetof(struct ibv_send_wr, wr)];
			uint32_t remote_srqn;
		} xrc;
		char all[sizeof(struct ibv_send_wr) - offsetof(struct ibv_send_wr, wr)];
	} wr;
};

struct xsrq_async_event {
	union {
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct xsrq_srq *srq;
		int port_num;
	} element;
	enum ibv_event_type event_type;
};

/*
 * Today's functions get these structs without a copy. If rdma-core changes its own structs, this
 * does not compile.
 */
typedef char xsrq_check_srq[offsetof(struct ibv_srq, handle) == offsetof(struct xsrq_srq, handle)
				    ? 1
				    : -1];
typedef char xsrq_check_qp_attr
	[offsetof(struct xsrq_qp_init_attr, ext) >= sizeof(struct ibv_qp_init_attr) ? 1 : -1];
typedef char xsrq_check_send_wr[sizeof(struct xsrq_send_wr) == sizeof(struct ibv_send_wr) ? 1 : -1];
typedef char xsrq_check_event[sizeof(struct xsrq_async_event) == sizeof(struct ibv_async_event)
				      ? 1
				      : -1];

/* ---- Domains ---- */

static inline struct ibv_xrcd *xsrq_open_xrcd(struct ibv_context *context, int fd, int oflag)
{
	struct ibv_xrcd_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = fd;
	attr.oflags = oflag;
	return ibv_open_xrcd(context, &attr);
}

/* ---- SRQs ---- */

/* The provider's SRQ; srq itself if another library created it. */
static inline struct ibv_srq *xsrq_real(struct xsrq_srq *srq)
{
	return srq && srq->handle == XSRQ_HANDLE ? srq->provider_srq : (struct ibv_srq *)srq;
}

/*
 * The program's SRQ; real itself if another library created it. xsrq_fill() makes real's
 * srq_context odd; that of another library's SRQ must be even.
 */
static inline struct xsrq_srq *xsrq_of(struct ibv_srq *real)
{
	uintptr_t own = (uintptr_t)real->srq_context;

	return own & 1 ? (struct xsrq_srq *)(own - 1) : (struct xsrq_srq *)real;
}

static inline void xsrq_fill_attr_ex(struct ibv_srq_init_attr_ex *ex, struct ibv_pd *pd,
				     const struct xsrq_srq_init_attr *attr)
{
	memset(ex, 0, sizeof(*ex));
	ex->attr = attr->attr;
	ex->comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	ex->srq_type = attr->srq_type;
	ex->pd = pd;
	if (attr->srq_type != IBV_SRQT_XRC)
		return;
	ex->xrcd = attr->ext.xrc.xrcd;
	ex->cq = attr->ext.xrc.cq;
	ex->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
}

static inline int xsrq_fill(struct xsrq_srq *srq, struct ibv_srq *real, void *srq_context,
			    const struct ibv_srq_init_attr_ex *ex)
{
	real->srq_context = (char *)srq + 1;	/* for xsrq_of() */
	srq->context = ex->pd->context;
	srq->srq_context = srq_context;
	srq->pd = ex->pd;
	srq->handle = XSRQ_HANDLE;
	srq->srq_type = ex->srq_type;
	srq->provider_srq = real;
	if (ex->srq_type != IBV_SRQT_XRC)
		return 0;
	srq->ext.xrc.xrcd = ex->xrcd;
	srq->ext.xrc.cq = ex->cq;
	return ibv_get_srq_num(real, &srq->ext.xrc.srq_num);
}

static inline struct ibv_srq *xsrq_create_real(struct ibv_srq_init_attr_ex *ex)
{
	struct ibv_srq_init_attr basic;
	struct ibv_srq *real;

	if (ex->srq_type == IBV_SRQT_XRC)
		return ibv_create_srq_ex(ex->pd->context, ex);
	basic.srq_context = ex->srq_context;
	basic.attr = ex->attr;
	real = ibv_create_srq(ex->pd, &basic);
	ex->attr = basic.attr;
	return real;
}

static inline struct xsrq_srq *xsrq_create(struct xsrq_srq *srq, struct ibv_pd *pd,
					   struct xsrq_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex;
	struct ibv_srq *real;
	int before = errno, err;

	xsrq_fill_attr_ex(&ex, pd, attr);
	errno = 0;
	real = xsrq_create_real(&ex);
	if (!real) {
		/* libmlx4 refuses some sizes without setting errno. */
		errno = errno ? errno : EINVAL;
		return NULL;
	}
	errno = before;
	err = xsrq_fill(srq, real, attr->srq_context, &ex);
	if (err) {
		ibv_destroy_srq(real);
		errno = err;
		return NULL;
	}
	attr->attr = ex.attr;
	return srq;
}

/* free(3) may change errno before glibc 2.33. */
static inline void xsrq_free(struct xsrq_srq *srq)
{
	int err = errno;

	free(srq);
	errno = err;
}

static inline struct xsrq_srq *xsrq_create_xsrq(struct ibv_pd *pd, struct xsrq_srq_init_attr *attr)
{
	struct xsrq_srq *srq, *created;

	if (attr->srq_type == IBV_SRQT_XRC && (!attr->ext.xrc.xrcd || !attr->ext.xrc.cq)) {
		errno = EINVAL;
		return NULL;
	}
	srq = (struct xsrq_srq *)calloc(1, sizeof(*srq));
	created = srq ? xsrq_create(srq, pd, attr) : NULL;
	if (!created)
		xsrq_free(srq);
	return created;
}

/* Does not read srq_type and ext: callers of ibv_create_srq leave them uninitialised. */
static inline struct xsrq_srq *xsrq_create_srq(struct ibv_pd *pd, struct xsrq_srq_init_attr *attr)
{
	struct xsrq_srq_init_attr basic;
	struct xsrq_srq *srq;

	memset(&basic, 0, sizeof(basic));
	basic.srq_context = attr->srq_context;
	basic.attr = attr->attr;
	basic.srq_type = IBV_SRQT_BASIC;
	srq = xsrq_create_xsrq(pd, &basic);
	attr->attr = basic.attr;
	return srq;
}

static inline int xsrq_destroy_srq(struct xsrq_srq *srq)
{
	struct ibv_srq *real = xsrq_real(srq);
	int ret = ibv_destroy_srq(real);

	if (!ret && (void *)real != (void *)srq)
		free(srq);
	return ret;
}

static inline int xsrq_modify_srq(struct xsrq_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	return ibv_modify_srq(xsrq_real(srq), attr, mask);
}

static inline int xsrq_query_srq(struct xsrq_srq *srq, struct ibv_srq_attr *attr)
{
	return ibv_query_srq(xsrq_real(srq), attr);
}

static inline int xsrq_get_srq_num(struct xsrq_srq *srq, uint32_t *srq_num)
{
	return ibv_get_srq_num(xsrq_real(srq), srq_num);
}

static inline int xsrq_post_srq_recv(struct xsrq_srq *srq, struct ibv_recv_wr *wr,
				     struct ibv_recv_wr **bad_wr)
{
	return ibv_post_srq_recv(xsrq_real(srq), wr, bad_wr);
}

/* ---- QPs ---- */

/* A verb that gets today's struct changes only cap, which the caller copies back to attr. */
static inline void xsrq_fill_qp_attr(struct ibv_qp_init_attr *today,
				     const struct xsrq_qp_init_attr *attr)
{
	memcpy(today, attr, sizeof(*today));
	today->srq = xsrq_real(attr->srq);
}

static inline void xsrq_fill_qp_attr_ex(struct ibv_qp_init_attr_ex *ex, struct ibv_pd *pd,
					const struct xsrq_qp_init_attr *attr)
{
	memset(ex, 0, sizeof(*ex));
	xsrq_fill_qp_attr((struct ibv_qp_init_attr *)ex, attr);
	ex->pd = pd;
	ex->xrcd = attr->ext.xrc_recv.xrcd;
	ex->comp_mask = (uint32_t)IBV_QP_INIT_ATTR_XRCD | (pd ? (uint32_t)IBV_QP_INIT_ATTR_PD : 0);
}

static inline struct ibv_qp *xsrq_create_recv_qp(struct ibv_pd *pd, struct xsrq_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex;
	struct ibv_qp *qp;

	if (!attr->ext.xrc_recv.xrcd) {
		errno = EINVAL;
		return NULL;
	}
	xsrq_fill_qp_attr_ex(&ex, pd, attr);
	qp = ibv_create_qp_ex(attr->ext.xrc_recv.xrcd->context, &ex);
	attr->cap = ex.cap;
	return qp;
}

/* pd may be NULL for IBV_QPT_XRC_RECV. */
static inline struct ibv_qp *xsrq_create_qp(struct ibv_pd *pd, struct xsrq_qp_init_attr *attr)
{
	struct ibv_qp_init_attr today;
	struct ibv_qp *qp;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return xsrq_create_recv_qp(pd, attr);
	xsrq_fill_qp_attr(&today, attr);
	qp = ibv_create_qp(pd, &today);
	attr->cap = today.cap;
	return qp;
}

/*
 * For an ordinary QP, init->srq becomes qp->srq, which is the provider's. Does not write init->ext.
 */
static inline int xsrq_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
				struct xsrq_qp_init_attr *init)
{
	return ibv_query_qp(qp, attr, mask, (struct ibv_qp_init_attr *)init);
}

static inline int xsrq_post_send(struct ibv_qp *qp, struct xsrq_send_wr *wr,
				 struct xsrq_send_wr **bad_wr)
{
	return ibv_post_send(qp, (struct ibv_send_wr *)wr, (struct ibv_send_wr **)bad_wr);
}

/* ---- Asynchronous events ---- */

static inline int xsrq_is_srq_event(const struct xsrq_async_event *event)
{
	return event->event_type == IBV_EVENT_SRQ_ERR ||
	       event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
}

static inline int xsrq_get_async_event(struct ibv_context *context, struct xsrq_async_event *event)
{
	struct ibv_async_event today;
	int ret = ibv_get_async_event(context, &today);

	if (ret)
		return ret;
	memcpy(event, &today, sizeof(today));
	if (xsrq_is_srq_event(event))
		event->element.srq = xsrq_of(today.element.srq);
	return 0;
}

static inline void xsrq_ack_async_event(struct xsrq_async_event *event)
{
	struct ibv_async_event today;

	memcpy(&today, event, sizeof(today));
	if (xsrq_is_srq_event(event))
		today.element.srq = xsrq_real(event->element.srq);
	ibv_ack_async_event(&today);
}

#ifdef __cplusplus
}
#endif

/* ---- The names of 2011 ---- */

#define ibv_srq xsrq_srq
#define ibv_srq_init_attr xsrq_srq_init_attr
#define ibv_qp_init_attr xsrq_qp_init_attr
#define ibv_send_wr xsrq_send_wr
#define ibv_async_event xsrq_async_event

#define ibv_open_xrcd xsrq_open_xrcd
#define ibv_create_xsrq xsrq_create_xsrq
#define ibv_create_srq xsrq_create_srq
#define ibv_destroy_srq xsrq_destroy_srq
#define ibv_modify_srq xsrq_modify_srq
#define ibv_query_srq xsrq_query_srq
#define ibv_get_srq_num xsrq_get_srq_num
#define ibv_post_srq_recv xsrq_post_srq_recv
#define ibv_create_qp xsrq_create_qp
#define ibv_query_qp xsrq_query_qp
#define ibv_post_send xsrq_post_send
#define ibv_get_async_event xsrq_get_async_event
#define ibv_ack_async_event xsrq_ack_async_event

#endif
