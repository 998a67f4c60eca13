/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile registration tables: the process has changed the bytes, or changes them meanwhile.
 * Readers must not crash or hang.
 *
 * The input: one byte of flags, then changes of seven bytes each: an area, an offset in it, four
 * new bytes. The address sanitizer finds a reader that goes past its copy of a table.
 */

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <table/own.h>
#include <table/view.h>

#include "fuzz.h"

#define FLAGS_CHANGE_MEANWHILE	0xe0	/* only if all are set: it takes a process */
#define SIZE			regtab_size(REGTAB_PLACES_MIN)
#define HEADER			offsetof(struct regtab_file, domains)

/* The table of this process, which the library wrote, and its content before any damage. */
static uint8_t *table, *image;
static _Atomic unsigned long *changes; /* made by other processes, which share this */
static unsigned long accepted, changed_meanwhile, runs;
static unsigned sum;

/*
 * Fails if random inputs were too rarely accepted, or changed meanwhile: then the test proves less
 * than it says.
 */
static void summary(void)
{
	printf("%lu of %lu tables were accepted, %lu changed meanwhile\n", accepted, runs,
	       changed_meanwhile);
	if (runs >= 100 && (accepted < runs / 10 || changed_meanwhile < runs / 40)) {
		fprintf(stderr, "fuzz: too few tables were accepted, or changed meanwhile\n");
		fflush(NULL);
		_exit(1);
	}
}

/* Finds the descriptor, as the library has no function for that. */
static int find_table(void)
{
	char path[64], target[64];

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = 0;
		if (strstr(target, REGTAB_NAME))
			return fd;
	}
	abort();
}

static void prepare(void)
{
	struct regtab_key key = { .device = "fuzz", .st_ino = 1 };
	int domain = regtab_open(&key);

	for (uint32_t i = 0; i < 64; i++)
		regtab_enter(domain, 64 + i * 97, i % 2);
	if (regtab_show())
		abort();
	table = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, find_table(), 0);
	image = malloc(SIZE);
	changes = mmap(NULL, sizeof(*changes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (table == MAP_FAILED || !image || changes == MAP_FAILED)
		abort();
	memcpy(image, table, SIZE);
	atexit(summary);
}

/* One change in eight is in the header. With more, no table would be accepted. */
static void damage(const uint8_t *data, size_t size)
{
	for (; size >= 7; data += 7, size -= 7) {
		size_t offset = (size_t)(data[1] | data[2] << 8);

		offset = data[0] % 8 ? HEADER + offset % (SIZE - HEADER - 3) : offset % HEADER;
		memcpy(table + offset, data + 3, 4);
	}
}

/* Puts four bytes at an offset, for about as long as a reader takes between its two reads. */
static void put(size_t offset, const void *bytes)
{
	memcpy(table + offset, bytes, 4);
	for (volatile int i = 0; i < 500; i++)
		;
}

/*
 * Starts a process that keeps changing the table, the header as often as the rest, and waits for
 * its first change. It takes each change back, so that a reader accepts the table and meets the
 * next change.
 */
static pid_t keep_changing(uint32_t random)
{
	unsigned long before = *changes;
	pid_t pid = fork();

	if (pid < 0)
		abort();
	while (pid && *changes == before)
		sched_yield();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		size_t offset = (random >> 8) % (random >> 31 ? HEADER - 3 : SIZE - 3);
		uint8_t original[4];

		memcpy(original, table + offset, 4);
		put(offset, &random);
		put(offset, original);
		++*changes;
		random = random * 1664525u + 1013904223u;
	}
}

/* Whether it is the table of this process and is not refused. */
static bool read_table(const struct regtab_view *view)
{
	struct regtab_view_qp qp;

	if (view->members->pid != getpid())
		return false;
	for (uint32_t from = 0; regtab_view_next_qp(view, from, &qp); from = qp.qp_num + 1)
		for (unsigned m = 0; m < view->member_count; m++)
			sum += regtab_view_registered(view, qp.qp_num, m) +
			       (unsigned)strlen(view->members[m].key.device);
	return !view->members->reason;
}

static bool read_tables(void)
{
	struct regtab_view all, view = { 0 };
	bool good = false;

	if (regtab_read(&all))
		abort();
	while (regtab_view_next_table(&all, &view))
		good |= read_table(&view);
	regtab_free(&all);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned long before;
	bool good = false;
	pid_t other = 0;

	if (size < 1)
		return 0;
	if (!table)
		prepare();
	memcpy(table, image, SIZE);
	damage(data + 1, size - 1);
	if ((data[0] & FLAGS_CHANGE_MEANWHILE) == FLAGS_CHANGE_MEANWHILE)
		other = keep_changing((uint32_t)size * 0x9e3779b9u + data[size / 2]);
	before = *changes;
	for (int i = 0; i < (other ? 20 : 1); i++)
		good |= read_tables();
	runs++;
	accepted += good;
	changed_meanwhile += *changes != before;
	if (other) {
		kill(other, SIGKILL);
		waitpid(other, NULL, 0);
	}
	return 0;
}
