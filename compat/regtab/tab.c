/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opening, mapping, growing and closing a table. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry.h"
#include "tab.h"

#define MAP_SIZE	((size_t)PAGES_MAX * REGTAB_PAGE)
/* Bound of every retry against changes by others: only a hostile file reaches it. Each retry means another succeeded. */
#define RETRIES_MAX	100000

bool regtab_is_mine(const struct regtab *tab)
{
	return tab->process == regtab_process();
}

/* ---- pages ---- */

/* Touching a mapping behind the end of its file kills the process, so the file is asked, not the table. */
bool regtab_page_is_there(struct regtab *tab, unsigned page)
{
	struct stat st;

	if (tab->private || !regtab_file_is_ours(&tab->file, &st))
		return false;
	if (st.st_size > (off_t)MAP_SIZE)
		st.st_size = (off_t)MAP_SIZE;
	__atomic_store_n(&tab->seen, (uint32_t)(st.st_size / REGTAB_PAGE), __ATOMIC_RELEASE);
	return page < st.st_size / REGTAB_PAGE;
}

int regtab_page_new(struct regtab *tab)
{
	for (int i = 0; i < RETRIES_MAX; i++) {
		uint32_t page = mem_load(&tab->header->pages);
		int err = 0;

		if (!page || page >= PAGES_MAX)
			return -ENOMEM;
		if (!tab->private)
			err = regtab_file_reserve(&tab->file, page);
		if (err)
			return err;
		/* Crash before: the page is reserved and still to be handed out. After: one page that nobody uses. */
		if (mem_swap(&tab->header->pages, page, page + 1))
			return (int)page;
	}
	return -ENOMEM;
}

static int map_table(struct regtab *tab)
{
	int flags = tab->private ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	int protection = tab->private ? PROT_NONE : PROT_READ | PROT_WRITE;
	void *map = mmap(NULL, MAP_SIZE, protection, flags, tab->file.fd, 0);

	if (map == MAP_FAILED)
		return -ENOMEM;
	tab->header = map;
	if (tab->private) {
		/* A program that has locked all its memory, also what is to come, shall not get all of this. */
		munlock(map, MAP_SIZE);
		if (mprotect(map, MAP_SIZE, PROT_READ | PROT_WRITE))
			return -ENOMEM;
		regtab_header_fill(tab->header, &(struct regtab_key){ .device = "" });
		tab->seen = PAGES_MAX;
		return 0;
	}
	return mem_load(&tab->header->pages) && regtab_page_is_there(tab, mem_load(&tab->header->pages) - 1) ? 0 : -EPERM;
}

/* ---- opening and closing ---- */

static void tab_free(struct regtab *tab)
{
	if (tab->header)
		munmap(tab->header, MAP_SIZE);
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
	pthread_mutex_init(&tab->mutex, NULL);
	return tab;
}

static int open_private(struct registry *registry, struct regtab **tab, struct regtab_error *why)
{
	struct regtab *made = tab_new(registry->process, true);
	int err = made ? map_table(made) : -ENOMEM;

	if (err && made)
		tab_free(made);
	if (err)
		return regtab_why(why, err, "in private memory", "out of memory");
	*tab = made;
	return 0;
}

/* By inode, not by path: closing a second descriptor of a table would release this process's locks of it. */
static struct regtab *registry_find(struct registry *registry, dev_t dev, ino_t ino)
{
	struct stat st;

	for (struct regtab *tab = registry->tables; tab; tab = tab->next)
		if (tab->file.dev == dev && tab->file.ino == ino && regtab_file_is_ours(&tab->file, &st))
			return tab;
	return NULL;
}

int regtab_file_of_process(struct registry *registry, dev_t dev, ino_t ino)
{
	struct regtab *tab = registry_find(registry, dev, ino);

	return tab ? tab->file.fd : -1;
}

static int open_new(struct registry *registry, const struct table_file *file, const char *dir,
		    const struct regtab_key *key, struct regtab **tab, struct regtab_error *why)
{
	struct regtab *made = tab_new(registry->process, false);
	int err;

	if (!made)
		return regtab_why(why, -ENOMEM, file->path, "out of memory");
	made->file = *file;
	err = regtab_file_open(&made->file, dir, key, why);
	if (err)
		goto free_tab;
	err = map_table(made);
	if (err) {
		regtab_why(why, err, file->path, "%s" REGTAB_NEXT_STEP,
			   err == -EPERM ? "it is damaged" : "it cannot be mapped");
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
	return err;
}

/* Who comes second gets the table that the process has, unless the program has closed its descriptor. */
static int open_named(struct registry *registry, const struct table_file *file, const char *dir,
		      const struct regtab_key *key, struct regtab **tab, struct regtab_error *why)
{
	struct regtab *known = NULL;
	struct stat st;

	if (!lstat(file->path, &st))
		known = registry_find(registry, st.st_dev, st.st_ino);
	if (!known)
		return open_new(registry, file, dir, key, tab, why);
	known->references++;
	*tab = known;
	return 0;
}

/* In a directory of everybody somebody else may have a file under our name; then the next name is ours. */
static int open_shared(struct registry *registry, const struct regtab_key *key, const char *dir, struct regtab **tab,
		       struct regtab_error *why)
{
	int err = regtab_dir_check(dir, why);

	for (unsigned n = 0; !err && n < REGTAB_NAMES; n++) {
		struct table_file file = { .fd = -1 };

		err = regtab_file_path(&file, dir, key, n);
		if (err)
			regtab_why(why, err, dir, "the path is too long; set XRC_COMPAT_TABLE_DIR to a shorter one");
		else if (n == REGTAB_NAMES - 1 || !regtab_file_is_foreign(&file))
			return open_named(registry, &file, dir, key, tab, why);
	}
	return err;
}

int regtab_open(const struct regtab_key *key, const char *dir, struct regtab **tab, struct regtab_error *why)
{
	struct registry *registry = regtab_registry_lock();
	int err;

	if (!registry)
		return regtab_why(why, -ENOMEM, dir ? dir : "in private memory", "out of memory");
	err = dir ? open_shared(registry, key, dir, tab, why) : open_private(registry, tab, why);
	regtab_registry_unlock(registry);
	return err;
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
	struct regtab **link;

	/* A forked child: the descriptor is the parent's too, and the child may have locks of its own on the file. */
	if (!regtab_is_mine(tab))
		return;
	registry = regtab_registry_lock();
	if (--tab->references) {
		regtab_registry_unlock(registry);
		return;
	}
	for (link = &registry->tables; *link; link = &(*link)->next) {
		if (*link == tab) {
			*link = tab->next;
			break;
		}
	}
	if (!tab->private)
		regtab_file_close(&tab->file);
	regtab_registry_unlock(registry);
	tab_free(tab);
}

void regtab_close(struct regtab *tab)
{
	regtab_unref(tab);
}

bool regtab_removed(struct regtab *tab)
{
	return !tab->private && regtab_is_mine(tab) && !regtab_file_has_name(&tab->file);
}
