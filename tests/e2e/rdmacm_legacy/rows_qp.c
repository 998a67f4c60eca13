/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Old XRC QPs created by rdma_create_qp: their attributes, and the refusals. */

#define GROUP "qp"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>

#include "ids.h"

static struct rdma_cm_id *other;
static struct ibv_pd *pd, *other_pd;
static struct ibv_xrc_domain *domain, *other_domain;

static void set_up(void)
{
	other = ids_on_second_device();
	pd = ibv_alloc_pd(routed->verbs);
	other_pd = ibv_alloc_pd(other->verbs);
	must(pd);
	must(other_pd);
	domain = ids_domain(routed);
	other_domain = ids_domain(other);
}

/* librdmacm takes the QP to INIT, as it does with its own. */
ROW("an old XRC QP has its type and domain, and is in INIT")
{
	struct ibv_qp_init_attr attr, init;
	struct ibv_qp_attr state;

	set_up();
	attr = ids_xrc_attr(routed, domain);
	attr.cap.max_recv_wr = 3;	/* taken as 0, as by ibv_create_qp */
	must_eq(rdma_create_qp(routed, pd, &attr), 0);
	must(routed->qp);
	must(routed->qp->context == routed->verbs);
	must(routed->qp->pd == pd);
	must(attr.cap.max_send_wr >= 4);
	must_eq(attr.cap.max_recv_wr, 0);
	must_eq(attr.qp_type, IBV_QPT_XRC);
	must(attr.xrc_domain == domain);
	must_eq(ibv_query_qp(routed->qp, &state, IBV_QP_STATE, &init), 0);
	must_eq(state.qp_state, IBV_QPS_INIT);
	must_eq(init.qp_type, IBV_QPT_XRC);
	must(init.xrc_domain == domain);
	must_eq(ibv_close_xrc_domain(domain), EBUSY);
	rdma_destroy_qp(routed);
	must(!routed->qp);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

/* Some programs left CQs and PD to librdmacm. A sending QP has no use for a receive CQ. */
ROW("a QP without CQs and PD gets the PD and the send CQ of librdmacm")
{
	struct ibv_qp_init_attr attr;

	set_up();
	attr = ids_xrc_attr(routed, domain);
	attr.send_cq = attr.recv_cq = NULL;
	must_eq(rdma_create_qp(routed, NULL, &attr), 0);
	must(routed->send_cq);
	must(routed->qp->send_cq == routed->send_cq);
	must(routed->qp->pd == routed->pd);
	must(routed->pd->context == routed->verbs);
	rdma_destroy_qp(routed);
	must(!routed->send_cq || ibv_destroy_cq(routed->send_cq) == 0);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

static void refused(const char *what, struct rdma_cm_id *of, struct ibv_pd *with,
		    struct ibv_qp_init_attr attr)
{
	struct ibv_qp *before = of->qp;

	errno = 0;
	if (rdma_create_qp(of, with, &attr) != -1 || errno != EINVAL)
		row_fail(__FILE__, __LINE__, "not refused: %s", what);
	must(of->qp == before);
}

ROW("rdma_create_qp returns EINVAL for each invalid argument, and keeps routed->qp")
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_xrc_domain *closed;
	struct ibv_qp_init_attr good, bad;

	set_up();
	good = ids_xrc_attr(routed, domain);
	closed = ids_domain(routed);
	must_eq(ibv_close_xrc_domain(closed), 0);
	bad = good;
	bad.xrc_domain = NULL;
	refused("no domain", routed, pd, bad);
	bad.xrc_domain = other_domain;
	refused("a domain of another device", routed, pd, bad);
	bad.xrc_domain = closed;
	refused("a closed domain", routed, pd, bad);
	bad = good;
	bad.srq = ibv_create_xrc_srq(pd, domain, good.send_cq, &srq_attr);
	refused("an SRQ of the domain", routed, pd, bad);
	bad = good;
	bad.send_cq = ids_xrc_attr(other, other_domain).send_cq;
	refused("a CQ of another device", routed, pd, bad);
	bad = good;
	bad.cap.max_send_wr = 0;
	refused("no room to send", routed, pd, bad);
	refused("a PD of another device", routed, other_pd, good);
	refused("an id without a device", idle, pd, good);
	must_eq(rdma_create_qp(routed, pd, &good), 0);
	refused("a second QP for the id", routed, pd, good);
}

ROW("after a refusal and after a success the next QP has its own attributes only")
{
	struct ibv_qp_init_attr attr, without;

	set_up();
	attr = ids_xrc_attr(routed, other_domain);
	must_eq(rdma_create_qp(routed, pd, &attr), -1);
	attr = ids_xrc_attr(routed, domain);
	attr.qp_type = IBV_QPT_RC;
	must_eq(rdma_create_qp(routed, pd, &attr), 0);
	must_eq(routed->qp->qp_type, IBV_QPT_RC);
	rdma_destroy_qp(routed);
	attr.qp_type = IBV_QPT_XRC;
	attr.xrc_domain = domain;
	must_eq(rdma_create_qp(routed, pd, &attr), 0);
	without = attr;			/* ibv_create_qp refuses the same attributes */
	without.xrc_domain = NULL;
	errno = 0;
	must(!ibv_create_qp(pd, &without) && errno == EINVAL);
}

static unsigned asked, unblocked;

/* In place of the C library's. The loader's lock stays taken if a signal handler leaves this. */
__attribute__((visibility("default")))
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	__typeof__(&dl_iterate_phdr) real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	sigset_t blocked;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	asked++;
	unblocked += !sigismember(&blocked, SIGUSR1);
	return real(visit, arg);
}

ROW("rdma_create_qp asks the loader with signals blocked")
{
	struct ibv_qp_init_attr attr;

	set_up();
	attr = ids_xrc_attr(routed, domain);
	asked = unblocked = 0;
	must_eq(rdma_create_qp(routed, pd, &attr), 0);
	must(asked);
	must_eq(unblocked, 0);
}
