/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tables of this process: opening, mapping, growing and closing them. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tab.h"

#define MAP_SIZE	((size_t)PAGES_MAX * REGTAB_PAGE)
/* Bound of every retry against changes by others: only a hostile file reaches it. Each retry means another succeeded. */
#define RETRIES_MAX	100000

/* ---- the registry ---- */

static struct registry *the_registry;

/* Older kernels (before 4.14) cannot wipe: there a fork handler does, which a bare clone() escapes. */
static void wipe(void)
{
	*the_registry = (struct registry){ 0 };
}

static struct registry *make_registry(void)
{
	struct registry *none = NULL, *made;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	bool wiped;

	made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	wiped = !madvise(made, size, MADV_WIPEONFORK);
	if (!__atomic_compare_exchange_n(&the_registry, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(made, size);	/* another thread was faster */
		return none;
	}
	if (!wiped)
		pthread_atfork(NULL, NULL, wipe);
	return made;
}

struct registry *regtab_registry_lock(void)
{
	static uint32_t processes;	/* a child continues its parent's count, so their numbers differ */
	struct registry *registry = __atomic_load_n(&the_registry, __ATOMIC_ACQUIRE);

	if (!registry)
		registry = make_registry();
	if (!registry)
		return NULL;
	pthread_mutex_lock(&registry->mutex);
	if (!registry->process)
		__atomic_store_n(&registry->process, ++processes, __ATOMIC_RELEASE);
	return registry;
}

void regtab_registry_unlock(struct registry *registry)
{
	pthread_mutex_unlock(&registry->mutex);
}

bool regtab_is_mine(const struct regtab *tab)
{
	struct registry *registry = __atomic_load_n(&the_registry, __ATOMIC_ACQUIRE);

	return tab->process == __atomic_load_n(&registry->process, __ATOMIC_ACQUIRE);
}

/* By inode, not by path: closing a second descriptor of a table would release this process's locks of it. */
static struct regtab *registry_find(const struct registry *registry, dev_t dev, ino_t ino)
{
	for (struct regtab *tab = registry->tables; tab; tab = tab->next)
		if (tab->file.own.dev == dev && tab->file.own.ino == ino && own_fd_is_ours(&tab->file.own))
			return tab;
	return NULL;
}

int regtab_file_of_process(struct registry *registry, dev_t dev, ino_t ino)
{
	const struct regtab *tab = registry_find(registry, dev, ino);

	return tab ? tab->file.own.fd : -1;
}

/* ---- pages ---- */

/* Touching a mapping behind the end of its file kills the process, so the file is asked, not the table. */
bool regtab_page_is_there(struct regtab *tab, unsigned page)
{
	off_t size = own_fd_size(&tab->file.own);

	if (size < 0)
		return false;
	if (size > (off_t)MAP_SIZE)
		size = (off_t)MAP_SIZE;
	__atomic_store_n(&tab->seen, (uint32_t)(size / REGTAB_PAGE), __ATOMIC_RELEASE);
	return page < size / REGTAB_PAGE;
}

int regtab_page_new(struct regtab *tab)
{
	for (int i = 0; i < RETRIES_MAX; i++) {
		uint32_t page = mem_load(&tab->header->pages);
		int err;

		if (!page || page >= PAGES_MAX)
			return -ENOMEM;
		err = regtab_file_reserve(&tab->file, page);
		if (err)
			return err;
		/* Crash before: the page is reserved and still to be handed out. After: one page that nobody uses. */
		if (mem_swap(&tab->header->pages, page, page + 1))
			return (int)page;
	}
	return -ENOMEM;
}

static int map_file(struct regtab *tab)
{
	void *map = mmap(NULL, MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, tab->file.own.fd, 0);
	uint32_t pages;

	if (map == MAP_FAILED)
		return -ENOMEM;
	tab->header = map;
	pages = mem_load(&tab->header->pages);
	return pages && regtab_page_is_there(tab, pages - 1) ? 0 : -EPERM;
}

/* ---- opening and closing ---- */

static void tab_free(struct regtab *tab)
{
	if (tab->header)
		munmap(tab->header, MAP_SIZE);
	pthread_mutex_destroy(&tab->mutex);
	free(tab);
}

static int open_file(struct regtab *tab, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	int err = regtab_file_open(&tab->file, dir, key, why);

	if (err)
		return err;
	err = map_file(tab);
	if (!err)
		return 0;
	regtab_file_close(&tab->file);
	if (err == -ENOMEM)
		return regtab_why(why, err, tab->file.path, "no room in the address space: is ulimit -v low?");
	return regtab_why(why, err, tab->file.path, "it is damaged" REGTAB_NEXT_STEP);
}

static int open_new(struct registry *registry, const struct table_file *file, const char *dir,
		    const struct regtab_key *key, struct regtab **tab, struct regtab_error *why)
{
	struct regtab *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return regtab_why(why, -ENOMEM, file->path, "out of memory");
	made->process = registry->process;
	made->references = 1;
	made->file = *file;
	pthread_mutex_init(&made->mutex, NULL);
	err = open_file(made, dir, key, why);
	if (err) {
		tab_free(made);
		return err;
	}
	made->next = registry->tables;
	registry->tables = made;
	*tab = made;
	return 0;
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

int regtab_open(const struct regtab_key *key, const char *dir, struct regtab **tab, struct regtab_error *why)
{
	struct table_file file = { .own.fd = -1 };
	struct registry *registry;
	unsigned n = 0;
	const char *reason;
	int err = regtab_dir_check(dir, &reason);

	if (err)
		return regtab_why(why, err, dir, "%s; set XRC_COMPAT_TABLE_DIR to a directory of your own", reason);
	/* In a directory of everybody somebody else may have a file under our name; then the next name is ours. */
	do {
		if (regtab_file_path(&file, dir, key, n++))
			return regtab_why(why, -ENAMETOOLONG, dir,
					  "the path is too long; set XRC_COMPAT_TABLE_DIR to a shorter one");
	} while (n < REGTAB_NAMES && regtab_file_is_foreign(&file));
	registry = regtab_registry_lock();
	if (!registry)
		return regtab_why(why, -ENOMEM, file.path, "out of memory");
	err = open_named(registry, &file, dir, key, tab, why);
	regtab_registry_unlock(registry);
	return err;
}

void regtab_close(struct regtab *tab)
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
	for (link = &registry->tables; *link != tab; link = &(*link)->next)
		;
	*link = tab->next;
	regtab_file_close(&tab->file);
	regtab_registry_unlock(registry);
	tab_free(tab);
}

bool regtab_removed(struct regtab *tab)
{
	return regtab_is_mine(tab) && regtab_file_is_removed(&tab->file);
}
