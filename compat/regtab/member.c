/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Members: joining, leaving, and reaping the dead.
 *
 * The life of a member number: record state 0, lock free
 *   -> a joiner takes the write lock, sets the state, fills the record, sets the alive bit.   It lives.
 *   -> it leaves, or dies and a reaper takes the read lock: alive bit cleared (now nothing of it counts), entries swept,
 *      state 0, lock released.
 * Who dies on the way leaves state != 0 without a lock: the next joiner that comes by, or reaper, sweeps (again).
 * Sweeping is idempotent and several may do it, but nobody can take the number meanwhile: a joiner needs the write lock,
 * which excludes every reaper's read lock.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"
#include "member.h"
#include "slot.h"

#define PROBES_PER_JOIN	16	/* dead members looked for on each join: bounds what crashes can pile up */

int regtab_member_check(const struct regtab_member *member)
{
	if (!regtab_is_mine(member->tab))
		return -ECHILD;
	if (mem_load32(&member->tab->records[member->index].epoch) != member->epoch ||
	    !member_is_alive(member->tab, member->index))
		return -ESTALE;
	return 0;
}

/* ---- the dead ---- */

bool regtab_member_lives(struct regtab *tab, unsigned member)
{
	int holder;

	if (member_is_local(tab, member))
		return true;
	if (tab->private)
		return false;
	holder = regtab_lock_holder(tab->file.fd, LOCK_MEMBER(member));
	/* A read lock is a reaper's. An error proves nothing, and who is not proven dead keeps what he has. */
	return holder == F_WRLCK || holder < 0;
}

bool regtab_member_bury(struct regtab *tab, unsigned member)
{
	if (member_is_local(tab, member))
		return false;
	if (!tab->private && regtab_lock(tab->file.fd, F_RDLCK, LOCK_MEMBER(member)))
		return false;
	/* Crash before: still dead, still to be found. After: nothing of it counts; state != 0 has it swept later. */
	mem_and64(&tab->header->alive[member / PLANE_MEMBERS], ~member_bit(member));
	return true;
}

static void clean(struct regtab *tab, unsigned member, bool died)
{
	regtab_slot_sweep(tab, member, died);
	mem_store32(&tab->records[member].state, 0);	/* crash before: swept again. After: the number is free */
	if (!tab->private)
		regtab_lock(tab->file.fd, F_UNLCK, LOCK_MEMBER(member));
}

void regtab_member_clean(struct regtab *tab, unsigned member)
{
	clean(tab, member, true);
}

/* Alive, or half-way between alive and free. */
static bool number_is_used(struct regtab *tab, unsigned member)
{
	return member_is_alive(tab, member) || mem_load32(&tab->records[member].state);
}

bool regtab_member_reap(struct regtab *tab, unsigned member)
{
	bool dead = false;

	pthread_mutex_lock(&tab->mutex);
	if (number_is_used(tab, member) && regtab_member_bury(tab, member)) {
		regtab_member_clean(tab, member);
		dead = true;
	}
	pthread_mutex_unlock(&tab->mutex);
	return dead;
}

int regtab_reap(struct regtab *tab)
{
	unsigned members = regtab_shape(tab).planes * PLANE_MEMBERS;
	int dead = 0;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	for (unsigned i = 0; i < members; i++)
		if (number_is_used(tab, i) && !regtab_member_lives(tab, i))
			dead += regtab_member_reap(tab, i);
	return dead;
}

/* ---- joining ---- */

/* Field 22 of /proc/self/stat, behind a command that may contain anything. 0: unknown. */
static uint64_t own_start_time(void)
{
	char text[1024];
	const char *p;
	ssize_t size;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = 0;
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static void own_command(char command[16])
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return;
	size = read(fd, command, 16);
	close(fd);
	if (size > 0 && command[size - 1] == '\n')
		command[size - 1] = 0;
}

static void fill_record(struct member_record *record, const char *label)
{
	const size_t plain = offsetof(struct member_record, pid);
	struct member_record mine = { 0 };
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	mine.pid = (uint32_t)getpid();
	mine.start_time = own_start_time();
	mine.pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	mine.since = (uint64_t)now.tv_sec;
	own_command(mine.command);
	if (label)
		snprintf(mine.label, sizeof(mine.label), "%s", label);
	/* A mailbox is left as it is: those who use it settle it among themselves (mail.c). Crash here: not alive yet. */
	mem_copy((char *)record + plain, (char *)&mine + plain, sizeof(mine) - plain);
	mem_add32(&record->epoch, 1);
}

/* Try to get a member number. Table's mutex held: record locks of one process do not exclude its own threads. */
static bool claim(struct regtab *tab, unsigned i, const char *label)
{
	struct member_record *record = &tab->records[i];

	if (member_is_alive(tab, i) || member_is_local(tab, i))
		return false;
	if (mem_load32(&record->state)) {	/* its joiner or its reaper died, or is at it */
		if (!regtab_member_bury(tab, i))
			return false;
		regtab_member_clean(tab, i);
	}
	if (!tab->private && regtab_lock(tab->file.fd, F_WRLCK, LOCK_MEMBER(i)))
		return false;
	if (mem_load32(&record->state) || member_is_alive(tab, i)) {
		if (!tab->private)
			regtab_lock(tab->file.fd, F_UNLCK, LOCK_MEMBER(i));
		return false;
	}
	mem_store32(&record->state, 1);		/* crash: swept by the next who wants the number */
	fill_record(record, label);
	__atomic_fetch_or(&tab->local[i / PLANE_MEMBERS], member_bit(i), __ATOMIC_ACQ_REL);
	mem_or64(&tab->header->alive[i / PLANE_MEMBERS], member_bit(i));	/* crash: a dead member without entries */
	return true;
}

static int claim_any(struct regtab *tab, const char *label)
{
	for (unsigned i = 0; i < REGTAB_MEMBERS_MAX; i++) {
		unsigned planes = regtab_shape(tab).planes;
		int error = 0;

		if (i >= planes * PLANE_MEMBERS)
			error = regtab_grow(tab, (struct shape){ 1, planes + 1 });
		if (error)
			return error;
		if (claim(tab, i, label))
			return (int)i;
	}
	return -ENOMEM;
}

static void probe_some(struct regtab *tab)
{
	unsigned members = regtab_shape(tab).planes * PLANE_MEMBERS;
	unsigned from = mem_add32(&tab->header->cursor, PROBES_PER_JOIN);

	for (unsigned n = 0; n < PROBES_PER_JOIN; n++) {
		unsigned i = (from + n) % members;

		if (number_is_used(tab, i) && !regtab_member_lives(tab, i))
			regtab_member_reap(tab, i);
	}
}

int regtab_join(struct regtab *tab, const char *label, struct regtab_member **member)
{
	struct regtab_member *made;
	int index;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	probe_some(tab);
	for (int attempt = 0; ; attempt++) {
		pthread_mutex_lock(&tab->mutex);
		index = claim_any(tab, label);
		pthread_mutex_unlock(&tab->mutex);
		if (index >= 0 || attempt || !regtab_reap(tab))
			break;
	}
	if (index < 0) {
		free(made);
		return index;
	}
	made->tab = tab;
	made->index = (unsigned)index;
	made->epoch = mem_load32(&tab->records[index].epoch);
	pthread_mutex_init(&made->mutex, NULL);
	regtab_ref(tab);
	*member = made;
	return 0;
}

void regtab_leave(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	unsigned i = member->index;
	bool current = !regtab_member_check(member);

	if (!regtab_is_mine(tab))
		return;
	pthread_mutex_lock(&tab->mutex);
	if (current) {
		/* Crash: nothing of it counts any more, and its number is swept as a dead one's. */
		mem_and64(&tab->header->alive[i / PLANE_MEMBERS], ~member_bit(i));
		clean(tab, i, false);
	}
	__atomic_fetch_and(&tab->local[i / PLANE_MEMBERS], ~member_bit(i), __ATOMIC_ACQ_REL);
	pthread_mutex_unlock(&tab->mutex);
	pthread_mutex_destroy(&member->mutex);
	free(member);
	regtab_unref(tab);
}
