/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The error map: each verb returns, and sets errno to, what it did in OFED. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <base/errmap.h>
#include <base/settings.h>

#include <harness/unit.h>

TEST(success_keeps_errno)
{
	for (int verb = 0; verb < VERBS; verb++) {
		errno = EBADF;
		assert_int_equal(errmap_return((enum verb)verb, 0, EAGAIN), 0);
		assert_int_equal(errno, EAGAIN);
	}
}

TEST(failure_is_returned_and_sets_errno)
{
	for (int verb = 0; verb < VERBS; verb++) {
		int minus_one = verb == VERB_ibv_get_async_event || verb == VERB_ibv_close_device ||
				verb == VERB_rdma_create_qp;

		errno = 0;
		assert_int_equal(errmap_return((enum verb)verb, -EINVAL, 0),
				 minus_one ? -1 : EINVAL);
		assert_int_equal(errno, EINVAL);
	}
}

/* GASNet: "!domain && errno == ENOSYS" prints its hint about a lack of XRC. */
TEST(eopnotsupp_becomes_enosys_in_xrc_verbs_only)
{
	errmap_return(VERB_ibv_open_xrc_domain, -EOPNOTSUPP, 0);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(errmap_return(VERB_ibv_reg_xrc_rcv_qp, -EOPNOTSUPP, 0), ENOSYS);
	assert_int_equal(errmap_return(VERB_ibv_modify_srq, -EOPNOTSUPP, 0), EOPNOTSUPP);
}

TEST(a_translation_is_logged_once_for_each_verb)
{
	char text[512] = "", *second;
	int log = memfd_create("log", MFD_CLOEXEC), before = dup(STDERR_FILENO), got[3];

	settings.verbose = true;
	dup2(log, STDERR_FILENO);
	got[0] = errmap_return(VERB_ibv_query_srq, -EROFS, 0);
	got[1] = errmap_return(VERB_ibv_query_srq, -EACCES, 0);
	got[2] = errmap_return(VERB_ibv_destroy_srq, -ENFILE, 0);
	dup2(before, STDERR_FILENO);
	assert_int_equal(got[0], EINVAL);
	assert_int_equal(got[1], EINVAL);
	assert_int_equal(got[2], ENOMEM);
	assert_true(pread(log, text, sizeof(text) - 1, 0) > 0);
	second = strchr(text, '\n') + 1;
	assert_non_null(strstr(text, "ibv_query_srq: Read-only file system"));
	assert_non_null(strstr(second, "ibv_destroy_srq: Too many open files in system"));
	assert_ptr_equal(strchr(second, '\n'), second + strlen(second) - 1);
}

/* Control groups and security modules return errors that legacy programs do not know. */
TEST(errnos_outside_the_contract_are_translated)
{
	static const int foreign[] = {
		EPERM, EACCES, EAGAIN, EMFILE, ENFILE, EROFS, ETIMEDOUT, ESTALE, EBADF, ENODEV,
		EHOSTUNREACH, ENOBUFS, EDQUOT, EUSERS, ENOLCK,
	};
	static const int scarce[] = { EAGAIN, EMFILE, ENFILE, ENOBUFS, EDQUOT, EUSERS, ENOLCK };

	for (int verb = VERB_ibv_open_xrc_domain; verb <= VERB_ibv_destroy_srq; verb++) {
		for (unsigned i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
			int expected = EINVAL;

			for (unsigned n = 0; n < sizeof(scarce) / sizeof(*scarce); n++)
				if (foreign[i] == scarce[n])
					expected = ENOMEM;
			if (verb == VERB_ibv_open_xrc_domain &&
			    (foreign[i] == EBADF || foreign[i] == EAGAIN))
				expected = foreign[i];	/* contract 5.1 */
			errno = 0;
			assert_int_equal(errmap_return((enum verb)verb, -foreign[i], 0), expected);
			assert_int_equal(errno, expected);
		}
	}
	/* These two verbs pass every errno on. Open MPI reads events until EAGAIN. */
	errmap_return(VERB_ibv_get_async_event, -EAGAIN, 0);
	assert_int_equal(errno, EAGAIN);
	errmap_return(VERB_ibv_close_device, -EPERM, 0);
	assert_int_equal(errno, EPERM);
}

UNIT_MAIN(NULL, NULL)
