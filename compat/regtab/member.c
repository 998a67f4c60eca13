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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tab.h"

int regtab_next_alive(struct regtab *tab, unsigned member)
{
	for (; member < REGTAB_MEMBERS_MAX; member = (member | 63) + 1) {
		uint64_t bits = mem_load(&tab->header->alive[member / 64]) & ~UINT64_C(0) << member % 64;

		if (bits)
			return (int)((member & ~63u) + (unsigned)__builtin_ctzll(bits));
	}
	return -1;
}

int regtab_member_check(const struct regtab_member *member)
{
	const struct member_row *row;

	if (!regtab_is_mine(member->tab))
		return -ECHILD;
	row = regtab_row(member->tab, member->index);
	return row && mem_load(&row->epoch) == member->epoch && member_is_alive(member->tab, member->index) ? 0 : -ESTALE;
}

int regtab_member_hold(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	int err = 0;

	pthread_mutex_lock(&tab->mutex);
	/* Taking a lock that one has does nothing, and fails if others already told that we are dead. */
	if (!own_fd_is_ours(&tab->file.own) || regtab_lock(tab->file.own.fd, F_WRLCK, LOCK_MEMBER(member->index)) ||
	    regtab_lock(tab->file.own.fd, F_RDLCK, LOCK_PRESENCE))
		err = -ESTALE;
	pthread_mutex_unlock(&tab->mutex);
	return err ? err : regtab_member_check(member);
}

/* ---- the dead ---- */

static void tell_dead(struct regtab *tab, unsigned member)
{
	pthread_mutex_lock(&tab->mutex);
	if (!member_is_local(tab, member) && !regtab_lock(tab->file.own.fd, F_RDLCK, LOCK_MEMBER(member))) {
		mem_clear(&tab->header->alive[member / 64], member_bit(member));	/* crash: told already */
		regtab_lock(tab->file.own.fd, F_UNLCK, LOCK_MEMBER(member));
	}
	pthread_mutex_unlock(&tab->mutex);
}

bool regtab_member_lives(struct regtab *tab, unsigned member)
{
	int holder;

	if (member_is_local(tab, member))
		return true;
	holder = regtab_lock_holder(tab->file.own.fd, LOCK_MEMBER(member));
	/*
	 * A read lock is of one who tells the dead. An error proves nothing, and who is not proven dead keeps what he has;
	 * nor does the answer of another file, which the program may have opened in the place of ours.
	 */
	if ((holder != F_UNLCK && holder != F_RDLCK) || !own_fd_is_ours(&tab->file.own))
		return true;
	tell_dead(tab, member);
	return false;
}

/* ---- joining ---- */

static void fill_row(struct member_row *row, const char *label)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	row->pid = (uint32_t)getpid();
	row->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	row->since = (uint64_t)now.tv_sec;
	snprintf(row->command, sizeof(row->command), "%s", program_invocation_short_name);
	snprintf(row->label, sizeof(row->label), "%s", label ? label : "");
	mem_store(&row->epoch, row->epoch + 1);		/* crash: not alive yet */
}

/* 0, -EBUSY: somebody else has the number, or an error. Table's mutex held. */
static int take(struct regtab_member *made, unsigned i, const char *label)
{
	struct regtab *tab = made->tab;
	struct member_row *row;
	int err;

	if (member_is_local(tab, i) || regtab_lock(tab->file.own.fd, F_WRLCK, LOCK_MEMBER(i)))
		return -EBUSY;
	mem_clear(&tab->header->alive[i / 64], member_bit(i));
	err = regtab_row_prepare(tab, i, &row);
	if (err) {
		regtab_lock(tab->file.own.fd, F_UNLCK, LOCK_MEMBER(i));
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
	int err = -EBUSY;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	if (!own_fd_is_ours(&tab->file.own))
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
	*member = made;
	return 0;
}

void regtab_leave(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	unsigned i = member->index;
	int err = regtab_member_check(member);

	if (err == -ECHILD)
		return;
	pthread_mutex_lock(&tab->mutex);
	if (!err)
		mem_clear(&tab->header->alive[i / 64], member_bit(i));	/* crash: nothing of it counts any more */
	__atomic_fetch_and(&tab->local[i / 64], ~member_bit(i), __ATOMIC_ACQ_REL);
	if (!err && own_fd_is_ours(&tab->file.own))
		regtab_lock(tab->file.own.fd, F_UNLCK, LOCK_MEMBER(i));
	pthread_mutex_unlock(&tab->mutex);
	pthread_mutex_destroy(&member->mutex);
	free(member);
}

const char *regtab_path(const struct regtab_member *member)
{
	return member->tab->file.path;
}

unsigned regtab_member_number(const struct regtab_member *member)
{
	return member->index;
}
