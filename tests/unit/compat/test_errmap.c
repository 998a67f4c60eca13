/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The error map: every verb returns and sets what its old self did. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <compat/errmap.h>

static void success_keeps_errno(void **state)
{
	(void)state;
	for (int verb = 0; verb < ERRMAP_VERBS; verb++) {
		errno = EBADF;
		assert_int_equal(errmap_return((enum errmap_verb)verb, 0, EAGAIN), 0);
		assert_int_equal(errno, EAGAIN);
	}
}

static void failure_returns_and_sets_it(void **state)
{
	(void)state;
	for (int verb = 0; verb < ERRMAP_VERBS; verb++) {
		int minus_one = verb == ERRMAP_GET_ASYNC_EVENT || verb == ERRMAP_CLOSE_DEVICE ||
				verb >= ERRMAP_RDMA_CREATE_QP;

		errno = 0;
		assert_int_equal(errmap_return((enum errmap_verb)verb, -EINVAL, 0), minus_one ? -1 : EINVAL);
		assert_int_equal(errno, EINVAL);
	}
}

/* GASNet: "!domain && errno == ENOSYS" prints its hint about a lack of XRC. */
static void no_xrc_is_enosys_for_xrc_verbs_only(void **state)
{
	(void)state;
	errmap_return(ERRMAP_OPEN_XRC_DOMAIN, -EOPNOTSUPP, 0);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(errmap_return(ERRMAP_REG_XRC_RCV_QP, -EOPNOTSUPP, 0), ENOSYS);
	assert_int_equal(errmap_return(ERRMAP_MODIFY_SRQ, -EOPNOTSUPP, 0), EOPNOTSUPP);
}

static void every_verb_has_its_row(void **state)
{
	(void)state;
	for (int verb = 0; verb < ERRMAP_VERBS; verb++) {
		const char *wanted = verb >= ERRMAP_RDMA_CREATE_QP ? "rdma" : verb == ERRMAP_XRC_COMPAT ? "xrc_" : "ibv_";

		assert_non_null(errmap_verb_name((enum errmap_verb)verb));
		assert_memory_equal(errmap_verb_name((enum errmap_verb)verb), wanted, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_keeps_errno),
		cmocka_unit_test(failure_returns_and_sets_it),
		cmocka_unit_test(no_xrc_is_enosys_for_xrc_verbs_only),
		cmocka_unit_test(every_verb_has_its_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
