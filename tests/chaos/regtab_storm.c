/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A storm on one registration table: 32 processes register and unregister at random, and are stopped or killed at random. Now
 * and then all stand still, and the table must have exactly the registrations that the oracle has.
 *
 * The oracle is a model of the kernel: one word for each QP number, with a bit for each process that has a handle. A process gets
 * a handle before it registers and drops it after it has unregistered, as the library does. The handles of a killed process are
 * cleared.
 *
 * XRC_COMPAT_CHAOS_KILLS: how many are killed (default 300). XRC_COMPAT_CHAOS_SEED: of the dice (default 1). When which process
 * runs is not in the dice.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/regtab/tab.h>

#include "actor.h"
#include "invariants.h"

#define PROCESSES	32u
#define QPS		96u
#define KILLS_PER_CHECK	40u
#define HELD_MAX	2u	/* registrations of a process; few, so that table entries come and go all the time */

struct oracle {
	uint32_t handles[QPS];		/* bit per process */
	pid_t pid[PROCESSES];
	uint32_t still[PROCESSES];
	uint64_t done[PROCESSES];
	uint32_t pause;
	uint32_t failures;
};

static struct oracle *oracle;

/* So far apart that they are on several pages: the table must grow during the storm. */
static uint32_t qp_number(unsigned n)
{
	return 0x800000 + n * 1021;
}

static void fail(const char *what, unsigned n, int value)
{
	fprintf(stderr, "regtab storm: %s (QP %u, %d)\n", what, n, value);
	__atomic_add_fetch(&oracle->failures, 1, __ATOMIC_SEQ_CST);
}

/* ---- a process in the storm ---- */

struct worker {
	unsigned self;
	uint32_t random;
	struct regtab *tab;
	struct regtab_member *member;
	bool registered[QPS];
	unsigned held[HELD_MAX];	/* registered with these, in no order */
	unsigned held_count;
};

static uint32_t dice(uint32_t *random, uint32_t sides)
{
	*random = *random * 1664525u + 1013904223u;
	return (*random >> 8) % sides;
}

static void open_and_join(struct worker *worker)
{
	struct regtab_key key = actor_key(1);
	struct regtab_error why = { "" };
	int error = regtab_open(&key, actor_dir(), &worker->tab, &why);

	if (!error)
		error = regtab_join(worker->tab, "storm", &worker->member);
	if (!error)
		return;
	fprintf(stderr, "%s\n", why.text);
	fail("cannot open and join", 0, error);
	_exit(1);
}

static void drop_handle(struct worker *worker, unsigned n)
{
	__atomic_fetch_and(&oracle->handles[n], ~(1u << worker->self), __ATOMIC_SEQ_CST);
}

/* Stands for ibv_open_qp, or for ibv_create_qp if no process has the QP. */
static void take_handle(struct worker *worker, unsigned n)
{
	__atomic_fetch_or(&oracle->handles[n], 1u << worker->self, __ATOMIC_SEQ_CST);
}

static void enter(struct worker *worker, unsigned n)
{
	int error;

	take_handle(worker, n);
	error = dice(&worker->random, 2) ? regtab_register(worker->member, qp_number(n)) : -EINVAL;
	if (error == -EINVAL)	/* no such QP: not created yet, or the last registrant has just left */
		error = regtab_enter(worker->member, qp_number(n));
	if (error)
		fail("cannot enter", n, error);
	worker->registered[n] = !error;
	worker->held[worker->held_count++] = n;
}

static void quit(struct worker *worker, unsigned n)
{
	bool last;
	int error = regtab_unregister(worker->member, qp_number(n), dice(&worker->random, 2) ? &last : NULL);

	if (error)
		fail("cannot unregister", n, error);
	worker->registered[n] = false;
	for (unsigned i = 0; i < worker->held_count; i++)
		if (worker->held[i] == n)
			worker->held[i] = worker->held[--worker->held_count];
	drop_handle(worker, n);
}

static void leave_and_join_again(struct worker *worker)
{
	regtab_leave(worker->member);
	if (dice(&worker->random, 2))
		regtab_close(worker->tab);
	for (unsigned n = 0; n < QPS; n++) {
		if (worker->registered[n])
			drop_handle(worker, n);
		worker->registered[n] = false;
	}
	worker->held_count = 0;
	open_and_join(worker);
}

static void work_once(struct worker *worker)
{
	unsigned n = dice(&worker->random, QPS);

	if (!dice(&worker->random, 200)) {
		leave_and_join_again(worker);
		return;
	}
	if (worker->held_count == HELD_MAX)
		n = worker->held[dice(&worker->random, HELD_MAX)];
	if (worker->registered[n] != regtab_is_registered(worker->member, qp_number(n)))
		fail(worker->registered[n] ? "registration lost" : "ghost registration", n, 0);
	if (worker->registered[n])
		quit(worker, n);
	else
		enter(worker, n);
	oracle->done[worker->self]++;
}

static void stand_still(unsigned self)
{
	__atomic_store_n(&oracle->still[self], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&oracle->pause, __ATOMIC_SEQ_CST))
		usleep(500);
	__atomic_store_n(&oracle->still[self], 0, __ATOMIC_SEQ_CST);
}

static void work(unsigned self, uint32_t seed)
{
	struct worker worker = { .self = self, .random = seed };

	open_and_join(&worker);
	for (unsigned i = 0; ; i++) {
		if (__atomic_load_n(&oracle->pause, __ATOMIC_SEQ_CST))
			stand_still(self);
		work_once(&worker);
		if (i % 64 == 0)
			usleep(300);	/* for the sake of other programs */
	}
}

/* ---- the storm ---- */

static void start_worker(unsigned self, uint32_t seed)
{
	pid_t pid;

	__atomic_store_n(&oracle->still[self], 0, __ATOMIC_SEQ_CST);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work(self, seed);
	}
	oracle->pid[self] = pid;
}

static void kill_worker(unsigned self)
{
	kill(oracle->pid[self], SIGKILL);
	waitpid(oracle->pid[self], NULL, 0);
	for (unsigned n = 0; n < QPS; n++)
		__atomic_fetch_and(&oracle->handles[n], ~(1u << self), __ATOMIC_SEQ_CST);
}

static unsigned process_of(uint32_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if ((uint32_t)oracle->pid[i] == pid)
			return i;
	return PROCESSES;
}

/* The processes that are registered with a QP, by the table, as a word like the oracle's. */
static uint32_t registrants_of(struct regtab *tab, unsigned n)
{
	uint32_t who = 0;

	for (int i = 0; (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++) {
		const struct member_row *row = regtab_row(tab, (unsigned)i);
		unsigned process;

		if (!regtab_row_has(tab, (unsigned)i, ROW_REGISTERED, qp_number(n)))
			continue;
		process = process_of(row->pid);
		if (process == PROCESSES)
			fail("a registrant that nobody knows", n, (int)row->pid);
		else
			who |= 1u << process;
	}
	return who;
}

static bool all_still(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!__atomic_load_n(&oracle->still[i], __ATOMIC_SEQ_CST))
			return false;
	return true;
}

static void check_all(struct regtab *tab)
{
	const char *broken;

	__atomic_store_n(&oracle->pause, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; !all_still(); i++) {
		if (i > 20000) {
			fail("a process hangs", 0, 0);
			break;
		}
		usleep(1000);
	}
	regtab_reap(tab);
	broken = invariants_broken(tab);
	if (broken)
		fail(broken, 0, 0);
	for (unsigned n = 0; n < QPS; n++) {
		uint32_t said = registrants_of(tab, n), is = oracle->handles[n];

		if (said & ~is)
			fail("ghost registration", n, (int)(said & ~is));
		if (is & ~said)
			fail("lost registration", n, (int)(is & ~said));
	}
	__atomic_store_n(&oracle->pause, 0, __ATOMIC_SEQ_CST);
}

static uint64_t operations(void)
{
	uint64_t done = 0;

	for (unsigned i = 0; i < PROCESSES; i++)
		done += oracle->done[i];
	return done;
}

static void storm(struct regtab *tab, unsigned long kills, uint32_t random)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		start_worker(i, random + i);
	for (unsigned long n = 1; n <= kills && !oracle->failures; n++) {
		unsigned victim = dice(&random, PROCESSES), stopped = dice(&random, PROCESSES);

		kill(oracle->pid[stopped], SIGSTOP);
		usleep(dice(&random, 3000));
		kill_worker(victim);
		kill(oracle->pid[stopped], SIGCONT);
		start_worker(victim, random);
		if (n % KILLS_PER_CHECK == 0)
			check_all(tab);
	}
	check_all(tab);
	for (unsigned i = 0; i < PROCESSES; i++)
		kill_worker(i);
}

int main(void)
{
	const char *setting = getenv("XRC_COMPAT_CHAOS_KILLS"), *seed_text = getenv("XRC_COMPAT_CHAOS_SEED");
	unsigned long kills = setting ? strtoul(setting, NULL, 10) : 300;
	struct regtab_key key = actor_key(1);
	uint32_t seed = seed_text ? (uint32_t)strtoul(seed_text, NULL, 10) : 1;
	struct regtab *tab;

	oracle = mmap(NULL, sizeof(*oracle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (oracle == MAP_FAILED || regtab_open(&key, actor_dir(), &tab, NULL))
		return 99;
	storm(tab, kills, seed);
	regtab_reap(tab);
	for (unsigned n = 0; n < QPS; n++)
		if (regtab_count(tab, qp_number(n)) != -EINVAL)
			fail("left at the end", n, 0);
	printf("seed %u: %lu killed, %llu operations, table of %u pages, %u failures\n", seed, kills,
	       (unsigned long long)operations(), tab->header->pages, oracle->failures);
	regtab_close(tab);
	if (actor_files(actor_dir()))
		fail("a file is left", 0, 0);
	return oracle->failures != 0;
}
