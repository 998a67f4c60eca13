/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A storm on one registration table: 32 processes register and unregister at random and are killed, or stopped, at
 * random. Every so often the storm holds its breath, and the table must say exactly what the oracle says.
 *
 * The oracle is a model of the kernel: per QP number one word, who holds a handle. The processes keep the order that the
 * table asks for (handle, then table; out of the table, then the handle), and the handles of a dead process are closed.
 *
 * XRC_COMPAT_CHAOS_KILLS: how many are killed (default 300).
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <compat/regtab/tab.h>

#include "actor.h"
#include "invariants.h"

#define PROCESSES	32u
#define QPS		96u
#define BREATH		40u	/* kills between two checks */
#define HELD_MAX	2u	/* registrations of a process: few, so that entries come and go all the time */

struct oracle {
	uint32_t handles[QPS];		/* bit per process */
	pid_t pid[PROCESSES];
	uint32_t parked[PROCESSES];
	uint64_t done[PROCESSES];
	uint32_t pause;
	uint32_t failures;
};

static struct oracle *oracle;

/* Numbers of several pages, so that the table grows in the storm, too. */
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

struct sailor {
	unsigned self;
	uint32_t random;
	struct regtab *tab;
	struct regtab_member *member;
	bool registered[QPS];
	unsigned held[HELD_MAX];	/* which, in no order */
	unsigned held_count;
};

static uint32_t dice(uint32_t *random, uint32_t sides)
{
	*random = *random * 1664525u + 1013904223u;
	return (*random >> 8) % sides;
}

static void embark(struct sailor *sailor)
{
	struct regtab_key key = actor_key(1);
	struct regtab_error why = { "" };
	int error = regtab_open(&key, actor_dir(), &sailor->tab, &why);

	if (!error)
		error = regtab_join(sailor->tab, "storm", &sailor->member);
	if (!error)
		return;
	fprintf(stderr, "%s\n", why.text);
	fail("cannot open and join", 0, error);
	_exit(1);
}

static void drop_handle(struct sailor *sailor, unsigned n)
{
	__atomic_fetch_and(&oracle->handles[n], ~(1u << sailor->self), __ATOMIC_SEQ_CST);
}

/* ibv_open_qp, or ibv_create_qp if no process has the QP. */
static void take_handle(struct sailor *sailor, unsigned n)
{
	__atomic_fetch_or(&oracle->handles[n], 1u << sailor->self, __ATOMIC_SEQ_CST);
}

static void enter(struct sailor *sailor, unsigned n)
{
	int error;

	take_handle(sailor, n);
	error = dice(&sailor->random, 2) ? regtab_register(sailor->member, qp_number(n)) : -EINVAL;
	if (error == -EINVAL)	/* no such QP: not created yet, or the last registrant has just left */
		error = regtab_enter(sailor->member, qp_number(n));
	if (error)
		fail("cannot enter", n, error);
	sailor->registered[n] = !error;
	sailor->held[sailor->held_count++] = n;
}

static void quit(struct sailor *sailor, unsigned n)
{
	bool last;
	int error = regtab_unregister(sailor->member, qp_number(n), dice(&sailor->random, 2) ? &last : NULL);

	if (error)
		fail("cannot unregister", n, error);
	sailor->registered[n] = false;
	for (unsigned i = 0; i < sailor->held_count; i++)
		if (sailor->held[i] == n)
			sailor->held[i] = sailor->held[--sailor->held_count];
	drop_handle(sailor, n);
}

static void go_ashore(struct sailor *sailor)
{
	regtab_leave(sailor->member);
	if (dice(&sailor->random, 2))
		regtab_close(sailor->tab);
	for (unsigned n = 0; n < QPS; n++) {
		if (sailor->registered[n])
			drop_handle(sailor, n);
		sailor->registered[n] = false;
	}
	sailor->held_count = 0;
	embark(sailor);
}

static void sail_on(struct sailor *sailor)
{
	unsigned n = dice(&sailor->random, QPS);

	if (!dice(&sailor->random, 200)) {
		go_ashore(sailor);
		return;
	}
	if (sailor->held_count == HELD_MAX)
		n = sailor->held[dice(&sailor->random, HELD_MAX)];
	if (sailor->registered[n] != regtab_is_registered(sailor->member, qp_number(n)))
		fail(sailor->registered[n] ? "registration lost" : "ghost registration", n, 0);
	if (sailor->registered[n])
		quit(sailor, n);
	else
		enter(sailor, n);
	oracle->done[sailor->self]++;
}

static void park(unsigned self)
{
	__atomic_store_n(&oracle->parked[self], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&oracle->pause, __ATOMIC_SEQ_CST))
		usleep(500);
	__atomic_store_n(&oracle->parked[self], 0, __ATOMIC_SEQ_CST);
}

static void sail(unsigned self, uint32_t seed)
{
	struct sailor sailor = { .self = self, .random = seed };

	embark(&sailor);
	for (unsigned i = 0; ; i++) {
		if (__atomic_load_n(&oracle->pause, __ATOMIC_SEQ_CST))
			park(self);
		sail_on(&sailor);
		if (i % 64 == 0)
			usleep(300);	/* leaves the machine to others, too */
	}
}

/* ---- the storm ---- */

static void launch(unsigned self, uint32_t seed)
{
	pid_t pid;

	__atomic_store_n(&oracle->parked[self], 0, __ATOMIC_SEQ_CST);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sail(self, seed);
	}
	oracle->pid[self] = pid;
}

static void sink(unsigned self)
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

/* Who is registered with a QP, as a word like the oracle's. */
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

static bool all_parked(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!__atomic_load_n(&oracle->parked[i], __ATOMIC_SEQ_CST))
			return false;
	return true;
}

static void hold_breath(struct regtab *tab)
{
	const char *broken;

	__atomic_store_n(&oracle->pause, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; !all_parked(); i++) {
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
		launch(i, random + i);
	for (unsigned long n = 1; n <= kills && !oracle->failures; n++) {
		unsigned victim = dice(&random, PROCESSES), stopped = dice(&random, PROCESSES);

		kill(oracle->pid[stopped], SIGSTOP);
		usleep(dice(&random, 3000));
		sink(victim);
		kill(oracle->pid[stopped], SIGCONT);
		launch(victim, random);
		if (n % BREATH == 0)
			hold_breath(tab);
	}
	hold_breath(tab);
	for (unsigned i = 0; i < PROCESSES; i++)
		sink(i);
}

int main(void)
{
	const char *setting = getenv("XRC_COMPAT_CHAOS_KILLS");
	unsigned long kills = setting ? strtoul(setting, NULL, 10) : 300;
	struct regtab_key key = actor_key(1);
	uint32_t seed = (uint32_t)time(NULL);
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
