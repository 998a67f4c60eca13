/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Closing domains and devices: in a forked child, while another thread is in a verb, and when the
 * kernel refuses. A refused open.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <base/settings.h>
#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <compat/xrc_qp.h>
#include <modern/modern.h>
#include <modern/table.h>
#include <two_way/qp_numbers.h>

#define UNIT_TEARDOWN end_hooks

#include <harness/unit.h>
#include "../common/child.h"
#include "../common/other_thread.h"
#include "../common/provider.h"

/* provider_open() resets the rest. A test that failed must not leave its hook to the next. */
FIXTURE(end_hooks)
{
	provider_closes_xrcd = NULL;
	return 0;
}

static unsigned *destroyed;	/* receive QPs, by parent and child together */

static int count_destroy(struct ibv_qp *qp)
{
	__atomic_add_fetch(destroyed, 1, __ATOMIC_RELAXED);
	return provider_destroy_qp(qp);
}

static struct ibv_context *open_counted(void)
{
	struct ibv_context *context = provider_open(0);

	assert_non_null(context);
	modern_table.destroy_qp = count_destroy;
	*destroyed = 0;
	return context;
}

static void register_with(struct ibv_context *context, unsigned count)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	assert_int_equal(domain_open(context, -1, 0, &domain), 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(rcv_qp_create(domain, &number), 0);
}

static struct ibv_xrcd *open_no_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	(void)context;
	(void)attr;
	errno = EAGAIN;
	return NULL;
}

/* A program that waits for another one's domain repeats a call that fails with EAGAIN. */
TEST(only_an_open_that_may_not_create_is_EAGAIN)
{
	struct ibv_context *context = open_counted();
	struct legacy_xrc_domain *domain;
	int file = memfd_create("domain", MFD_CLOEXEC);

	verbs_get_ctx(context)->open_xrcd = open_no_xrcd;
	assert_int_equal(domain_open(context, file, 0, &domain), -EAGAIN);
	assert_int_equal(domain_open(context, file, O_CREAT, &domain), -ENOMEM);
	assert_int_equal(domain_open(context, -1, 0, &domain), -ENOMEM);
	close(file);
	device_close(context);
}

static atomic_int closed;	/* XRCDs */

static int note_close(void)
{
	closed++;
	return 0;
}

/*
 * OFED's kernel ended a registration when the device's last descriptor was closed. The parent still
 * has a descriptor open, so a close in the child must not end it.
 */
TEST(a_close_in_a_child_ends_nothing_of_its_parent)
{
	struct ibv_context *context;

	skip_by_qemu_user();
	context = open_counted();
	register_with(context, 3);
	provider_closes_xrcd = note_close;
	closed = 0;
	assert_int_equal(in_child(device_close(context) || *destroyed || closed), 0);
	assert_int_equal(in_bare_child(device_close(context) || *destroyed || closed), 0);
	assert_int_equal(*destroyed, 0);
	assert_int_equal(device_close(context), 0);
	assert_int_equal(*destroyed, 3);
	assert_int_equal(closed, 1);
}

TEST(a_close_leaves_the_domains_of_another_device)
{
	struct ibv_context *other = provider_open(1), *context = open_counted();
	struct legacy_xrc_domain *domain;
	uint32_t number;

	assert_int_equal(domain_open(other, -1, 0, &domain), 0);
	assert_int_equal(device_close(context), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	assert_int_equal(device_close(other), 0);
	assert_int_equal(*destroyed, 1);
}

static struct legacy_xrc_domain *refused_domain;

static int create_rcv_qp(struct legacy_xrc_domain *domain)
{
	uint32_t number;

	return rcv_qp_create(domain, &number);
}

static int refuse_during_a_verb(void)
{
	begin_verb(create_rcv_qp, refused_domain);
	assert_int_equal(other_result, NOT_RETURNED);
	return EBUSY;
}

TEST(a_verb_waits_for_a_close_that_is_refused)
{
	struct ibv_context *context = open_counted();

	assert_int_equal(domain_open(context, -1, 0, &refused_domain), 0);
	provider_closes_xrcd = refuse_during_a_verb;
	assert_int_equal(domain_close(refused_domain), -EBUSY);
	assert_int_equal(end_verb(), 0);
	provider_closes_xrcd = NULL;
	assert_int_equal(device_close(context), 0);
}

/* In the child: 0 if both verbs refuse the domain, else the number of the one that does not. */
static int use_unknown(struct legacy_xrc_domain *domain)
{
	if (create_rcv_qp(domain) != -EINVAL)
		return 1;
	return domain_close(domain) == -EINVAL ? 0 : 2;
}

static int fork_during_a_close(void)
{
	assert_int_equal(in_child(use_unknown(refused_domain)), 0);
	return 0;
}

/* libibverbs frees the XRCD before the library can note that the domain is closed. */
TEST(a_child_does_not_know_a_domain_that_its_parent_was_closing)
{
	struct ibv_context *context;

	skip_by_qemu_user();
	context = open_counted();
	assert_int_equal(domain_open(context, -1, 0, &refused_domain), 0);
	provider_closes_xrcd = fork_during_a_close;
	assert_int_equal(domain_close(refused_domain), 0);
	assert_int_equal(device_close(context), 0);
}

static int close_device_of(struct legacy_xrc_domain *used)
{
	return device_close(used->context);
}

static struct legacy_xrc_domain *used_domain;

static struct ibv_qp *create_during_a_close(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	begin_verb(close_device_of, used_domain);
	return provider_create_qp(pd, attr);
}

static struct ibv_qp *create_xrc_qp(struct ibv_context *context, bool two_way)
{
	struct ibv_pd pd = { .context = context };
	struct ibv_cq cq = { .context = context };
	struct legacy_qp_init_attr attr = { .send_cq = &cq, .recv_cq = &cq };
	struct ibv_qp *qp = NULL;

	assert_int_equal(domain_open(context, -1, 0, &used_domain), 0);
	attr.xrc_domain = used_domain;
	assert_int_equal(xrc_qp_create(&pd, &attr, two_way, &qp), 0);
	return qp;
}

/*
 * After the close, the kernel may give the QP's number to a hidden target of another process. The
 * close begins while the QP is created.
 */
TEST(a_close_forgets_the_numbers_of_the_devices_qps)
{
	struct ibv_context *context = open_counted();
	struct ibv_qp *qp;

	modern_table.create_qp = create_during_a_close;
	qp = create_xrc_qp(context, false);
	assert_int_equal(end_verb(), 0);
	assert_false(qp_is_known(qp_numbers_of(context), qp->qp_num));
	free(qp);
}

/*
 * A close does not know which ordinary QPs a device had, so their numbers stay counted. The kernel
 * may give such a number to a hidden target.
 */
TEST(a_hidden_target_is_not_known_by_the_number_of_an_earlier_qp)
{
	struct ibv_context *context = open_counted();
	struct qp_numbers *numbers = qp_numbers_of(context);
	uint32_t first = provider_next_qp;
	struct ibv_qp *qp;

	qp_number_add(context, first + 1);
	qp = create_xrc_qp(context, true);
	assert_int_equal(qp->qp_num, first);
	assert_true(qp_is_known(numbers, first));
	assert_false(qp_is_known(numbers, first + 1));
	assert_int_equal(device_close(context), 0);
	free(qp);
}

static int close_during_a_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	if (used_domain)
		begin_verb(close_device_of, used_domain);
	used_domain = NULL;	/* the second QP is modified during the same close */
	assert_int_equal(other_result, NOT_RETURNED);
	return 0;
}

/* The event thread modifies both QPs of the pair to ERR, and writes to the pair after that. */
TEST(a_close_waits_for_a_thread_that_fails_a_pair)
{
	struct ibv_qp *qp = create_xrc_qp(open_counted(), true);
	struct ibv_qp *tgt = xrc_qp_target(xrc_qp_find(qp));

	modern_table.modify_qp = close_during_a_modify;
	xrc_qp_fatal_event(tgt);
	assert_int_equal(end_verb(), 0);
	free(tgt);
	free(qp);
}

static void must_wait_for_verbs(int (*close)(struct legacy_xrc_domain *used))
{
	struct legacy_xrc_domain *used;
	struct domain *domain;

	assert_int_equal(domain_open(open_counted(), -1, 0, &used), 0);
	domain = domain_hold(used, NULL);
	assert_non_null(domain);
	provider_closes_xrcd = note_close;
	closed = 0;
	begin_verb(close, used);
	assert_int_equal(closed, 0);
	domain_release(domain);
	assert_int_equal(end_verb(), 0);
	assert_int_equal(closed, 1);
}

TEST(a_close_waits_for_verbs)
{
	must_wait_for_verbs(domain_close);
	must_wait_for_verbs(close_device_of);
}

static struct legacy_xrc_domain *second_domain;
static int shared_fd;

static int refuse_during_an_open(void)
{
	assert_int_equal(domain_open(refused_domain->context, shared_fd, 0, &second_domain), 0);
	return EBUSY;
}

/*
 * Both handles need the same device_domain: an object of one makes closing the other EBUSY, too
 * (contract 5.2).
 */
TEST(an_open_during_a_refused_close_is_of_the_same_domain)
{
	struct ibv_context *context = open_counted();
	struct device_domain *device_domain;

	shared_fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(domain_open(context, shared_fd, 0, &refused_domain), 0);
	device_domain = ((struct domain *)refused_domain)->device_domain;
	provider_closes_xrcd = refuse_during_an_open;
	assert_int_equal(domain_close(refused_domain), -EBUSY);
	assert_ptr_equal(((struct domain *)refused_domain)->device_domain, device_domain);
	assert_ptr_equal(((struct domain *)second_domain)->device_domain, device_domain);
	provider_closes_xrcd = note_close;
	closed = 0;
	assert_int_equal(device_close(context), 0);
	assert_int_equal(closed, 2);
	close(shared_fd);
}

FIXTURE(setup)
{
	settings.two_way = TWO_WAY_ON;	/* only then numbers are counted */
	destroyed = mmap(NULL, sizeof(*destroyed), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return destroyed == MAP_FAILED;
}

UNIT_MAIN(setup, NULL)
