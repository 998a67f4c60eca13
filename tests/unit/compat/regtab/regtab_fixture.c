/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table directory of a test program, its clock, processes that write there, and a reader. */

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tools/tables/view.h>

#include "regtab_fixture.h"

static char dir[] = "/dev/shm/regtab-test-XXXXXX";

static long seconds = 1000;	/* stand still but for advance_a_second() */

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	int result = __real_clock_gettime(id, now);

	if (id == CLOCK_MONOTONIC_COARSE)
		now->tv_sec = __atomic_load_n(&seconds, __ATOMIC_RELAXED);
	return result;
}

void advance_a_second(void)
{
	__atomic_fetch_add(&seconds, 1, __ATOMIC_RELAXED);
}

static __attribute__((constructor)) void make_dir(void)
{
	if (!mkdtemp(dir))
		abort();
}

const char *tables_dir(void)
{
	return dir;
}

struct regtab_key domain_key(unsigned n)
{
	return (struct regtab_key){ .device = "mlx4_0", .guid = 1, .st_dev = 1, .st_ino = n };
}

unsigned count_files(char *path)
{
	struct dirent *entry;
	DIR *stream = opendir(tables_dir());
	unsigned count = 0;

	while (stream && (entry = readdir(stream))) {
		if (entry->d_name[0] == '.')
			continue;
		if (path)
			snprintf(path, 512, "%s/%s", dir, entry->d_name);
		count++;
	}
	closedir(stream);
	return count;
}

int expect_no_files(void **state)
{
	(void)state;
	return count_files(NULL) ? -1 : 0;
}

int expect_files_removed(void **state)
{
	char path[512];
	unsigned left = count_files(path);

	(void)state;
	if (left)
		fprintf(stderr, "%u files are left, among them %s\n", left, path);
	rmdir(dir);
	mkdir(dir, 0700);
	return left ? -1 : 0;
}

static __attribute__((destructor)) void remove_dir(void)
{
	rmdir(dir);
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
	seen->live_qps += qp->live;
}

static int note(void *context, const struct regtab_view *view)
{
	struct seen *seen = context;
	struct regtab_view_qp qp;

	snprintf(seen->path, sizeof(seen->path), "%s", view->members->path);
	if (view->members->reason) {
		seen->refused++;
		snprintf(seen->reason, sizeof(seen->reason), "%s", view->members->reason);
		return 0;
	}
	seen->tables++;
	for (unsigned i = 0; i < view->member_count; i++) {
		seen->members++;
		seen->live += view->members[i].live;
		seen->foreign += view->members[i].foreign;
	}
	for (uint32_t from = 0; regtab_view_next(view, from, &qp); from = qp.qp_num + 1)
		note_qp(seen, view, &qp);
	return 0;
}

/* Reads in a child, because a process with entries of its own would release its locks. */
struct seen read_tables(void)
{
	struct seen *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		    seen;
	int status;
	pid_t pid = fork();

	if (!pid) {
		shared->result = regtab_list(tables_dir(), note, shared);
		_exit(0);
	}
	/* abort(), because tests also call this in processes that cmocka does not know. */
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		abort();
	seen = *shared;
	munmap(shared, sizeof(*shared));
	return seen;
}

struct regtab_entry *try_entry(const char *directory, int *err)
{
	struct regtab_key key = domain_key(1);
	struct regtab_entry *entry = regtab_new(directory, &key, "test");
	struct regtab_news news;

	regtab_refresh(entry, &news);
	*err = news.err;
	return entry;
}

struct regtab_entry *new_entry(unsigned n)
{
	struct regtab_key key = domain_key(n);
	struct regtab_entry *entry = regtab_new(tables_dir(), &key, "test");
	struct regtab_news news = { .err = -ENOMEM };

	if (entry)
		regtab_refresh(entry, &news);
	if (news.err)
		abort();
	return entry;
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
