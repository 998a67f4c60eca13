/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor's verbs on domains, SRQs, QPs and receive QPs. */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "row.h"
#include "state.h"

/* Fills arguments that must not be read. */
#define GARBAGE_BYTE 0xa5

/* Fills results before they are written. */
#define OLD_BYTE 0xee

/* What srq_context and qp_context point to. */
static char user_context;

/* An address that no object has; reading there crashes. */
static void *wild_pointer(void)
{
	static void *page;

	if (!page)
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page;
}

static struct ibv_xrc_domain *dom_argument(const struct actor_state *state, int dom)
{
	if (dom == NIL)
		return NULL;
	return dom == WILD ? wild_pointer() : state->doms[dom];
}

static void *unless(unsigned flag, const struct request *request, void *argument)
{
	return request->flags & flag ? NULL : argument;
}

/* The program may close the file right after the open, as GASNet does. */
OPERATION(open_domain)
{
	int access = request->flags & WRITE_ONLY ? O_WRONLY : O_RDONLY, fd = -1;
	struct ibv_context *context = place_get(state, request->where)->context;
	struct ibv_xrc_domain *dom;

	if (request->file != PRIVATE)
		fd = open(request->file == CLOSED ? "/dev/null" : row_file(request->file),
			  access | O_CREAT, 0600);
	if (request->file == CLOSED)
		close(fd);
	CALL_POINTER(dom, ibv_open_xrc_domain(context, fd, request->oflag));
	if (request->file < FILES)
		close(fd);
	if (!dom)
		return;
	result->as_given = dom->context == context;
	state->doms[request->dom] = dom;
}

OPERATION(close_domain)
{
	CALL(ibv_close_xrc_domain(dom_argument(state, request->dom)));
}

/*
 * Offsets of the number in OFED 1.x, and of number, domain and CQ in MLNX_OFED 2 to 4 (contract 2.1
 * and 2.6). The mutex of aarch64 is 8 bytes longer than that of x86-64.
 */
#if defined(__x86_64__)
#define OFED_NUMBER 32
#define MLNX_NUMBER 152
#define MLNX_DOMAIN 160
#define MLNX_CQ 168
#elif defined(__aarch64__)
#define OFED_NUMBER 32
#define MLNX_NUMBER 160
#define MLNX_DOMAIN 168
#define MLNX_CQ 176
#else
#define OFED_NUMBER 20
#define MLNX_NUMBER 108
#define MLNX_DOMAIN 112
#define MLNX_CQ 116
#endif

static uint32_t number_at(const struct ibv_srq *srq, size_t offset)
{
	uint32_t number;

	memcpy(&number, (const char *)srq + offset, sizeof(number));
	return number;
}

static bool pointer_at(const struct ibv_srq *srq, size_t offset, const void *want)
{
	return !memcmp((const char *)srq + offset, &want, sizeof(want));
}

/* Old programs read the fields of the struct. */
static void record_srq(struct ibv_srq *srq, const struct opened *opened,
		       const struct ibv_xrc_domain *dom, const struct ibv_cq *cq,
		       struct result *result)
{
	result->number = srq->xrc_srq_num;
	result->raw_number = number_at(srq, OFED_NUMBER);
	result->as_given = srq->context == opened->context && srq->pd == opened->pd &&
			   srq->srq_context == &user_context && srq->xrc_domain == dom &&
			   srq->xrc_cq == cq;
	result->mlnx_layout = number_at(srq, MLNX_NUMBER) == srq->xrc_srq_num &&
			      pointer_at(srq, MLNX_DOMAIN, dom) && pointer_at(srq, MLNX_CQ, cq);
}

OPERATION(create_srq)
{
	struct opened *pd_of = place_get(state, request->pd);
	struct ibv_cq *cq = place_get(state, request->recv_cq)->srq_cq;
	struct ibv_xrc_domain *dom = dom_argument(state, request->dom);
	struct ibv_srq_init_attr *attr = guarded(sizeof(*attr), 0);
	struct ibv_srq *srq;

	attr->srq_context = &user_context;
	attr->attr = request->srq_attr;
	CALL_POINTER(srq, ibv_create_xrc_srq(pd_of->pd, dom, cq, unless(NULL_ATTR, request, attr)));
	result->srq_attr = attr->attr;
	result->intact = attr->srq_context == &user_context;
	if (!srq)
		return;
	state->srqs[request->slot] = srq;
	record_srq(srq, pd_of, dom, cq, result);
}

OPERATION(create_plain_srq)
{
	struct opened *opened = place_get(state, OWN);
	struct ibv_srq_init_attr attr = { .srq_context = &user_context, .attr = request->srq_attr };
	struct ibv_srq *srq;

	CALL_POINTER(srq, ibv_create_srq(opened->pd, &attr));
	if (!srq)
		return;
	state->srqs[request->slot] = srq;
	result->srq_attr = attr.attr;
	record_srq(srq, opened, NULL, NULL, result);
}

OPERATION(modify_srq)
{
	struct ibv_srq_attr *attr = guarded_input(&request->srq_attr, sizeof(*attr));

	CALL(ibv_modify_srq(state->srqs[request->slot], attr, IBV_SRQ_LIMIT));
}

OPERATION(query_srq)
{
	struct ibv_srq_attr *attr = guarded(sizeof(*attr), OLD_BYTE);

	CALL(ibv_query_srq(state->srqs[request->slot], attr));
	result->srq_attr = *attr;
}

OPERATION(destroy_srq)
{
	CALL(ibv_destroy_srq(state->srqs[request->slot]));
}

/* The struct of a program that was built without XRC ends where xrc_domain begins. */
#define SHORT_SIZE offsetof(struct ibv_qp_init_attr, xrc_domain)

static struct ibv_qp_init_attr init_attr_for(struct actor_state *state,
					     const struct request *request)
{
	return (struct ibv_qp_init_attr){
		.qp_context = &user_context,
		.send_cq = place_get(state, request->send_cq)->qp_cq,
		.recv_cq = place_get(state, request->recv_cq)->qp_cq,
		.srq = request->srq == NIL ? NULL : state->srqs[request->srq],
		.cap = request->cap,
		.qp_type = request->qp_type,
		.sq_sig_all = 1,
		.xrc_domain = request->flags & GARBAGE ? wild_pointer()
						       : dom_argument(state, request->dom),
	};
}

static void record_qp(const struct ibv_qp *qp, const struct opened *opened,
		      const struct ibv_qp_init_attr *attr, struct result *result)
{
	result->number = qp->qp_num;
	result->qp_type = qp->qp_type;
	result->attr.qp_state = qp->state;
	result->as_given = qp->context == opened->context && qp->pd == opened->pd &&
			   qp->qp_context == &user_context && qp->send_cq == attr->send_cq &&
			   qp->recv_cq == attr->recv_cq && qp->srq == attr->srq;
}

/* Ignores the four bytes of padding before xrc_domain, which libmlx4 overwrites. */
static bool same_arguments(const struct ibv_qp_init_attr *attr,
			   const struct ibv_qp_init_attr *wanted, size_t size)
{
	size_t padding = offsetof(struct ibv_qp_init_attr, sq_sig_all) + sizeof(attr->sq_sig_all);

	return !memcmp(attr, wanted, padding) &&
	       (size == SHORT_SIZE || attr->xrc_domain == wanted->xrc_domain);
}

OPERATION(create_qp)
{
	struct opened *pd_of = place_get(state, request->pd);
	struct ibv_qp_init_attr wanted = init_attr_for(state, request), *attr;
	size_t size = request->flags & SHORT_INIT_ATTR ? SHORT_SIZE : sizeof(*attr);
	struct ibv_qp *qp;

	attr = guarded(size, 0);
	memcpy(attr, &wanted, size);
	CALL_POINTER(qp, ibv_create_qp(pd_of->pd, attr));
	result->cap = attr->cap;
	if (!qp)
		return;
	wanted.cap = attr->cap;	/* only the capacities may change */
	result->intact = same_arguments(attr, &wanted, size);
	state->qps[request->slot] = qp;
	record_qp(qp, pd_of, &wanted, result);
}

OPERATION(modify_qp)
{
	struct ibv_qp_attr *attr = guarded_input(&request->attr, sizeof(*attr));

	CALL(ibv_modify_qp(state->qps[request->slot], unless(NULL_ATTR, request, attr),
			   request->mask));
}

OPERATION(query_qp)
{
	struct ibv_qp_attr *attr = guarded(sizeof(*attr), OLD_BYTE);
	struct ibv_qp_init_attr *init_attr = guarded(sizeof(*init_attr), OLD_BYTE);
	struct ibv_qp *qp = state->qps[request->slot];

	CALL(ibv_query_qp(qp, unless(NULL_ATTR, request, attr), request->mask,
			  unless(NULL_INIT_ATTR, request, init_attr)));
	result->attr = *attr;
	result->cap = init_attr->cap;
	result->qp_type = init_attr->qp_type;
	result->as_given = init_attr->xrc_domain == dom_argument(state, request->dom) &&
			   init_attr->send_cq == qp->send_cq && init_attr->recv_cq == qp->recv_cq &&
			   init_attr->qp_context == &user_context && !init_attr->srq;
}

OPERATION(destroy_qp)
{
	CALL(ibv_destroy_qp(state->qps[request->slot]));
}

OPERATION(create_rcv_qp)
{
	/* GASNet leaves everything but xrc_domain uninitialised. */
	struct ibv_qp_init_attr *attr =
		guarded(sizeof(*attr), request->flags & GARBAGE ? GARBAGE_BYTE : 0);
	uint32_t *number = guarded(sizeof(*number), OLD_BYTE);

	attr->xrc_domain = dom_argument(state, request->dom);
	CALL(ibv_create_xrc_rcv_qp(unless(NULL_INIT_ATTR, request, attr),
				   unless(NULL_QP_NUM, request, number)));
	result->number = *number;
}

OPERATION(modify_rcv_qp)
{
	struct ibv_qp_attr *attr = guarded_input(&request->attr, sizeof(*attr));

	CALL(ibv_modify_xrc_rcv_qp(dom_argument(state, request->dom), request->number,
				   unless(NULL_ATTR, request, attr), request->mask));
}

OPERATION(query_rcv_qp)
{
	struct ibv_qp_attr *attr = guarded(sizeof(*attr), OLD_BYTE);
	struct ibv_qp_init_attr *init_attr = guarded(sizeof(*init_attr), OLD_BYTE);
	struct ibv_xrc_domain *dom = dom_argument(state, request->dom);

	CALL(ibv_query_xrc_rcv_qp(dom, request->number, unless(NULL_ATTR, request, attr),
				  request->mask, unless(NULL_INIT_ATTR, request, init_attr)));
	result->attr = *attr;
	result->cap = init_attr->cap;
	result->qp_type = init_attr->qp_type;
	result->as_given = init_attr->xrc_domain == dom && !init_attr->qp_context &&
			   !init_attr->send_cq && !init_attr->recv_cq && !init_attr->srq;
}

OPERATION(reg)
{
	CALL(ibv_reg_xrc_rcv_qp(dom_argument(state, request->dom), request->number));
}

OPERATION(unreg)
{
	CALL(ibv_unreg_xrc_rcv_qp(dom_argument(state, request->dom), request->number));
}
