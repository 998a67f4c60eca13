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
	for (int verb = 0; verb < VERBS; verb++) {
		errno = EBADF;
		assert_int_equal(errmap_return((enum verb)verb, 0, EAGAIN), 0);
		assert_int_equal(errno, EAGAIN);
	}
}

static void failure_returns_and_sets_it(void **state)
{
	(void)state;
	for (int verb = 0; verb < VERBS; verb++) {
		int minus_one = verb == VERB_ibv_get_async_event || verb == VERB_ibv_close_device ||
				verb == VERB_rdma_create_qp || verb == VERB_rdma_create_qp_ex;

		errno = 0;
		assert_int_equal(errmap_return((enum verb)verb, -EINVAL, 0), minus_one ? -1 : EINVAL);
		assert_int_equal(errno, EINVAL);
	}
}

/* GASNet: "!domain && errno == ENOSYS" prints its hint about a lack of XRC. */
static void no_xrc_is_enosys_for_xrc_verbs_only(void **state)
{
	(void)state;
	errmap_return(VERB_ibv_open_xrc_domain, -EOPNOTSUPP, 0);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(errmap_return(VERB_ibv_reg_xrc_rcv_qp, -EOPNOTSUPP, 0), ENOSYS);
	assert_int_equal(errmap_return(VERB_ibv_modify_srq, -EOPNOTSUPP, 0), EOPNOTSUPP);
}

static void every_verb_is_named_as_it_is_called(void **state)
{
	(void)state;
	assert_string_equal(errmap_verb_name(VERB_ibv_open_xrc_domain), "ibv_open_xrc_domain");
	assert_string_equal(errmap_verb_name(VERB_rdma_create_qp_ex), "rdma_create_qp_ex");
	assert_string_equal(errmap_verb_name(VERB_xrc_compat_xrcd), "xrc_compat_xrcd");
	for (int verb = 0; verb < VERBS; verb++)
		assert_non_null(errmap_verb_name((enum verb)verb));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_keeps_errno),
		cmocka_unit_test(failure_returns_and_sets_it),
		cmocka_unit_test(no_xrc_is_enosys_for_xrc_verbs_only),
		cmocka_unit_test(every_verb_is_named_as_it_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
