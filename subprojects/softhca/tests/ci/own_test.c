/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A test as ci.md shows it: a function of a program that uses verbs, and a check of its result.
 *
 * usage: own-test          the function must succeed
 *        own-test ENOMEM   it must report this error, and leave nothing behind
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The function to be tested. 0, or a positive errno. */
static int make_queue_pair(struct ibv_context *context)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
					 .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = pd ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	struct ibv_qp *qp;
	int err = 0;

	attr.send_cq = attr.recv_cq = cq;
	qp = cq ? ibv_create_qp(pd, &attr) : NULL;
	if (!qp)
		err = errno;
	if (qp)
		ibv_destroy_qp(qp);
	if (cq)
		ibv_destroy_cq(cq);
	/* EBUSY if something above has been forgotten. */
	if (pd && ibv_dealloc_pd(pd))
		err = EBUSY;
	return err;
}

int main(int argc, char **argv)
{
	const int expected = argc > 1 && !strcmp(argv[1], "ENOMEM") ? ENOMEM : 0;
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
	int err;

	if (!context) {
		fprintf(stderr, "no adapter\n");
		return 1;
	}
	err = make_queue_pair(context);
	printf("%s: %s\n", ibv_get_device_name(devices[0]), err ? strerror(err) : "made a queue pair");
	ibv_close_device(context);
	ibv_free_device_list(devices);
	return err != expected;
}
