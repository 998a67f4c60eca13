/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor carries out a request. Its operations on devices and domains. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state.h"

void do_open_device(struct actor_state *state, const struct request *request, struct result *result)
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

void do_close_device(struct actor_state *state, const struct request *request,
		     struct result *result)
{
	(void)request;
	errno = ERRNO_MARK;
	returned_minus_one(result, ibv_close_device(state->places[OWN].context));
	state->places[OWN] = (struct opened){ 0 };
}

void do_destroy_rest(struct actor_state *state, const struct request *request,
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

void do_exit(struct actor_state *state, const struct request *request, struct result *result)
{
	(void)state, (void)request, (void)result;
	exit(0);
}

void do_fork_child(struct actor_state *state, const struct request *request, struct result *result)
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

struct result perform(struct actor_state *state, const struct request *request)
{
	struct result result = { .facts = REST_INTACT };

	request->operation(state, request, &result);
	return result;
}
