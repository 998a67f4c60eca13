/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile registration tables: every function is called on a table whose bytes somebody has changed, or is changing meanwhile.
 * It must neither crash nor hang, and a refusal must name its reason.
 *
 * The input: one byte of flags, two bytes of length, then changes of seven bytes each: an area, an offset in it, four new bytes.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <compat/regtab/file.h>
#include <compat/regtab/tab.h>
#include <compat/owner/owner.h>
#include <tools/tables/view.h>

#include "actor.h"

#define FLAG_CHANGE_WHILE_MAPPED	1
#define FLAG_NOISE			2
#define FLAGS_TRUNCATE			0x1c	/* only if all are set, for hardly any check is reached by a table cut short */
#define FLAGS_NOBODY_HOLDS_IT		0xe0
#define QPS				40u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[512], image_path[300];
static struct regtab_key the_key;
static int to_holder, from_holder;
static unsigned long opened, runs;

/* ---- the other user of the table ---- */

/* Keeps the table in use, as a table without users would be replaced. On request it changes bytes all over the table. */
static void hold(int requests, int replies)
{
	uint8_t flags;

	while (read(requests, &flags, 1) == 1) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		struct pollfd more = { .fd = requests, .events = POLLIN };
		uint32_t random = flags;
		struct stat st;
		uint8_t *map = MAP_FAILED;

		if (fd < 0 || fstat(fd, &st) || regtab_lock(fd, F_RDLCK, LOCK_PRESENCE))
			_exit(1);
		if (flags & FLAG_CHANGE_WHILE_MAPPED && st.st_size >= 2 * REGTAB_PAGE)
			map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (write(replies, &flags, 1) != 1)
			_exit(1);
		while (poll(&more, 1, map == MAP_FAILED ? -1 : 0) == 0) {
			for (int i = 0; i < 1000; i++) {
				random = random * 1664525u + 1013904223u;
				map[(random >> 3) % (size_t)st.st_size & ~7u] = (uint8_t)(random >> 24);
				map[(random >> 3) % 4096] ^= (uint8_t)(1u << random % 8);
				map[REGTAB_PAGE + (random >> 5) % 4096] ^= (uint8_t)(1u << random % 8);
			}
		}
		if (read(requests, &flags, 1) != 1)
			_exit(0);
		if (map != MAP_FAILED)
			munmap(map, (size_t)st.st_size);
		close(fd);
		if (write(replies, &flags, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void holder_say(uint8_t flags)
{
	struct pollfd reply = { .fd = from_holder, .events = POLLIN };

	if (write(to_holder, &flags, 1) != 1 || poll(&reply, 1, 20000) != 1 || read(from_holder, &flags, 1) != 1) {
		fprintf(stderr, "fuzz: the holder of the table is gone\n");
		abort();
	}
}

static void start_holder(void)
{
	int request[2], reply[2];

	if (pipe(request) || pipe(reply))
		abort();
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(request[1]);
		close(reply[0]);
		hold(request[0], reply[1]);
	}
	close(request[0]);
	close(reply[1]);
	to_holder = request[1];
	from_holder = reply[0];
}

/* ---- a good table to start from ---- */

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	static uint8_t buffer[1 << 20];
	ssize_t size = pread(in, buffer, sizeof(buffer), 0);

	if (size <= 0 || pwrite(out, buffer, (size_t)size, 0) != size)
		abort();
	close(in);
	close(out);
}

/* Another process makes it: if this one closed a descriptor of the file, it would lose all its locks on the file. */
static void make_image(void)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 1);

	for (uint32_t i = 1; i <= QPS; i++)
		if (actor_do(i % 2 ? &a : &b, i % 3 ? ACT_ADD : ACT_ADD_OWNED, i) ||
		    (i % 4 && actor_do(i % 2 ? &b : &a, ACT_REGISTER, i)))
			abort();
	copy_file(path, image_path);
	actor_kill(&a);
	actor_kill(&b);
	unlink(path);
}

/* A run in which hardly any table was accepted has tested nothing. */
static void summary(void)
{
	printf("%lu of %lu tables were accepted\n", opened, runs);
	if (runs >= 1000 && opened < runs / 10) {
		fprintf(stderr, "fuzz: too few\n");
		fflush(NULL);
		_exit(1);
	}
}

static void prepare(void)
{
	struct table_file file;

	the_key = actor_key(1);
	regtab_file_path(&file, actor_dir(), &the_key, 0);
	memcpy(path, file.path, sizeof(path));
	snprintf(image_path, sizeof(image_path), "%s/image", actor_dir());
	make_image();
	start_holder();
	atexit(summary);
}

/* ---- spoiling it ---- */

/* In the header's two parts, a member's row, a row's map of pages, or the bits. */
static uint32_t offset_of(uint8_t area, uint32_t offset)
{
	switch (area % 5) {
	case 0:
		return offset % 192;
	case 1:
		return 192 + offset % ((uint32_t)sizeof(struct table_header) - 192);
	case 2:
		return REGTAB_PAGE + offset % (uint32_t)offsetof(struct member_row, maps);
	case 3:
		return REGTAB_PAGE + (uint32_t)offsetof(struct member_row, maps) + offset % (ROW_MAPS * RANGES * 2);
	default:
		return 2 * REGTAB_PAGE + offset % (6 * REGTAB_PAGE);
	}
}

static void spoil(const uint8_t *data, size_t size)
{
	uint8_t flags = data[0];
	off_t length = (off_t)(data[1] | data[2] << 8) * 64;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	for (data += 3, size -= 3; size >= 7; data += 7, size -= 7)
		if (pwrite(fd, data + 3, 4, offset_of(data[0], (uint32_t)(data[1] | data[2] << 8))) != 4)
			abort();
	if (flags & FLAG_NOISE)
		for (uint32_t i = 0; i < 4096; i += 4)
			if (pwrite(fd, &(uint32_t){ i * 2654435769u + flags }, 4, REGTAB_PAGE + i) != 4)
				abort();
	if ((flags & FLAGS_TRUNCATE) == FLAGS_TRUNCATE && ftruncate(fd, length))
		abort();
	close(fd);
}

/* ---- using it ---- */

static int answer(void *context, uint32_t qp_num, const void *request, size_t len, void *reply, size_t *reply_len)
{
	(void)context;
	(void)qp_num;
	memcpy(reply, request, len);
	*reply_len = len;
	return 0;
}

static void retired(void *context, uint32_t qp_num)
{
	(void)context;
	(void)qp_num;
}

static void use_qp(struct regtab_member *member, struct regtab *tab, uint32_t qp_num)
{
	char reply[16];
	size_t len = sizeof(reply);
	bool last;

	regtab_register(member, qp_num);
	regtab_count(tab, qp_num);
	if (qp_num % 8 == 0)
		owner_ask(member, qp_num, "what", 4, reply, &len, 1);
	if (len > sizeof(reply))
		abort();
	regtab_unregister(member, qp_num, &last);
}

static void use(struct regtab *tab)
{
	static const struct owner_service service = { answer, retired };
	struct regtab_member *member, *second;
	struct owner *owner;

	if (regtab_join(tab, "fuzz", &member))
		return;
	if (!regtab_join(tab, "fuzz", &second)) {
		if (!owner_open(second, &owner)) {
			regtab_add(second, 1000, REGTAB_BY_OWNER);
			regtab_register(member, 1000);
			owner_serve(owner, &service, NULL, 0);
			regtab_unregister(second, 1000, NULL);
			owner_serve(owner, &service, NULL, 0);
			owner_close(owner);
		}
		regtab_leave(second);
	}
	for (uint32_t i = 1; i <= QPS; i++)
		use_qp(member, tab, i);
	for (uint32_t i = 2000; i < 2040; i++)
		regtab_add(member, i, REGTAB_BY_KERNEL);
	regtab_member_count(member);
	regtab_reap(tab);
	regtab_leave(member);
}

static int look(void *context, const struct regtab_view *view)
{
	unsigned *sum = context;

	if (view->condition == REGTAB_REFUSED && !view->reason.text[0])
		abort();
	for (unsigned q = 0; q < view->qp_count; q++)
		for (unsigned m = 0; m < view->member_count; m++)
			*sum += regtab_view_registered(view, q, m) + (unsigned)strlen(view->members[m].command) +
				(unsigned)strlen(view->members[m].label);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct regtab_error why = { "" };
	struct regtab *tab;
	unsigned sum = 0;
	bool held;

	if (size < 3)
		return 0;
	if (!path[0])
		prepare();
	copy_file(image_path, path);
	spoil(data, size);
	held = (data[0] & FLAGS_NOBODY_HOLDS_IT) != FLAGS_NOBODY_HOLDS_IT;
	if (held)
		holder_say(data[0]);
	regtab_list(actor_dir(), look, &sum);
	if (!regtab_open(&the_key, actor_dir(), &tab, &why)) {
		opened++;
		use(tab);
		regtab_close(tab);
	} else if (!strstr(why.text, path)) {
		fprintf(stderr, "fuzz: refused without naming the file: \"%s\"\n", why.text);
		abort();
	}
	runs++;
	regtab_gc(actor_dir(), true, NULL, NULL);
	if (held)
		holder_say(0);
	unlink(path);
	return 0;
}
