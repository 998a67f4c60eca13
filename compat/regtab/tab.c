/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opening, mapping, growing and closing a table. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry.h"
#include "tab.h"

bool regtab_is_mine(const struct regtab *tab)
{
	return tab->process == regtab_process();
}

/* ---- mapping ---- */

/* A range of the table. Offsets are whole pages of 4 KiB only, so a larger page begins before the range. */
static void *map_range(struct regtab *tab, uint32_t offset, uint32_t size)
{
	uint32_t before = offset % (uint32_t)sysconf(_SC_PAGESIZE);
	int flags = tab->private ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	char *map = mmap(NULL, size + before, PROT_READ | PROT_WRITE, flags, tab->file.fd,
			 tab->private ? 0 : (off_t)(offset - before));

	return map == MAP_FAILED ? NULL : map + before;
}

static void unmap_range(void *start, uint32_t offset, uint32_t size)
{
	uint32_t before = offset % (uint32_t)sysconf(_SC_PAGESIZE);

	if (start)
		munmap((char *)start - before, size + before);
}

static int map_segment(struct regtab *tab, unsigned segment)
{
	uint32_t size = segment_slots(segment) * SLOT_BYTES;
	word64 *none = NULL, *keys;

	if (__atomic_load_n(&tab->segments[segment], __ATOMIC_ACQUIRE))
		return 0;
	keys = map_range(tab, segment_offset(segment), size);
	if (!keys)
		return -ENOMEM;
	if (!__atomic_compare_exchange_n(&tab->segments[segment], &none, keys, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		unmap_range(keys, segment_offset(segment), size);
	return 0;
}

/* Checked against the size of the file: touching a mapping behind its end kills the process. */
static int map_shape(struct regtab *tab, struct shape shape)
{
	struct stat st;
	int error = 0;

	if (!shape.segments || !shape.planes)
		return -EPERM;
	if (!tab->private && (fstat(tab->file.fd, &st) || st.st_size < (off_t)shape_bytes(shape)))
		return -EPERM;
	for (unsigned s = 0; s < shape.segments && !error; s++)
		error = map_segment(tab, s);
	return error;
}

/* Shapes only grow; a file that says otherwise is not believed. */
static void see_shape(struct regtab *tab, uint32_t word)
{
	uint32_t seen = __atomic_load_n(&tab->seen, __ATOMIC_ACQUIRE);
	struct shape shape, old;

	do {
		shape = shape_of(word);
		old = shape_of(seen);
		if (shape.segments < old.segments || shape.planes < old.planes)
			return;
	} while (!__atomic_compare_exchange_n(&tab->seen, &seen, shape_word(shape), false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}

void regtab_follow(struct regtab *tab)
{
	uint32_t word = mem_load32(&tab->header->shape);

	if (!map_shape(tab, shape_of(word)))
		see_shape(tab, word);
}

static int reserve_planes(struct regtab *tab, unsigned segment, unsigned from, unsigned to)
{
	if (from >= to)
		return 0;
	return regtab_file_reserve(tab->file.fd, plane_offset(segment, (int)from),
				   (to - from) * segment_slots(segment) * 8);
}

/* Memory for all that wanted has and now has not. Reserving again what another process reserves meanwhile does nothing. */
static int reserve_shape(struct regtab *tab, struct shape now, struct shape wanted)
{
	uint32_t record = sizeof(struct member_record) * PLANE_MEMBERS;
	int error = 0;

	if (tab->private)
		return 0;
	if (wanted.planes > now.planes)
		error = regtab_file_reserve(tab->file.fd, MEMBERS_OFFSET + now.planes * record,
					    (wanted.planes - now.planes) * record);
	for (unsigned s = 0; s < wanted.segments && !error; s++) {
		if (s >= now.segments)
			error = regtab_file_reserve(tab->file.fd, plane_offset(s, -1), segment_slots(s) * 8);
		if (!error)
			error = reserve_planes(tab, s, s < now.segments ? now.planes : 0, wanted.planes);
	}
	return error;
}

int regtab_grow(struct regtab *tab, struct shape wanted)
{
	for (int i = 0; i < RETRIES_MAX; i++) {
		uint32_t word = mem_load32(&tab->header->shape);
		struct shape now = shape_of(word), next;
		int error;

		next.segments = wanted.segments > now.segments ? wanted.segments : now.segments;
		next.planes = wanted.planes > now.planes ? wanted.planes : now.planes;
		if (next.segments > SEGMENTS_MAX || next.planes > PLANES_MAX)
			return -ENOMEM;
		error = reserve_shape(tab, now, next);
		if (!error)
			error = map_shape(tab, next);
		if (error)
			return error;
		/* Crash before: memory is reserved that nobody uses yet. After: empty room that all may use. */
		if (shape_word(next) == word || mem_cas32(&tab->header->shape, word, shape_word(next))) {
			see_shape(tab, shape_word(next));
			return 0;
		}
	}
	return -EAGAIN;
}

static int map_table(struct regtab *tab)
{
	char *base = map_range(tab, HEADER_OFFSET, SEGMENTS_OFFSET);

	if (!base)
		return -ENOMEM;
	tab->header = (struct table_header *)base;
	tab->records = (struct member_record *)(base + MEMBERS_OFFSET);
	tab->mailboxes = (struct mailbox *)(base + MAILBOXES_OFFSET);
	if (tab->private) {
		regtab_header_fill(tab->header, &(struct regtab_key){ .device = "" });
		mem_store64(&tab->header->magic, REGTAB_MAGIC);
	}
	regtab_follow(tab);
	return tab->seen ? 0 : -EPERM;
}

static void unmap_table(struct regtab *tab)
{
	for (unsigned s = 0; s < SEGMENTS_MAX; s++)
		unmap_range(tab->segments[s], segment_offset(s), segment_slots(s) * SLOT_BYTES);
	unmap_range(tab->header, HEADER_OFFSET, SEGMENTS_OFFSET);
}

/* ---- opening and closing ---- */

static void tab_free(struct regtab *tab)
{
	unmap_table(tab);
	pthread_mutex_destroy(&tab->mutex);
	free(tab);
}

static struct regtab *tab_new(uint32_t process, bool private)
{
	struct regtab *tab = calloc(1, sizeof(*tab));

	if (!tab)
		return NULL;
	tab->process = process;
	tab->references = 1;
	tab->private = private;
	tab->file.fd = -1;
	tab->file.dir_fd = -1;
	pthread_mutex_init(&tab->mutex, NULL);
	return tab;
}

static int open_private(struct registry *registry, struct regtab **tab, struct regtab_error *why)
{
	struct regtab *made = tab_new(registry->process, true);

	if (!made)
		return regtab_why(why, -ENOMEM, "in private memory", NULL, "out of memory");
	if (map_table(made)) {
		tab_free(made);
		return regtab_why(why, -ENOMEM, "in private memory", NULL, "out of memory");
	}
	*tab = made;
	return 0;
}

/* By inode, not by path: closing a second descriptor of a table would release this process's locks of it. */
static struct regtab *registry_find(struct registry *registry, dev_t dev, ino_t ino)
{
	for (struct regtab *tab = registry->tables; tab; tab = tab->next)
		if (tab->file.dev == dev && tab->file.ino == ino)
			return tab;
	return NULL;
}

int regtab_file_of_process(struct registry *registry, dev_t dev, ino_t ino)
{
	struct regtab *tab = registry_find(registry, dev, ino);

	return tab ? tab->file.fd : -1;
}

static int open_new(struct registry *registry, int dir_fd, const char *name, const char *dir,
		    const struct regtab_key *key, struct regtab **tab, struct regtab_error *why)
{
	struct regtab *made = tab_new(registry->process, false);
	int error;

	if (!made)
		return regtab_why(why, -ENOMEM, dir, name, "out of memory");
	made->file.dir_fd = dir_fd;
	memcpy(made->file.name, name, sizeof(made->file.name));
	error = regtab_file_open(&made->file, dir, key, why);
	if (error)
		goto free_tab;
	error = map_table(made);
	if (error) {
		regtab_why(why, error, dir, name, "%s" REGTAB_NEXT_STEP,
			   error == -EPERM ? "it is damaged" : "it cannot be mapped");
		goto close_file;
	}
	made->next = registry->tables;
	registry->tables = made;
	*tab = made;
	return 0;

close_file:
	close(made->file.fd);
free_tab:
	tab_free(made);
	return error;
}

static int open_shared(struct registry *registry, const struct regtab_key *key, const char *dir, struct regtab **tab,
		       struct regtab_error *why)
{
	char name[REGTAB_NAME_SIZE] = "";
	struct regtab *known = NULL;
	struct stat st;
	int dir_fd = regtab_dir_open(dir, why), error;

	if (dir_fd < 0)
		return dir_fd;
	regtab_file_name(key, name);
	if (!fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		known = registry_find(registry, st.st_dev, st.st_ino);
	if (known) {
		known->references++;
		*tab = known;
		close(dir_fd);
		return 0;
	}
	error = open_new(registry, dir_fd, name, dir, key, tab, why);
	if (error)
		close(dir_fd);
	return error;
}

int regtab_open(const struct regtab_key *key, const char *dir, struct regtab **tab, struct regtab_error *why)
{
	struct registry *registry = regtab_registry_lock();
	int error;

	if (!registry)
		return regtab_why(why, -ENOMEM, dir ? dir : "in private memory", NULL, "out of memory");
	error = dir ? open_shared(registry, key, dir, tab, why) : open_private(registry, tab, why);
	regtab_registry_unlock(registry);
	return error;
}

static void registry_remove(struct registry *registry, struct regtab *tab)
{
	for (struct regtab **link = &registry->tables; *link; link = &(*link)->next) {
		if (*link == tab) {
			*link = tab->next;
			return;
		}
	}
}

void regtab_ref(struct regtab *tab)
{
	struct registry *registry = regtab_registry_lock();

	tab->references++;
	regtab_registry_unlock(registry);
}

void regtab_unref(struct regtab *tab)
{
	struct registry *registry;

	/* A forked child: the descriptor is the parent's too, and the child may have locks of its own on the file. */
	if (!regtab_is_mine(tab))
		return;
	registry = regtab_registry_lock();
	if (--tab->references) {
		regtab_registry_unlock(registry);
		return;
	}
	registry_remove(registry, tab);
	if (!tab->private)
		regtab_file_close(&tab->file);
	regtab_registry_unlock(registry);
	tab_free(tab);
}

void regtab_close(struct regtab *tab)
{
	regtab_unref(tab);
}
