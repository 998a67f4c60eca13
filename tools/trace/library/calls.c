/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions in front of the shim's: each calls the next definition and tells what happened. Results, errno and
 * out-parameters are the shim's own.
 */
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <abi/export.h>
#include <infiniband/verbs.h>

#define NODE "IBVERBS_1.1"

/* Found anew each time: a legacy call takes microseconds, and nothing has to be locked or kept. */
static void *next(const char *name)
{
	return dlvsym(RTLD_NEXT, name, NODE);
}

static uint64_t number_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Without a shim behind us the program would have ended here; it may as well learn it as an error. */
static int absent(void)
{
	errno = ENOSYS;
	return ENOSYS;
}

SHIM_EXPORT(ibv_open_xrc_domain)
struct ibv_xrc_domain *shim_ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag)
{
	struct ibv_xrc_domain *(*call)(struct ibv_context *, int, int) = next("ibv_open_xrc_domain");
	struct ibv_xrc_domain *domain = NULL;
	struct trace_record record;

	trace_begin(&record, TRACE_OPEN_DOMAIN);
	if (call)
		domain = call(context, fd, oflag);
	else
		absent();
	record.context = number_of(context);
	record.fd = fd;
	record.flags = oflag;
	record.domain = number_of(domain);
	trace_end(&record, (int64_t)number_of(domain), !domain);
	return domain;
}

SHIM_EXPORT(ibv_close_xrc_domain)
int shim_ibv_close_xrc_domain(struct ibv_xrc_domain *domain)
{
	int (*call)(struct ibv_xrc_domain *) = next("ibv_close_xrc_domain");
	struct trace_record record;
	int result;

	trace_begin(&record, TRACE_CLOSE_DOMAIN);
	result = call ? call(domain) : absent();
	record.domain = number_of(domain);
	trace_end(&record, result, result);
	return result;
}

SHIM_EXPORT(ibv_create_xrc_srq)
struct ibv_srq *shim_ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_cq *cq,
					struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *(*call)(struct ibv_pd *, struct ibv_xrc_domain *, struct ibv_cq *, struct ibv_srq_init_attr *) =
		next("ibv_create_xrc_srq");
	struct trace_record record;
	struct ibv_srq *srq = NULL;

	trace_begin(&record, TRACE_CREATE_SRQ);
	record.max_wr = attr ? attr->attr.max_wr : 0;
	record.max_sge = attr ? attr->attr.max_sge : 0;
	if (call)
		srq = call(pd, domain, cq, attr);
	else
		absent();
	record.context = number_of(pd);
	record.domain = number_of(domain);
	record.cq = number_of(cq);
	record.srq_num = srq ? srq->xrc_srq_num : 0;
	trace_end(&record, (int64_t)number_of(srq), !srq);
	return srq;
}

SHIM_EXPORT(ibv_create_xrc_rcv_qp)
int shim_ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *attr, uint32_t *qp_num)
{
	int (*call)(struct ibv_qp_init_attr *, uint32_t *) = next("ibv_create_xrc_rcv_qp");
	struct trace_record record;
	int result;

	trace_begin(&record, TRACE_CREATE_RCV_QP);
	record.domain = attr ? number_of(attr->xrc_domain) : 0;
	result = call ? call(attr, qp_num) : absent();
	record.qp_num = result ? 0 : *qp_num;
	trace_end(&record, result, result);
	return result;
}

SHIM_EXPORT(ibv_modify_xrc_rcv_qp)
int shim_ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num, struct ibv_qp_attr *attr, int mask)
{
	int (*call)(struct ibv_xrc_domain *, uint32_t, struct ibv_qp_attr *, int) = next("ibv_modify_xrc_rcv_qp");
	struct trace_record record;
	int result;

	_Static_assert(sizeof(*attr) == sizeof(record.attr), "the record holds the legacy struct");
	trace_begin(&record, TRACE_MODIFY_RCV_QP);
	if (attr)
		memcpy(record.attr, attr, sizeof(record.attr));
	result = call ? call(domain, qp_num, attr, mask) : absent();
	record.domain = number_of(domain);
	record.qp_num = qp_num;
	record.flags = mask;
	trace_end(&record, result, result);
	return result;
}

SHIM_EXPORT(ibv_query_xrc_rcv_qp)
int shim_ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num, struct ibv_qp_attr *attr, int mask,
			      struct ibv_qp_init_attr *init_attr)
{
	int (*call)(struct ibv_xrc_domain *, uint32_t, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *) =
		next("ibv_query_xrc_rcv_qp");
	struct trace_record record;
	int result;

	trace_begin(&record, TRACE_QUERY_RCV_QP);
	result = call ? call(domain, qp_num, attr, mask, init_attr) : absent();
	if (!result)
		memcpy(record.attr, attr, sizeof(record.attr));
	record.domain = number_of(domain);
	record.qp_num = qp_num;
	record.flags = mask;
	trace_end(&record, result, result);
	return result;
}

static int registration(enum trace_call which, const char *name, struct ibv_xrc_domain *domain, uint32_t qp_num)
{
	int (*call)(struct ibv_xrc_domain *, uint32_t) = next(name);
	struct trace_record record;
	int result;

	trace_begin(&record, which);
	result = call ? call(domain, qp_num) : absent();
	record.domain = number_of(domain);
	record.qp_num = qp_num;
	trace_end(&record, result, result);
	return result;
}

SHIM_EXPORT(ibv_reg_xrc_rcv_qp)
int shim_ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num)
{
	return registration(TRACE_REG, "ibv_reg_xrc_rcv_qp", domain, qp_num);
}

SHIM_EXPORT(ibv_unreg_xrc_rcv_qp)
int shim_ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num)
{
	return registration(TRACE_UNREG, "ibv_unreg_xrc_rcv_qp", domain, qp_num);
}

/* Before the call: the capacities come back as what was granted. */
static void note_attr(struct trace_record *record, const struct ibv_qp_init_attr *attr)
{
	record->domain = number_of(attr->xrc_domain);
	record->cq = number_of(attr->send_cq);
	record->recv_cq = number_of(attr->recv_cq);
	record->max_wr = attr->cap.max_send_wr;
	record->max_sge = attr->cap.max_send_sge;
}

/* Only XRC QPs are told of; init_attr of others may be the shorter struct of a program without XRC. */
SHIM_EXPORT(ibv_create_qp)
struct ibv_qp *shim_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *(*call)(struct ibv_pd *, struct ibv_qp_init_attr *) = next("ibv_create_qp");
	struct trace_record record;
	struct ibv_qp *qp = NULL;

	if (call && !(attr && attr->qp_type == IBV_QPT_XRC))
		return call(pd, attr);
	trace_begin(&record, TRACE_CREATE_QP);
	if (attr)
		note_attr(&record, attr);
	if (call)
		qp = call(pd, attr);
	else
		absent();
	record.context = number_of(pd);
	record.qp_num = qp ? qp->qp_num : 0;
	trace_end(&record, (int64_t)number_of(qp), !qp);
	return qp;
}
