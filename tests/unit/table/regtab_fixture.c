/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the tables of this test program and its processes, and no others. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <table/own.h>
#include <table/view.h>

#include "regtab_fixture.h"

static uint64_t program;	/* tells the tables of this run from those of others */

static __attribute__((constructor)) void choose(void)
{
	program = (uint64_t)getpid() << 32 | 0x5eed;
}

struct regtab_key domain_key(unsigned n)
{
	return (struct regtab_key){ .device = "mlx4_0", .guid = program, .st_dev = 1, .st_ino = n };
}

static void note_qp(struct seen *seen, const struct regtab_view *view,
		    const struct regtab_view_qp *qp)
{
	for (unsigned m = 0; m < view->member_count; m++)
		seen->registrations += regtab_view_registered(view, qp->qp_num, m);
	if (seen->qps < SEEN_MAX) {
		seen->qp[seen->qps] = qp->qp_num;
		seen->registrants[seen->qps] = qp->registrants;
		seen->creator[seen->qps] = qp->creator ? qp->creator->pid : 0;
	}
	seen->qps++;
}

/* A refused table has no key. Those of other tests are no forgeries of this process's children. */
static bool is_ours(const struct regtab_view_member *member)
{
	char path[64], parent[32];
	FILE *file;
	int found = 0;

	if (!member->reason)
		return member->key.guid == program;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)member->pid);
	snprintf(parent, sizeof(parent), "PPid:\t%d\n", (int)getpid());
	file = member->unread ? NULL : fopen(path, "r");
	while (file && fgets(path, sizeof(path), file))
		found |= !strcmp(path, parent);
	if (file)
		fclose(file);
	return found || member->pid == getpid();
}

static void note(struct seen *seen, const struct regtab_view *view)
{
	const struct regtab_view_member *first = view->members;
	struct regtab_view_qp qp;

	if (!is_ours(first))
		return;
	snprintf(seen->path, sizeof(seen->path), "%s", first->path);
	if (first->reason) {
		seen->refused++;
		snprintf(seen->reason, sizeof(seen->reason), "%s", first->reason);
		return;
	}
	seen->tables++;
	seen->members += view->member_count;
	for (unsigned i = 0; i < view->member_count; i++) {
		seen->missing += view->members[i].missing;
		seen->pid = view->members[i].pid;
	}
	for (uint32_t from = 0; regtab_view_next_qp(view, from, &qp); from = qp.qp_num + 1)
		note_qp(seen, view, &qp);
}

/* abort(), because tests also call this in processes that cmocka does not know. */
struct seen read_tables(void)
{
	struct seen seen = { .tables = 0 };
	struct regtab_view all, table = { 0 };

	if (regtab_read(&all))
		abort();
	while (regtab_view_next_table(&all, &table))
		note(&seen, &table);
	regtab_free(&all);
	return seen;
}

int enter(unsigned n, uint32_t qp_num, bool created)
{
	struct regtab_key key = domain_key(n);
	int place = regtab_enter(regtab_open(&key), qp_num, created);

	if (regtab_show())
		abort();
	return place;
}

pid_t start_process(void (*what)(void *), void *arg)
{
	char byte = 0;
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
		regtab_forget();	/* as the library does */
		what(arg);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	return pid;
}

void kill_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
