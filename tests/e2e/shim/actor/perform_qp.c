/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor's QPs: ibv_create_qp with IBV_QPT_XRC, and ordinary ones. */

#include <string.h>

#include "state.h"

/* The struct of a program that was built without XRC ends where xrc_domain begins. */
#define SHORT_SIZE offsetof(struct ibv_qp_init_attr, xrc_domain)

static char qp_context;

static struct ibv_qp_init_attr init_attr_for(struct actor_state *state,
					     const struct request *request)
{
	struct opened *send_of = place_get(state, request->send_cq),
		      *recv_of = place_get(state, request->recv_cq);

	return (struct ibv_qp_init_attr){
		.qp_context = &qp_context,
		.send_cq = send_of ? send_of->qp_cq : NULL,
		.recv_cq = recv_of ? recv_of->qp_cq : NULL,
		.srq = request->srq == NIL ? NULL : state->srqs[request->srq],
		.cap = request->cap,
		.qp_type = request->qp_type,
		.sq_sig_all = 1,
		.xrc_domain = request->flags & GARBAGE ? wild_pointer()
						       : dom_argument(state, request->dom),
	};
}

static void record_fields(const struct ibv_qp *qp, const struct opened *opened,
			  const struct ibv_qp_init_attr *attr, struct result *result)
{
	result->number = qp->qp_num;
	result->qp_type = qp->qp_type;
	result->attr.qp_state = qp->state;
	fact(result, CONTEXT_MATCHES, qp->context == opened->context);
	fact(result, PD_MATCHES, qp->pd == opened->pd);
	fact(result, USER_CONTEXT_MATCHES, qp->qp_context == &qp_context);
	fact(result, CQ_MATCHES, qp->send_cq == attr->send_cq && qp->recv_cq == attr->recv_cq);
	fact(result, SRQ_MATCHES, qp->srq == attr->srq);
}

/* Ignores the four bytes of padding before xrc_domain, which libmlx4 overwrites. */
static bool same_arguments(const struct ibv_qp_init_attr *attr,
			   const struct ibv_qp_init_attr *wanted, size_t size)
{
	size_t padding = offsetof(struct ibv_qp_init_attr, sq_sig_all) + sizeof(attr->sq_sig_all);

	return !memcmp(attr, wanted, padding) &&
	       (size == SHORT_SIZE || attr->xrc_domain == wanted->xrc_domain);
}

void do_create_qp(struct actor_state *state, const struct request *request, struct result *result)
{
	struct opened *pd_of = place_get(state, request->pd);
	struct ibv_qp_init_attr wanted = init_attr_for(state, request), *attr;
	size_t size = request->flags & SHORT_INIT_ATTR ? SHORT_SIZE : sizeof(*attr);
	struct ibv_qp *qp;

	attr = guarded_new(size, 0);
	memcpy(attr, &wanted, size);
	errno = ERRNO_MARK;
	qp = ibv_create_qp(pd_of ? pd_of->pd : NULL, request->flags & NULL_ATTR ? NULL : attr);
	returned_pointer(result, qp);
	result->cap = attr->cap;
	if (qp)		/* only the capacities may change */
		wanted.cap = attr->cap;
	intact(result, same_arguments(attr, &wanted, size));
	intact(result, guarded_free(attr, size));
	if (!qp)
		return;
	state->qps[request->slot] = qp;
	record_fields(qp, pd_of, &wanted, result);
}

void do_modify_qp(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_qp_attr *attr = guarded_new(sizeof(*attr), 0);

	*attr = request->attr;
	errno = ERRNO_MARK;
	returned(result, ibv_modify_qp(state->qps[request->slot],
				       request->flags & NULL_ATTR ? NULL : attr, request->mask));
	intact(result, !memcmp(attr, &request->attr, sizeof(*attr)));
	intact(result, guarded_free(attr, sizeof(*attr)));
}

void do_query_qp(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_qp_attr *attr = guarded_new(sizeof(*attr), 0xee);
	struct ibv_qp_init_attr *init_attr = guarded_new(sizeof(*init_attr), 0xee);
	struct ibv_qp *qp = state->qps[request->slot];

	errno = ERRNO_MARK;
	returned(result, ibv_query_qp(qp, attr, request->mask, init_attr));
	result->attr = *attr;
	result->cap = init_attr->cap;
	result->qp_type = init_attr->qp_type;
	fact(result, DOMAIN_MATCHES, init_attr->xrc_domain == dom_argument(state, request->dom));
	fact(result, CQ_MATCHES,
	     init_attr->send_cq == qp->send_cq && init_attr->recv_cq == qp->recv_cq);
	fact(result, USER_CONTEXT_MATCHES, init_attr->qp_context == &qp_context);
	fact(result, SRQ_MATCHES, !init_attr->srq);
	intact(result, guarded_free(attr, sizeof(*attr)));
	intact(result, guarded_free(init_attr, sizeof(*init_attr)));
}

void do_destroy_qp(struct actor_state *state, const struct request *request, struct result *result)
{
	errno = ERRNO_MARK;
	returned(result, ibv_destroy_qp(state->qps[request->slot]));
}
