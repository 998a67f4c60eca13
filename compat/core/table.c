/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The registration table of a domain: opening, joining, and what becomes of its errors. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <modern/modern.h>

#include <compat/base/log.h>

#include "table.h"

#define DEFAULT_DIRECTORY "/dev/shm"
#define RETRY_NS 1000000000

struct membership {
	struct regtab *tab;
	struct regtab_member *member;
	struct membership *before;	/* of a table that is gone; others may still be looking at it */
};

void table_init(struct table *table, struct ibv_context *context, bool shared, dev_t dev, ino_t ino)
{
	*table = (struct table){ .context = context, .shared = shared, .dev = dev, .ino = ino,
		.opening = PTHREAD_MUTEX_INITIALIZER };
}

static const char *directory(void)
{
	const char *setting = secure_getenv("XRC_COMPAT_TABLE_DIR");

	return setting && *setting ? setting : DEFAULT_DIRECTORY;
}

static struct regtab_key key_of(const struct table *table)
{
	const struct ibv_device *device = table->context->device;
	struct regtab_key key = { .st_dev = table->dev, .st_ino = table->ino };
	struct stat st;

	snprintf(key.device, sizeof(key.device), "%.63s", device->name);
	key.guid = modern_device_guid(table->context);
	/* Two emulated adapters may have one name and GUID; each has a device directory of its own. */
	if (!stat(device->ibdev_path, &st))
		key.instance = st.st_ino;
	return key;
}

/*
 * Programs that end without closing anything (GASNet always, any that is killed) leave a file that only costs memory.
 * The kernel cleaned up after them at once; here the next program of the user does, once per process.
 */
static void clean_up_after_others(const char *dir)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		regtab_gc(dir, false, NULL, NULL);
}

/* ---- errors ---- */

int table_error(const struct table *table, int err)
{
	static bool warned;

	switch (err) {
	case 0:
	case -EINVAL:
	case -ENOMEM:
		return err;
	}
	log_once(warned, "%s: the registration table in %s: %s; where it alone carries registrations the program is told ENOMEM",
		 table->context->device->name, directory(), strerror(-err));
	return -ENOMEM;
}

/* ---- opening ---- */

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);	/* to some milliseconds, for a tenth of the price */
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_and_join(const struct table *table, struct membership *made)
{
	const char *dir = directory();
	struct regtab_key key = key_of(table);
	struct regtab_error why = { "" };
	char label[REGTAB_LABEL_SIZE];
	static bool warned;
	int err = regtab_open(&key, dir, &made->tab, &why);

	if (err) {
		log_once(warned, "%s: %s", table->context->device->name, why.text);
		return err;
	}
	clean_up_after_others(dir);
	snprintf(label, sizeof(label), "%p", (void *)table->context);
	err = regtab_join(made->tab, label, &made->member);
	if (err) {
		log_once(warned, "%s: cannot join the registration table in %s: %s", table->context->device->name,
			 dir, strerror(-err));
		regtab_close(made->tab);
	}
	return err;
}

/* Opening held. */
static int join(struct table *table)
{
	struct membership *made = calloc(1, sizeof(*made));
	int err = made ? open_and_join(table, made) : -ENOMEM;

	if (err) {
		free(made);
		return err;
	}
	made->before = table->current;
	__atomic_store_n(&table->current, made, __ATOMIC_RELEASE);
	return 0;
}

struct regtab_member *table_member(struct table *table)
{
	const struct membership *current = __atomic_load_n(&table->current, __ATOMIC_ACQUIRE);

	return current ? current->member : NULL;
}

/* Opening held. An error holds for a while; a table that was removed just after it was joined is replaced at once. */
static int try_join(struct table *table)
{
	int64_t now = now_ns();

	if (table->err && now < table->retry_ns)
		return table->err;
	table->err = join(table);
	table->retry_ns = now + RETRY_NS;
	return table->err;
}

/* Once a second, for it takes a system call. */
static void look_after(struct table *table)
{
	int64_t now = now_ns();

	if (now < __atomic_load_n(&table->look_ns, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&table->look_ns, now + RETRY_NS, __ATOMIC_RELAXED);	/* two threads at once look twice */
	table_is_gone(table);
}

int table_join(struct table *table, struct regtab_member **member)
{
	int err = table->shared ? 0 : -EINVAL;

	if (!err && table_member(table)) {
		look_after(table);
	} else if (!err) {
		pthread_mutex_lock(&table->opening);
		if (!table->current)
			err = try_join(table);
		pthread_mutex_unlock(&table->opening);
	}
	if (!err)
		*member = table_member(table);
	return table_error(table, err);
}

static bool is_gone(const struct membership *membership)
{
	return regtab_removed(membership->tab) || regtab_member_check(membership->member) == -ESTALE;
}

bool table_is_gone(struct table *table)
{
	const struct membership *current = __atomic_load_n(&table->current, __ATOMIC_ACQUIRE);
	static bool warned, warned_of_closing;

	if (!current || !is_gone(current))
		return false;
	__atomic_store_n(&table->gone, true, __ATOMIC_RELAXED);
	if (regtab_removed(current->tab))
		log_once(warned, "%s: the registration table %s was removed while it was in use, as systemd does at "
			 "log-out (RemoveIPC=yes in logind.conf); set XRC_COMPAT_TABLE_DIR to a directory that it leaves "
			 "alone", table->context->device->name, regtab_path(current->member));
	else
		log_once(warned_of_closing, "%s: the program closed a descriptor of the registration table %s, and so "
			 "ended its registrations", table->context->device->name, regtab_path(current->member));
	return true;
}

int table_join_again(struct table *table, struct regtab_member **member)
{
	int err = 0;

	pthread_mutex_lock(&table->opening);
	if (table->current && is_gone(table->current))	/* another thread may have been faster */
		err = try_join(table);
	__atomic_store_n(&table->gone, err != 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&table->opening);
	*member = table_member(table);
	return table_error(table, err);
}

void table_close(struct table *table)
{
	struct membership *membership;

	pthread_mutex_lock(&table->opening);
	while ((membership = table->current)) {
		table->current = membership->before;
		regtab_leave(membership->member);
		regtab_close(membership->tab);
		free(membership);
	}
	table->retry_ns = 0;
	pthread_mutex_unlock(&table->opening);
}
