/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs: refused queries, and verbs of another thread while one is unregistered. */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#include <harness/unit.h>
#include "../common/other_thread.h"
#include "../common/provider.h"

static struct legacy_xrc_domain *domain;
static uint32_t number;
static atomic_bool destroyed, modified, used;
static int (*answer_query)(struct ibv_qp_attr *attr);

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		    struct ibv_qp_init_attr *init_attr)
{
	(void)qp;
	(void)mask;
	(void)init_attr;
	return answer_query(attr);
}

static int refuse(struct ibv_qp_attr *attr)
{
	attr->qp_state = IBV_QPS_RTS;
	return ENOMEM;
}

static int note_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	modified = true;
	return 0;
}

static int note_destroy(struct ibv_qp *qp)
{
	destroyed = true;
	return provider_destroy_qp(qp);
}

static int unregister(struct legacy_xrc_domain *of)
{
	return rcv_qp_unregister(of, number);
}

static int answer_during_unregister(struct ibv_qp_attr *attr)
{
	(void)attr;
	begin_verb(unregister, domain);
	return destroyed ? EIO : 0;
}

/* Creates the receive QP. The provider answers queries of it by @answer. */
static void create(int (*answer)(struct ibv_qp_attr *attr))
{
	answer_query = answer;
	assert_int_equal(domain_open(provider_open(0), -1, 0, &domain), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	modern_table.destroy_qp = note_destroy;
	modern_table.modify_qp = note_modify;
	modern_table.query_qp = query_qp;
	destroyed = modified = used = false;
}

TEST(a_query_that_is_refused_writes_nothing)
{
	struct legacy_qp_init_attr init_attr, init_before;
	struct legacy_qp_attr attr, before;

	create(refuse);
	memset(&attr, 0x5a, sizeof(attr));
	memset(&init_attr, 0x5a, sizeof(init_attr));
	memcpy(&before, &attr, sizeof(attr));
	memcpy(&init_before, &init_attr, sizeof(init_attr));
	assert_int_equal(rcv_qp_query(domain, number, &attr, IBV_QP_STATE, &init_attr), -ENOMEM);
	assert_memory_equal(&attr, &before, sizeof(attr));
	assert_memory_equal(&init_attr, &init_before, sizeof(init_attr));
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(domain_close(domain), 0);
}

TEST(a_qp_of_unknown_state_is_not_modified)
{
	const struct legacy_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	create(refuse);
	assert_int_equal(rcv_qp_modify(domain, number, &attr, IBV_QP_STATE), -ENOMEM);
	assert_false(modified);
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(domain_close(domain), 0);
}

static int query(struct legacy_xrc_domain *of)
{
	struct legacy_qp_init_attr init_attr;
	struct legacy_qp_attr attr;

	return rcv_qp_query(of, number, &attr, IBV_QP_STATE, &init_attr);
}

TEST(unregister_waits_for_a_query)
{
	create(answer_during_unregister);
	assert_int_equal(query(domain), 0);
	assert_int_equal(end_verb(), 0);
	assert_true(destroyed);
	assert_int_equal(domain_close(domain), 0);
}

static int note_use(struct ibv_qp_attr *attr)
{
	(void)attr;
	used = true;
	return 0;
}

static int refuse_destroy(struct ibv_qp *qp)
{
	(void)qp;
	return EBUSY;
}

/* A query of a registered QP uses the handle of the registration. */
TEST(an_unregister_that_the_kernel_refuses_keeps_the_registration)
{
	create(note_use);
	modern_table.destroy_qp = refuse_destroy;
	assert_int_equal(rcv_qp_unregister(domain, number), -EBUSY);
	assert_int_equal(query(domain), 0);
	assert_true(used);
	modern_table.destroy_qp = provider_destroy_qp;
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(rcv_qp_unregister(domain, number), -EINVAL);
	assert_int_equal(domain_close(domain), 0);
}

static int destroy_during_query(struct ibv_qp *qp)
{
	begin_verb(query, domain);
	return provider_destroy_qp(qp);
}

/* The query waits until the unregister has finished. Then it opens a handle of its own. */
TEST(a_query_does_not_use_a_registration_that_is_being_destroyed)
{
	create(note_use);
	modern_table.destroy_qp = destroy_during_query;
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(end_verb(), 0);
	assert_false(used);
	assert_int_equal(domain_close(domain), 0);
}

static struct ibv_qp *(*provider_create)(struct ibv_context *context,
					 struct ibv_qp_init_attr_ex *attr);
static unsigned handles;

static struct ibv_qp *register_after_create(struct ibv_context *context,
					    struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = provider_create(context, attr);

	assert_int_equal(rcv_qp_register(domain, qp->qp_num), 0);
	handles = 2;
	return qp;
}

static int end_created(struct ibv_qp *qp)
{
	handles--;
	return provider_destroy_qp(qp);
}

static int end_opened(struct ibv_qp *qp)
{
	(void)qp;
	handles--;
	return 0;
}

/* A thread with an old number registers it as soon as the kernel gives it to a new QP. */
TEST(a_qp_that_is_registered_during_its_creation_is_registered_once)
{
	create(refuse);
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	provider_create = modern_table.create_qp_ex;
	modern_table.create_qp_ex = register_after_create;
	modern_table.destroy_qp = end_created;
	modern_table.uverbs_destroy_qp = end_opened;
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	assert_int_equal(handles, 1);
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(handles, 0);
	assert_int_equal(rcv_qp_unregister(domain, number), -EINVAL);
	assert_int_equal(domain_close(domain), 0);
}

static void *reused;
static uintptr_t closed;

/* malloc() may return the memory of the closed handle. Then memset() overwrites it. */
static int close_after_destroy(struct ibv_qp *qp)
{
	closed = (uintptr_t)domain;
	assert_int_equal(provider_destroy_qp(qp), 0);
	assert_int_equal(domain_close(domain), 0);
	reused = malloc(sizeof(struct domain));
	memset(reused, 0x5a, sizeof(struct domain));
	return 0;
}

/*
 * As soon as the kernel has destroyed the QP, another thread can close the handle, while
 * unregister still runs.
 */
TEST(unregister_does_not_use_a_handle_that_was_closed_meanwhile)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct legacy_xrc_domain *other;

	assert_int_equal(domain_open(provider_open(0), fd, O_CREAT, &domain), 0);
	assert_int_equal(domain_open(domain->context, fd, O_CREAT, &other), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	modern_table.destroy_qp = close_after_destroy;
	assert_int_equal(rcv_qp_unregister(other, number), 0);
	assert_int_equal(rcv_qp_unregister(other, number), -EINVAL);
	assert_int_equal(domain_close(other), 0);
	free(reused);
	close(fd);
	if ((uintptr_t)reused != closed)
		skip_because("malloc() does not return a block that was just freed");
}

UNIT_MAIN(NULL, NULL)
