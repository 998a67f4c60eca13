/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a provider is asked for when an SRQ is created. This one refuses all SRQs. */

#include <errno.h>

#include <compat/domain.h>
#include <compat/srq.h>
#include <modern/table.h>

#include <harness/unit.h>
#include "../common/provider.h"

static struct ibv_srq_attr requested;

static struct ibv_srq *refuse_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	requested = attr->attr;
	errno = ENOSPC;
	return NULL;
}

/*
 * Contract 1.3: libmlx4 of OFED refused larger sizes, even if the device allows them. Contract 5.3:
 * create ignored the limit.
 */
TEST(a_provider_is_asked_for_no_larger_size_than_ofeds_and_for_no_limit)
{
	struct ibv_context *context = provider_open(0);
	struct ibv_pd pd = { .context = context };
	struct ibv_cq cq = { .context = context };
	struct ibv_srq_init_attr wr = { .attr = { 65537, 1, 0 } }, sge = { .attr = { 1, 65, 0 } };
	struct ibv_srq_init_attr most = { .attr = { 65536, 64, 50 } };
	struct legacy_xrc_domain *domain;
	struct ibv_srq *lsrq;

	modern_table.create_srq_ex = refuse_srq;
	assert_int_equal(domain_open(context, -1, 0, &domain), 0);
	assert_int_equal(srq_create(&pd, domain, &cq, &wr, &lsrq), -EINVAL);
	assert_int_equal(srq_create(&pd, domain, &cq, &sge, &lsrq), -EINVAL);
	assert_int_equal(requested.max_wr, 0);
	assert_int_equal(srq_create(&pd, domain, &cq, &most, &lsrq), -ENOSPC);
	assert_int_equal(requested.max_wr, 65536);
	assert_int_equal(requested.srq_limit, 0);
	assert_int_equal(domain_close(domain), 0);	/* the refused SRQ does not keep it busy */
}

UNIT_MAIN(NULL, NULL)
