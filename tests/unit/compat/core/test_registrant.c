/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Somebody removes a table whose QPs an owner keeps. Nothing can be put back, since the new table does not say who was registered.
 * So the registrants warn, too; each is a process of its own.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/domain/domain.h>
#include <compat/rcv_qp/rcv_qp.h>

#include <tools/tables/view.h>

#include "../../unit.h"
#include "../table_dir.h"
#include "provider.h"

#define QPS 3
#define UNKNOWN 0x777777u
#define WARNING "was removed while it was in use"

static uint32_t *numbers;	/* of the owner's QPs, for all processes */

struct registrant {
	int orders[2], log[2];
	pid_t pid;
};

/* Returns when the parent says so. */
static void await_order(const struct registrant *registrant)
{
	char word;

	if (read(registrant->orders[0], &word, 1) != 1)
		_exit(2);
}

/* Registers with two of the owner's QPs, then with a third or with one that does not exist. Tells the parent of each step. */
static void run_registrant(const struct registrant *registrant, int fd, bool unknown)
{
	struct legacy_xrc_domain *domain;
	int err;

	alarm(60);	/* if the parent fails */
	dup2(registrant->log[1], STDERR_FILENO);
	await_order(registrant);
	if (domain_open(provider_open(0, false), fd, O_CREAT, &domain) || rcv_qp_register(domain, numbers[0]) ||
	    rcv_qp_register(domain, numbers[1]))	/* it has looked for the table, and does not again for a second */
		_exit(3);
	dprintf(STDERR_FILENO, "registered\n");
	await_order(registrant);
	err = rcv_qp_register(domain, unknown ? UNKNOWN : numbers[2]);
	dprintf(STDERR_FILENO, "done\n");
	_exit(err != (unknown ? -EINVAL : 0));
}

static void start(struct registrant *registrant, int fd, bool unknown)
{
	assert_int_equal(pipe(registrant->orders) | pipe(registrant->log), 0);
	registrant->pid = fork();
	if (!registrant->pid)
		run_registrant(registrant, fd, unknown);
	assert_true(registrant->pid > 0);
	close(registrant->log[1]);
}

/* Lets a registrant go on. Returns what it prints, up to and including this word. */
static const char *order(const struct registrant *registrant, const char *word)
{
	static char said[4096];
	size_t length = 0, size = strlen(word);

	assert_int_equal(write(registrant->orders[1], "g", 1), 1);
	while (length < sizeof(said) - 1 && read(registrant->log[0], said + length, 1) == 1)
		if (++length >= size && !strncmp(said + length - size, word, size))
			break;
	said[length] = 0;
	return said;
}

static void end(const struct registrant *registrant)
{
	int status;

	assert_int_equal(waitpid(registrant->pid, &status, 0), registrant->pid);
	assert_int_equal(status, 0);
}

static int remove_table(void *context, const struct regtab_view *view)
{
	(void)context;
	return unlink(view->path);
}

TEST(registrants_warn)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct registrant looks, finds_nothing;
	struct legacy_xrc_domain *domain;

	/* Started before the owner has a thread, which a forked child would lack, and before it has warned itself. */
	start(&looks, fd, false);
	start(&finds_nothing, fd, true);
	assert_int_equal(domain_open(provider_open(0, false), fd, O_CREAT, &domain), 0);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(rcv_qp_create(domain, &numbers[i]), 0);
	assert_null(strstr(order(&looks, "registered\n"), WARNING));
	assert_null(strstr(order(&finds_nothing, "registered\n"), WARNING));
	assert_int_equal(regtab_list(table_dir, remove_table, NULL), 0);
	assert_non_null(strstr(order(&finds_nothing, "done\n"), WARNING));
	pass_a_second();	/* as long as it finds its QPs it looks once a second */
	assert_non_null(strstr(order(&looks, "done\n"), WARNING));
	end(&finds_nothing);
	end(&looks);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(rcv_qp_unregister(domain, numbers[i]), 0);
	assert_int_equal(domain_close(domain), 0);
	close(fd);
}

FIXTURE(setup)
{
	numbers = mmap(NULL, QPS * sizeof(*numbers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return numbers == MAP_FAILED || table_dir_make() || setenv("XRC_COMPAT_VERBOSE", "1", 1);
}

UNIT_MAIN(setup, table_dir_remove,
	UNIT(registrants_warn))
