/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A table that somebody removes under the library, above a provider that makes QPs of nothing: all is put into a new one. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

static char dir[] = "/dev/shm/removed-test-XXXXXX";
static char path[600];
static struct ibv_device device = { .name = "fake_0" };
static struct verbs_context adapter;
static struct ibv_xrcd xrcd;
static uint32_t next_qp = 0x40;

static __be64 fake_get_device_guid(struct ibv_device *of)
{
	(void)of;
	return 1;
}

static struct ibv_xrcd *fake_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	(void)context;
	(void)attr;
	return &xrcd;
}

static int fake_close_xrcd(struct ibv_xrcd *closed)
{
	(void)closed;
	return 0;
}

static struct ibv_qp *fake_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	qp->context = context;
	qp->qp_num = next_qp++;
	qp->qp_context = attr->qp_context;
	return qp;
}

/* The library asks for a number that cannot exist whether QPs are shared: EINVAL means that they are. */
static struct ibv_qp *fake_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	(void)context;
	(void)attr;
	errno = EINVAL;
	return NULL;
}

static int fake_destroy_qp(struct ibv_qp *qp)
{
	free(qp);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	if (modern_load() || !mkdtemp(dir))
		return -1;
	modern_table.destroy_qp = fake_destroy_qp;
	modern_table.get_device_guid = fake_get_device_guid;
	adapter.sz = sizeof(adapter);
	adapter.open_xrcd = fake_open_xrcd;
	adapter.close_xrcd = fake_close_xrcd;
	adapter.create_qp_ex = fake_create_qp_ex;
	adapter.open_qp = fake_open_qp;
	adapter.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	adapter.context.device = &device;
	xrcd.context = &adapter.context;
	return setenv("XRC_COMPAT_TABLE_DIR", dir, 1);
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

static int note(void *context, const struct regtab_view *view)
{
	*(unsigned *)context = view->qp_count;
	snprintf(path, sizeof(path), "%s", view->path);
	return 0;
}

static unsigned seen(void)
{
	unsigned qps = 0;

	assert_int_equal(regtab_list(dir, note, &qps), 0);
	return qps;
}

static void what_was_removed_is_put_back(void **state)
{
	struct legacy_xrc_domain *domain;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	uint32_t numbers[4];

	(void)state;
	assert_int_equal(domain_open(&adapter.context, fd, O_CREAT, &domain), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rcv_qp_create(domain, &numbers[i]), 0);
	assert_int_equal(seen(), 3);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(seen(), 0);
	usleep(1100000);
	assert_int_equal(rcv_qp_create(domain, &numbers[3]), 0);
	assert_int_equal(seen(), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rcv_qp_unregister(domain, numbers[i]), 0);
	assert_int_equal(seen(), 0);
	assert_int_equal(domain_close(domain), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_removed_is_put_back),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
