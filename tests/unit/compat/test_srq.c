/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* SRQs on a provider that accepts every size, and whose query returns other sizes than create. */

#include <errno.h>
#include <stdlib.h>

#include <compat/domain.h>
#include <compat/srq.h>
#include <modern/table.h>

#include "../unit.h"
#include "provider.h"

static struct ibv_context *context;
static struct ibv_pd pd;
static struct ibv_cq cq;
static struct legacy_xrc_domain *domain;
static struct ibv_srq_attr requested;
static int created;

static struct ibv_srq *create_srq_ex(struct ibv_context *of, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq = calloc(1, sizeof(*srq));

	srq->context = of;
	requested = attr->attr;
	attr->attr.max_wr += 27;
	created++;
	return srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	(void)srq;
	*number = 77;
	return 0;
}

static int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	(void)srq;
	*attr = (struct ibv_srq_attr){ .max_wr = 1, .max_sge = 9, .srq_limit = 5 };
	return 0;
}

static int destroy_srq(struct ibv_srq *srq)
{
	free(srq);
	return 0;
}

FIXTURE(set_up)
{
	context = provider_open(0);
	if (!context)
		return -1;
	modern_table.create_srq_ex = create_srq_ex;
	modern_table.get_srq_num = get_srq_num;
	modern_table.query_srq = query_srq;
	modern_table.destroy_srq = destroy_srq;
	pd.context = cq.context = context;
	return domain_open(context, -1, 0, &domain);
}

static int create(struct ibv_srq_init_attr *attr, struct ibv_srq **lsrq)
{
	return srq_create(&pd, domain, &cq, attr, lsrq);
}

/* Contract 1.3: libmlx4 of OFED refused larger sizes, even if the device allows them. */
TEST(sizes_larger_than_ofeds_are_refused)
{
	struct ibv_srq_init_attr wr = { .attr = { .max_wr = 65537, .max_sge = 1 } };
	struct ibv_srq_init_attr sge = { .attr = { .max_wr = 1, .max_sge = 65 } };
	struct ibv_srq_init_attr most = { .attr = { .max_wr = 65536, .max_sge = 64 } };
	struct ibv_srq *lsrq;

	created = 0;
	assert_int_equal(create(&wr, &lsrq), -EINVAL);
	assert_int_equal(create(&sge, &lsrq), -EINVAL);
	assert_int_equal(created, 0);
	assert_int_equal(create(&most, &lsrq), 0);
	assert_int_equal(srq_destroy(image_of(lsrq)), 0);
}

/* Contract 5.3: create ignored the limit, and a query returns the sizes that create returned. */
TEST(create_arms_no_limit_and_decides_the_sizes)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 100, .max_sge = 3, .srq_limit = 50 },
	};
	struct ibv_srq_attr answer;
	struct ibv_srq *lsrq;

	assert_int_equal(create(&attr, &lsrq), 0);
	assert_int_equal(requested.srq_limit, 0);
	assert_int_equal(attr.attr.max_wr, 127);
	assert_int_equal(attr.attr.max_sge, 3);
	assert_int_equal(srq_query(image_of(lsrq), &answer), 0);
	assert_int_equal(answer.max_wr, 127);
	assert_int_equal(answer.max_sge, 3);
	assert_int_equal(answer.srq_limit, 5);
	assert_int_equal(srq_destroy(image_of(lsrq)), 0);
}

UNIT_MAIN(set_up, NULL)
