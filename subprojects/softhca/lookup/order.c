/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The directory of devices in the order of their numbers. libibverbs lists devices as readdir() has
 * them, and the file system of a temporary directory may have them in any order; programs that take
 * "the first device" need the same one each time. Devices of other hosts are left out.
 */
#include "lookup.h"

#include <own/real.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 64

struct ordered {
	_Atomic(DIR *) dir; /* NULL = the slot is free */
	int count, at;
	struct dirent64 entry[MAX_ENTRIES];
	struct dirent last; /* the result of readdir() */
};

/*
 * One for each open directory of devices. If none is free, a directory shows the devices of all
 * hosts, in the file system's order.
 */
static struct ordered slots[8];
static atomic_int used;

/* "uverbs10" comes after "uverbs9". */
static int compare(const void *a, const void *b)
{
	return strverscmp(((const struct dirent64 *)a)->d_name,
			  ((const struct dirent64 *)b)->d_name);
}

static void load(struct ordered *slot, DIR *dir)
{
	struct dirent64 *entry;

	slot->count = slot->at = 0;
	while (slot->count < MAX_ENTRIES && (entry = real()->readdir64(dir))) {
		if (host_has(entry->d_name))
			memcpy(&slot->entry[slot->count++], entry, entry->d_reclen);
	}
	qsort(slot->entry, (size_t)slot->count, sizeof(slot->entry[0]), compare);
}

/* Without a lock, which a fork() in another thread could leave held in the child. */
void order_opened(DIR *dir)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		DIR *unused = NULL;

		if (!atomic_compare_exchange_strong(&slots[i].dir, &unused, dir))
			continue;
		load(&slots[i], dir);
		atomic_fetch_add(&used, 1);
		break;
	}
}

/* A directory stream belongs to one thread at a time, so its slot needs no lock. */
static struct ordered *slot_of(DIR *dir)
{
	if (!atomic_load_explicit(&used, memory_order_acquire) || !dir)
		return NULL;
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		if (atomic_load(&slots[i].dir) == dir)
			return &slots[i];
	}
	return NULL;
}

static struct dirent64 *next_in_order(struct ordered *slot)
{
	return slot && slot->at < slot->count ? &slot->entry[slot->at++] : NULL;
}

struct dirent64 *order_next64(DIR *dir, bool *ours)
{
	struct ordered *slot = slot_of(dir);

	*ours = slot != NULL;
	return next_in_order(slot);
}

struct dirent *order_next(DIR *dir, bool *ours)
{
	struct ordered *slot = slot_of(dir);
	const struct dirent64 *entry = next_in_order(slot);

	*ours = slot != NULL;
	if (!entry)
		return NULL;
	slot->last.d_ino = (ino_t)entry->d_ino;
	slot->last.d_off = (off_t)entry->d_off;
	slot->last.d_reclen = sizeof(slot->last);
	slot->last.d_type = entry->d_type;
	memcpy(slot->last.d_name, entry->d_name, sizeof(slot->last.d_name));
	return &slot->last;
}

void order_rewound(DIR *dir)
{
	struct ordered *slot = slot_of(dir);

	if (slot)
		slot->at = 0;
}

void order_closed(DIR *dir)
{
	struct ordered *slot = slot_of(dir);

	if (!slot)
		return;
	atomic_fetch_sub(&used, 1);
	atomic_store(&slot->dir, NULL);
}
