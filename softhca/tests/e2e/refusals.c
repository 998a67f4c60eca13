/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the kernel refuses, one row per refusal with its errno, over the modern API. A row with the
 * errno 0 is accepted: it differs little from a refused row, or another setting refuses it.
 */
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int errno_of_object(const void *object)
{
	return object ? 0 : errno;
}

int errno_of_result(int result)
{
	return result < 0 ? errno : result;
}

struct objects objects_create(bool xrc)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 2 } };
	struct objects g = { .host = rig_host(0), .fd = xrc_file() };

	g.srq = MADE(ibv_create_srq(g.host->pd, &init));
	g.rc = rig_qp(g.host, IBV_QPT_RC, NULL);
	if (!xrc)
		return g;
	g.xrcd = MADE(xrc_domain(g.host, g.fd, O_CREAT));
	g.private = MADE(xrc_domain(g.host, -1, O_CREAT));
	g.xsrq = MADE(xrc_srq(g.host, g.xrcd, 8, 2));
	g.send = rig_qp(g.host, IBV_QPT_XRC_SEND, NULL);
	g.recv = MADE(xrc_target(g.host, g.xrcd));
	return g;
}

void objects_destroy(struct objects *g)
{
	NEED(!ibv_destroy_qp(g->rc) && !ibv_destroy_srq(g->srq));
	if (g->xrcd) {
		NEED(!ibv_destroy_qp(g->recv) && !ibv_destroy_qp(g->send) &&
		     !ibv_destroy_srq(g->xsrq));
		NEED(!ibv_close_xrcd(g->xrcd) && !ibv_close_xrcd(g->private));
	}
	rig_free_host(g->host);
	close(g->fd);
}

static enum mode find_mode(const char *name)
{
	static const char *const names[] = { "usual", "strict", "no-open-qp", "no-xrc", "beyond" };

	for (int i = 0; i < 5; i++) {
		if (!strcmp(names[i], name))
			return (enum mode)(1 << i);
	}
	fprintf(stderr,
		"usage: refusals usual|strict|no-open-qp|no-xrc|beyond (the settings that the HCA runs with)\n");
	exit(EXIT_FAILURE);
}

bool refusals_apply(const struct refusals *run, int modes)
{
	return (modes & (int)run->mode) && !(modes & NOT_DRIVEN && getenv("SOFTHCA_TEST_DRIVEN"));
}

void refusals_judge(struct refusals *run, const char *name, int err, int wanted)
{
	run->ran++;
	if (err == wanted)
		return;
	run->failures++;
	printf("FAIL %s: got %s, the kernel has %s\n", name, strerrorname_np(err),
	       strerrorname_np(wanted));
}

int main(int argc, char **argv)
{
	struct refusals run = { .mode = find_mode(argc >= 2 ? argv[1] : "") };

	refusals_of_objects(&run);
	refusals_of_modify(&run);
	printf("%d rows, %d failures\n", run.ran, run.failures);
	return run.failures || !run.ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
