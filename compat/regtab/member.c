/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Members: joining, leaving, and telling the dead.
 *
 * A member number is taken with the write lock of its byte, which goes with the process. Then its row is emptied, then
 * its alive bit set: it lives. It leaves by clearing that bit. Of one that died somebody clears it, under the read lock
 * of the byte, so that several may and none who is stopped at it keeps the others from it; it keeps the number from
 * being taken meanwhile. Who dies on the way leaves a number without a lock, for the next who joins.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"
#include "member.h"

/* One that was found alive is taken for it so long: a program that unregisters all it has asks once, not each time. */
#define SEEN_ALIVE_NS	20000

int regtab_member_check(const struct regtab_member *member)
{
	const struct member_row *row;

	if (!regtab_is_mine(member->tab))
		return -ECHILD;
	row = regtab_row(member->tab, member->index);
	return row && mem_load(&row->epoch) == member->epoch && member_is_alive(member->tab, member->index) ? 0 : -ESTALE;
}

/* ---- the dead ---- */

bool regtab_member_is_dead(struct regtab *tab, unsigned member)
{
	struct stat st;
	int holder;

	if (member_is_local(tab, member))
		return false;
	if (tab->private)
		return true;
	holder = regtab_lock_holder(tab->file.fd, LOCK_MEMBER(member));
	/*
	 * A read lock is of one who tells the dead. An error proves nothing, and who is not proven dead keeps what he has;
	 * nor does the answer of another file, which the program may have opened in the place of ours.
	 */
	return (holder == F_UNLCK || holder == F_RDLCK) && regtab_file_is_ours(&tab->file, &st);
}

void regtab_member_tell_dead(struct regtab *tab, unsigned member)
{
	pthread_mutex_lock(&tab->mutex);
	if (!member_is_local(tab, member) && !regtab_lock(tab->file.fd, F_RDLCK, LOCK_MEMBER(member))) {
		mem_clear(&tab->header->alive[member / 64], member_bit(member));	/* crash: told already */
		regtab_lock(tab->file.fd, F_UNLCK, LOCK_MEMBER(member));
	}
	pthread_mutex_unlock(&tab->mutex);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool regtab_member_lives(struct regtab_member *asker, unsigned member)
{
	struct regtab *tab = asker->tab;
	const struct member_row *row = regtab_row(tab, member);
	uint32_t epoch = row ? mem_load(&row->epoch) : 0;
	int64_t now;

	if (member_is_local(tab, member))
		return true;
	now = now_ns();
	if (asker->seen_ns && asker->seen_alive == member && asker->seen_epoch == epoch && now - asker->seen_ns < SEEN_ALIVE_NS)
		return true;
	if (regtab_member_is_dead(tab, member)) {
		regtab_member_tell_dead(tab, member);
		return false;
	}
	asker->seen_alive = member;
	asker->seen_epoch = epoch;
	asker->seen_ns = now;
	return true;
}

int regtab_member_hold(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	struct stat st;
	int err = 0;

	if (tab->private)
		return 0;
	pthread_mutex_lock(&tab->mutex);
	/* Taking a lock that one has does nothing, and fails if others already told that we are dead. */
	if (!regtab_file_is_ours(&tab->file, &st) || regtab_lock(tab->file.fd, F_WRLCK, LOCK_MEMBER(member->index)) ||
	    regtab_lock(tab->file.fd, F_RDLCK, LOCK_PRESENCE))
		err = -ESTALE;
	pthread_mutex_unlock(&tab->mutex);
	return err ? err : regtab_member_check(member);
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

static void fill_row(struct member_row *row, const char *label)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	row->pid = (uint32_t)getpid();
	row->start_time = own_start_time();
	row->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	row->since = (uint64_t)now.tv_sec;
	memset(row->command, 0, sizeof(row->command));
	own_command(row->command);
	snprintf(row->label, sizeof(row->label), "%s", label ? label : "");
	mem_store(&row->epoch, row->epoch + 1);		/* crash: not alive yet */
}

/* 0, -EBUSY: somebody else has the number, or an error. Table's mutex held. */
static int take(struct regtab_member *made, unsigned i, const char *label)
{
	struct regtab *tab = made->tab;
	struct member_row *row;
	int err;

	if (member_is_local(tab, i) || (!tab->private && regtab_lock(tab->file.fd, F_WRLCK, LOCK_MEMBER(i))))
		return -EBUSY;
	mem_clear(&tab->header->alive[i / 64], member_bit(i));
	err = regtab_row_prepare(tab, i, &row);
	if (err) {
		regtab_lock(tab->file.fd, F_UNLCK, LOCK_MEMBER(i));
		return err;
	}
	fill_row(row, label);
	made->index = i;
	made->epoch = mem_load(&row->epoch);
	__atomic_fetch_or(&tab->local[i / 64], member_bit(i), __ATOMIC_ACQ_REL);
	mem_or(&tab->header->alive[i / 64], member_bit(i));
	return 0;
}

int regtab_join(struct regtab *tab, const char *label, struct regtab_member **member)
{
	struct regtab_member *made;
	struct stat st;
	int err = -EBUSY;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	if (!tab->private && !regtab_file_is_ours(&tab->file, &st))
		return -ESTALE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->tab = tab;
	pthread_mutex_lock(&tab->mutex);
	for (unsigned i = 0; i < REGTAB_MEMBERS_MAX && err == -EBUSY; i++)
		err = take(made, i, label);
	pthread_mutex_unlock(&tab->mutex);
	if (err) {
		free(made);
		return err == -EBUSY ? -ENOMEM : err;
	}
	pthread_mutex_init(&made->mutex, NULL);
	regtab_ref(tab);
	*member = made;
	return 0;
}

void regtab_leave(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	unsigned i = member->index;
	int err = regtab_member_check(member);
	struct stat st;

	if (err == -ECHILD)
		return;
	pthread_mutex_lock(&tab->mutex);
	if (!err)
		mem_clear(&tab->header->alive[i / 64], member_bit(i));	/* crash: nothing of it counts any more */
	__atomic_fetch_and(&tab->local[i / 64], ~member_bit(i), __ATOMIC_ACQ_REL);
	if (!err && !tab->private && regtab_file_is_ours(&tab->file, &st))
		regtab_lock(tab->file.fd, F_UNLCK, LOCK_MEMBER(i));
	pthread_mutex_unlock(&tab->mutex);
	pthread_mutex_destroy(&member->mutex);
	free(member);
	regtab_unref(tab);
}

unsigned regtab_member_number(const struct regtab_member *member)
{
	return member->index;
}

const char *regtab_path(const struct regtab_member *member)
{
	return member->tab->private ? NULL : member->tab->file.path;
}
