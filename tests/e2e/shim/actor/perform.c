/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor carries out a request: the table of all operations, and those on devices and domains. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state.h"

static void do_open_device(struct actor_state *state, const struct request *request,
			   struct result *result)
{
	struct ibv_port_attr port;
	struct opened *opened;

	state->device = request->device;
	errno = ERRNO_MARK;
	opened = place_get(state, OWN);
	returned_pointer(result, opened);
	if (!opened)
		return;
	result->ret = ibv_query_port(opened->context, 1, &port);
	result->number = port.lid;
	if (!result->ret)
		result->ret = ibv_query_gid(opened->context, 1, 0, &result->attr.ah_attr.grh.dgid)
				      ? errno
				      : 0;
	state->mr = ibv_reg_mr(opened->pd, state->buffer, MESSAGE_MAX * (RECV_SLOTS + 1),
			       IBV_ACCESS_LOCAL_WRITE);
	if (!state->mr)
		result->ret = errno;
}

static void do_close_device(struct actor_state *state, const struct request *request,
			    struct result *result)
{
	(void)request;
	errno = ERRNO_MARK;
	returned_minus_one(result, ibv_close_device(state->places[OWN].context));
	state->places[OWN] = (struct opened){ 0 };
}

static void do_destroy_rest(struct actor_state *state, const struct request *request,
			    struct result *result)
{
	struct opened *opened = &state->places[OWN];
	int err = ibv_dereg_mr(state->mr);

	(void)request;
	err = err ? err : ibv_destroy_cq(opened->qp_cq);
	err = err ? err : ibv_destroy_cq(opened->srq_cq);
	err = err ? err : ibv_destroy_comp_channel(opened->channel);
	err = err ? err : ibv_dealloc_pd(opened->pd);
	returned(result, err ? err : ibv_close_device(opened->context));
}

static void do_exit(struct actor_state *state, const struct request *request, struct result *result)
{
	(void)state, (void)request, (void)result;
	exit(0);
}

static void do_fork_child(struct actor_state *state, const struct request *request,
			  struct result *result)
{
	int status = -1;
	pid_t pid = fork();

	(void)state, (void)request;
	if (!pid)
		exit(0);
	result->ret = waitpid(pid, &status, 0) == pid ? status : errno;
}

static int file_for(const struct request *request)
{
	int access = request->flags & FD_WRITE_ONLY ? O_WRONLY : O_RDONLY, fd;

	if (request->flags & FD_PRIVATE)
		return -1;
	if (!(request->flags & FD_CLOSED))
		return open(request->path, access | O_CREAT, 0600);
	fd = open("/dev/null", O_RDONLY);
	close(fd);
	return fd;
}

void do_open_domain(struct actor_state *state, const struct request *request, struct result *result)
{
	struct opened *opened = place_get(state, request->where);
	struct ibv_context *context = request->flags & NULL_CONTEXT || !opened ? NULL
									       : opened->context;
	struct ibv_xrc_domain *dom;
	int fd = file_for(request);

	errno = ERRNO_MARK;
	dom = ibv_open_xrc_domain(context, fd, request->oflag);
	returned_pointer(result, dom);
	if (request->flags & FD_CLOSE_AFTER)
		close(fd);
	if (!dom)
		return;
	fact(result, CONTEXT_MATCHES, dom->context == context);
	state->doms[request->dom] = dom;
}

void do_close_domain(struct actor_state *state, const struct request *request,
		     struct result *result)
{
	errno = ERRNO_MARK;
	returned(result, ibv_close_xrc_domain(dom_argument(state, request->dom)));
}

static perform_fn *const operations[OPS] = {
	[OP_OPEN_DEVICE] = do_open_device,
	[OP_CLOSE_DEVICE] = do_close_device,
	[OP_DESTROY_REST] = do_destroy_rest,
	[OP_EXIT] = do_exit,
	[OP_FORK_CHILD] = do_fork_child,
	[OP_OPEN_DOMAIN] = do_open_domain,
	[OP_CLOSE_DOMAIN] = do_close_domain,
	[OP_CREATE_SRQ] = do_create_srq,
	[OP_CREATE_PLAIN_SRQ] = do_create_plain_srq,
	[OP_MODIFY_SRQ] = do_modify_srq,
	[OP_QUERY_SRQ] = do_query_srq,
	[OP_DESTROY_SRQ] = do_destroy_srq,
	[OP_CREATE_QP] = do_create_qp,
	[OP_MODIFY_QP] = do_modify_qp,
	[OP_QUERY_QP] = do_query_qp,
	[OP_DESTROY_QP] = do_destroy_qp,
	[OP_CREATE_RCV_QP] = do_create_rcv_qp,
	[OP_MODIFY_RCV_QP] = do_modify_rcv_qp,
	[OP_QUERY_RCV_QP] = do_query_rcv_qp,
	[OP_REG] = do_reg,
	[OP_UNREG] = do_unreg,
	[OP_POST_RECV] = do_post_recv,
	[OP_POST_SEND] = do_post_send,
	[OP_COMPLETION] = do_completion,
	[OP_GET_EVENT] = do_get_event,
	[OP_ACK_EVENT] = do_ack_event,
	[OP_REMEMBER_OPS] = do_remember_ops,
	[OP_COMPARE_OPS] = do_compare_ops,
};

struct result perform(struct actor_state *state, const struct request *request)
{
	struct result result = { .facts = REST_INTACT };

	operations[request->op](state, request, &result);
	return result;
}
