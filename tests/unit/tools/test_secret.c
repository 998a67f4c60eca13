/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* secret_print() on a machine whose name is known: uname() is the test's own. */
#include <tools/report/secret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "../unit.h"

int uname(struct utsname *host)
{
	memset(host, 0, sizeof(*host));
	strcpy(host->nodename, "alice-node7.site.example");
	return 0;
}

static void check(const char *text, const char *wanted)
{
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	assert_non_null(out);
	secret_print(out, text);
	fclose(out);
	assert_string_equal(printed, wanted);
	free(printed);
}

TEST(hides_the_host)
{
	/* Not USER-node7, and not HOST.site.example. */
	check("LID 3 of alice-node7\n", "LID 3 of HOST\n");
	check("from alice-node7.site.example:18515", "from HOST:18515");
}

TEST(hides_people_and_guids)
{
	check("/srv/alice/run as alice, port 0002:c903:00a1:b2c3", "~/run as USER, port GUID");
	check("/scratch/alice_jobs/solver_alice.log", "/scratch/USER_jobs/solver_USER.log");
}

TEST(leaves_other_words)
{
	check("node7, malice, alice7, 0002:c903:00a1:b2c3d",
	      "node7, malice, alice7, 0002:c903:00a1:b2c3d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(hides_the_host), UNIT(hides_people_and_guids), UNIT(leaves_other_words),
	};

	setenv("HOME", "/srv/alice", 1);
	setenv("USER", "alice", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
