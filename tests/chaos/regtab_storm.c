/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A storm on one registration table: processes register and unregister at random, and are stopped or killed at random; now
 * and then somebody removes a file. When all stand still, the table must show exactly what each living process did.
 *
 * XRC_COMPAT_CHAOS_KILLS: how many are killed (default 300). XRC_COMPAT_CHAOS_SEED: of the dice (default 1).
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/regtab.h>
#include <tools/tables/view.h>

#define PROCESSES	32u
#define QPS		96u
#define KILLS_PER_CHECK	40u

struct oracle {
	bool registered[PROCESSES][QPS];
	pid_t pid[PROCESSES];
	bool still[PROCESSES];
	unsigned long done[PROCESSES];
	bool pause;
};

static struct oracle *oracle;
static char dir[] = "/dev/shm/regtab-storm-XXXXXX";
static unsigned failures, checked, missing;

/* So far apart that they are on several pages of the map. */
static uint32_t number(unsigned n)
{
	return 0x800000 + n * 1021;
}

static uint32_t dice(uint32_t *random, uint32_t sides)
{
	*random = *random * 1664525u + 1013904223u;
	return (*random >> 8) % sides;
}

/* ---- a process ---- */

static void enter_again(struct regtab_entry *entry, unsigned self)
{
	struct regtab_news news;

	if (!regtab_refresh(entry, &news))
		return;
	for (unsigned n = 0; n < QPS; n++)
		if (oracle->registered[self][n])
			regtab_enter(entry, number(n), true);
}

static void stand_still(struct regtab_entry *entry, unsigned self)
{
	usleep(1100000);	/* the library looks once a second */
	enter_again(entry, self);
	__atomic_store_n(&oracle->still[self], true, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&oracle->pause, __ATOMIC_SEQ_CST))
		usleep(500);
	__atomic_store_n(&oracle->still[self], false, __ATOMIC_SEQ_CST);
}

static void work(unsigned self, uint32_t random)
{
	struct regtab_key key = { .device = "mlx4_0", .st_ino = 1 };
	struct regtab_entry *entry = regtab_new(dir, &key, "storm");

	for (unsigned i = 0; ; i++) {
		unsigned n = dice(&random, QPS);

		enter_again(entry, self);
		oracle->registered[self][n] ^= true;
		if (oracle->registered[self][n])
			regtab_enter(entry, number(n), true);
		else
			regtab_drop(entry, number(n));
		oracle->done[self]++;
		if (__atomic_load_n(&oracle->pause, __ATOMIC_SEQ_CST))
			stand_still(entry, self);
		if (i % 64 == 0)
			usleep(300);	/* for the sake of other programs */
	}
}

/* ---- the storm ---- */

static void start(unsigned self, uint32_t random)
{
	pid_t pid;

	for (unsigned n = 0; n < QPS; n++)
		oracle->registered[self][n] = false;
	oracle->still[self] = false;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work(self, random);
	}
	oracle->pid[self] = pid;
}

static void end(unsigned self)
{
	kill(oracle->pid[self], SIGKILL);
	waitpid(oracle->pid[self], NULL, 0);
}

static void fail(const char *what, uint32_t pid)
{
	fprintf(stderr, "regtab storm: %s (process %u)\n", what, pid);
	failures++;
}

static unsigned process_of(uint32_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if ((uint32_t)oracle->pid[i] == pid)
			return i;
	return PROCESSES;
}

static bool shows(const struct regtab_view *view, unsigned member, uint32_t qp_num)
{
	for (unsigned q = 0; q < view->qp_count; q++)
		if (view->qps[q].qp_num == qp_num)
			return regtab_view_registered(view, q, member);
	return false;
}

static int compare(void *context, const struct regtab_view *view)
{
	(void)context;
	if (view->condition == REGTAB_REFUSED)
		fail(view->reason, 0);
	for (unsigned m = 0; m < view->member_count; m++) {
		unsigned process = process_of(view->members[m].pid);

		if (!view->members[m].live)
			continue;
		if (process == PROCESSES) {
			fail("a living process that nobody knows", view->members[m].pid);
			continue;
		}
		missing--;
		for (unsigned n = 0; n < QPS; n++, checked++)
			if (shows(view, m, number(n)) != oracle->registered[process][n])
				fail("the table shows something else", view->members[m].pid);
	}
	return 0;
}

static bool all_still(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!__atomic_load_n(&oracle->still[i], __ATOMIC_SEQ_CST))
			return false;
	return true;
}

static void check(void)
{
	__atomic_store_n(&oracle->pause, true, __ATOMIC_SEQ_CST);
	for (int i = 0; !all_still() && i < 20000; i++)
		usleep(1000);
	if (!all_still())
		fail("a process hangs", 0);
	missing = PROCESSES;
	regtab_list(dir, compare, NULL);
	if (missing)
		fail("a process is not shown", 0);
	__atomic_store_n(&oracle->pause, false, __ATOMIC_SEQ_CST);
	while (!failures && all_still())
		usleep(500);
}

static int remove_one(void *random, const struct regtab_view *view)
{
	if (view->condition == REGTAB_IN_USE)
		unlink(view->members[dice(random, view->member_count)].path);
	return 0;
}

static void storm(unsigned long kills, uint32_t random)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		start(i, random + i);
	for (unsigned long n = 1; n <= kills && !failures; n++) {
		unsigned victim = dice(&random, PROCESSES), stopped = dice(&random, PROCESSES);

		kill(oracle->pid[stopped], SIGSTOP);
		usleep(dice(&random, 3000));
		end(victim);
		kill(oracle->pid[stopped], SIGCONT);
		start(victim, random);
		if (n % 8 == 0)
			regtab_list(dir, remove_one, &random);
		if (n % KILLS_PER_CHECK == 0)
			check();
	}
	check();
	for (unsigned i = 0; i < PROCESSES; i++)
		end(i);
}

static int count(void *files, const struct regtab_view *view)
{
	*(unsigned *)files += view->member_count + (view->condition == REGTAB_REFUSED);
	return 0;
}

int main(void)
{
	const char *setting = getenv("XRC_COMPAT_CHAOS_KILLS"), *seed = getenv("XRC_COMPAT_CHAOS_SEED");
	unsigned long done = 0, kills = setting ? strtoul(setting, NULL, 10) : 300;
	unsigned left = 0;

	oracle = mmap(NULL, sizeof(*oracle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (oracle == MAP_FAILED || !mkdtemp(dir))
		return 99;
	storm(kills, seed ? (uint32_t)strtoul(seed, NULL, 10) : 1);
	for (unsigned i = 0; i < PROCESSES; i++)
		done += oracle->done[i];
	for (unsigned i = 0; i < PROCESSES; i++)
		regtab_gc(dir);
	regtab_list(dir, count, &left);
	if (left)
		fail("a file is left", 0);
	printf("%lu killed, %lu operations, %u registrations compared, %u failures\n", kills, done, checked, failures);
	rmdir(dir);
	return failures != 0;
}
