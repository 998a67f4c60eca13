/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor's calls on receive QPs. */

#include <string.h>

#include "state.h"

/* Fills arguments that must not be read, and results before they are written. */
#define GARBAGE_BYTE 0xa5

static bool still_garbage(const void *memory, size_t size)
{
	const unsigned char *bytes = memory;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != GARBAGE_BYTE)
			return false;
	return true;
}

void do_create_rcv_qp(struct actor_state *state, const struct request *request,
		      struct result *result)
{
	/* GASNet leaves everything but xrc_domain uninitialised. */
	struct ibv_qp_init_attr *attr =
		guarded_new(sizeof(*attr), request->flags & GARBAGE ? GARBAGE_BYTE : 0);
	uint32_t *number = guarded_new(sizeof(*number), GARBAGE_BYTE);

	attr->xrc_domain = dom_argument(state, request->dom);
	errno = ERRNO_MARK;
	returned(result, ibv_create_xrc_rcv_qp(request->flags & NULL_INIT_ATTR ? NULL : attr,
					       request->flags & NULL_QP_NUM ? NULL : number));
	result->number = *number;
	intact(result, !result->ret || still_garbage(number, sizeof(*number)));
	intact(result, guarded_free(attr, sizeof(*attr)));
	intact(result, guarded_free(number, sizeof(*number)));
}

void do_modify_rcv_qp(struct actor_state *state, const struct request *request,
		      struct result *result)
{
	struct ibv_qp_attr *attr = guarded_new(sizeof(*attr), 0);

	*attr = request->attr;
	errno = ERRNO_MARK;
	returned(result,
		 ibv_modify_xrc_rcv_qp(dom_argument(state, request->dom), request->number,
				       request->flags & NULL_ATTR ? NULL : attr, request->mask));
	intact(result, !memcmp(attr, &request->attr, sizeof(*attr)));
	intact(result, guarded_free(attr, sizeof(*attr)));
}

static void record_fields(const struct ibv_qp_attr *attr, const struct ibv_qp_init_attr *init_attr,
			  const struct ibv_xrc_domain *dom, struct result *result)
{
	result->attr = *attr;
	result->cap = init_attr->cap;
	result->qp_type = init_attr->qp_type;
	fact(result, DOMAIN_MATCHES, init_attr->xrc_domain == dom);
	fact(result, POINTERS_NULL,
	     !init_attr->qp_context && !init_attr->send_cq && !init_attr->recv_cq &&
		     !init_attr->srq);
}

void do_query_rcv_qp(struct actor_state *state, const struct request *request,
		     struct result *result)
{
	struct ibv_qp_attr *attr = guarded_new(sizeof(*attr), GARBAGE_BYTE);
	struct ibv_qp_init_attr *init_attr = guarded_new(sizeof(*init_attr), GARBAGE_BYTE);
	struct ibv_xrc_domain *dom = dom_argument(state, request->dom);

	errno = ERRNO_MARK;
	returned(result,
		 ibv_query_xrc_rcv_qp(dom, request->number,
				      request->flags & NULL_ATTR ? NULL : attr, request->mask,
				      request->flags & NULL_INIT_ATTR ? NULL : init_attr));
	if (result->ret)
		intact(result, still_garbage(attr, sizeof(*attr)) &&
				       still_garbage(init_attr, sizeof(*init_attr)));
	else
		record_fields(attr, init_attr, dom, result);
	intact(result, guarded_free(attr, sizeof(*attr)));
	intact(result, guarded_free(init_attr, sizeof(*init_attr)));
}

void do_reg(struct actor_state *state, const struct request *request, struct result *result)
{
	errno = ERRNO_MARK;
	returned(result, ibv_reg_xrc_rcv_qp(dom_argument(state, request->dom), request->number));
}

void do_unreg(struct actor_state *state, const struct request *request, struct result *result)
{
	errno = ERRNO_MARK;
	returned(result, ibv_unreg_xrc_rcv_qp(dom_argument(state, request->dom), request->number));
}
