/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An actor's SRQs: the XRC ones, whose fields old programs read from the struct, and ordinary ones.
 */

#include <string.h>

#include "state.h"

/*
 * Offsets of the number in OFED 1.x, and of number, domain and CQ in MLNX_OFED 2 to 4 (contract 2.1
 * and 2.6).
 */
#ifdef __x86_64__
#define OFED_NUMBER 32
#define MLNX_NUMBER 152
#define MLNX_DOMAIN 160
#define MLNX_CQ 168
#else
#define OFED_NUMBER 20
#define MLNX_NUMBER 108
#define MLNX_DOMAIN 112
#define MLNX_CQ 116
#endif

static char srq_context;

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

static void record_fields(const struct ibv_srq *srq, const struct opened *opened,
			  struct result *result)
{
	result->number = srq->xrc_srq_num;
	result->raw_number = number_at(srq, OFED_NUMBER);
	fact(result, CONTEXT_MATCHES, srq->context == opened->context);
	fact(result, PD_MATCHES, srq->pd == opened->pd);
	fact(result, USER_CONTEXT_MATCHES, srq->srq_context == &srq_context);
}

static void record_xrc_fields(const struct ibv_srq *srq, const struct ibv_xrc_domain *dom,
			      const struct ibv_cq *cq, struct result *result)
{
	fact(result, DOMAIN_MATCHES, srq->xrc_domain == dom);
	fact(result, CQ_MATCHES, srq->xrc_cq == cq);
	fact(result, MLNX_LAYOUT_MATCHES,
	     number_at(srq, MLNX_NUMBER) == srq->xrc_srq_num && pointer_at(srq, MLNX_DOMAIN, dom) &&
		     pointer_at(srq, MLNX_CQ, cq));
}

void do_create_srq(struct actor_state *state, const struct request *request, struct result *result)
{
	struct opened *pd_of = place_get(state, request->pd),
		      *cq_of = place_get(state, request->recv_cq);
	struct ibv_srq_init_attr *attr = guarded_new(sizeof(*attr), 0);
	struct ibv_xrc_domain *dom = dom_argument(state, request->dom);
	struct ibv_cq *cq = cq_of ? cq_of->srq_cq : NULL;
	struct ibv_srq *srq;

	attr->srq_context = &srq_context;
	attr->attr = request->srq_attr;
	errno = ERRNO_MARK;
	srq = ibv_create_xrc_srq(pd_of ? pd_of->pd : NULL, dom, cq,
				 request->flags & NULL_ATTR ? NULL : attr);
	returned_pointer(result, srq);
	result->srq_attr = attr->attr;
	intact(result, attr->srq_context == &srq_context);
	intact(result, srq || !memcmp(&attr->attr, &request->srq_attr, sizeof(attr->attr)));
	intact(result, guarded_free(attr, sizeof(*attr)));
	if (!srq)
		return;
	state->srqs[request->slot] = srq;
	record_fields(srq, pd_of, result);
	record_xrc_fields(srq, dom, cq, result);
}

void do_create_plain_srq(struct actor_state *state, const struct request *request,
			 struct result *result)
{
	struct opened *opened = place_get(state, OWN);
	struct ibv_srq_init_attr attr = { .srq_context = &srq_context, .attr = request->srq_attr };
	struct ibv_srq *srq = ibv_create_srq(opened->pd, &attr);

	returned_pointer(result, srq);
	if (!srq)
		return;
	state->srqs[request->slot] = srq;
	result->srq_attr = attr.attr;
	record_fields(srq, opened, result);
	fact(result, DOMAIN_MATCHES, !srq->xrc_domain);
	fact(result, CQ_MATCHES, !srq->xrc_cq);
}

void do_modify_srq(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_srq_attr attr = request->srq_attr;

	errno = ERRNO_MARK;
	returned(result, ibv_modify_srq(state->srqs[request->slot], &attr, IBV_SRQ_LIMIT));
	intact(result, !memcmp(&attr, &request->srq_attr, sizeof(attr)));
}

void do_query_srq(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_srq_attr *attr = guarded_new(sizeof(*attr), 0xee);

	errno = ERRNO_MARK;
	returned(result, ibv_query_srq(state->srqs[request->slot], attr));
	result->srq_attr = *attr;
	intact(result, guarded_free(attr, sizeof(*attr)));
}

void do_destroy_srq(struct actor_state *state, const struct request *request, struct result *result)
{
	errno = ERRNO_MARK;
	returned(result, ibv_destroy_srq(state->srqs[request->slot]));
}
