/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile files of registration tables: another process has changed the bytes, or changes or
 * truncates the file meanwhile. Readers must not crash or hang, and a refusal must name the file.
 *
 * The input: one byte of flags, two bytes of length, then changes of seven bytes each: an area, an
 * offset in it, four new bytes.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/regtab_file.h>
#include <tools/tables/view.h>

#define FLAGS_CHANGE_MEANWHILE	0xe0	/* only if all are set: it takes a process */
/* only if all are set: few checks are reached in a truncated file */
#define FLAGS_TRUNCATE		0x1c
#define SIZE			(REGTAB_PAGE * 6)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/dev/shm/regtab-fuzz-XXXXXX", path[512];
static uint8_t image[SIZE];
static unsigned long accepted, runs;
static unsigned sum;

static void summary(void)
{
	rmdir(dir);
	printf("%lu of %lu files were accepted\n", accepted, runs);
	if (runs >= 1000 && accepted < runs / 10) {
		fprintf(stderr, "fuzz: too few files were accepted\n");
		fflush(NULL);
		_exit(1);
	}
}

static void prepare(void)
{
	struct regtab_header header = { .magic = REGTAB_MAGIC,
					.version = REGTAB_VERSION,
					.header_size = sizeof(header),
					.key = { .device = "mlx4_0", .st_ino = 1 },
					.pid = 1,
					.command = "fuzz",
					.label = "fuzz" };

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/xrc-compat-%u-mlx4_0-fuzzed", dir, geteuid());
	memcpy(image, &header, sizeof(header));
	for (unsigned i = 0; i < 64; i++)
		image[REGTAB_PAGE + i * 97] = (uint8_t)(i | 1);
	atexit(summary);
}

static void damage(const uint8_t *data, size_t size, int fd)
{
	off_t length = (off_t)(data[1] | data[2] << 8) * 64;
	bool truncate = (data[0] & FLAGS_TRUNCATE) == FLAGS_TRUNCATE;

	for (data += 3, size -= 3; size >= 7; data += 7, size -= 7) {
		uint32_t offset = (uint32_t)(data[1] | data[2] << 8);

		/* One change in eight is in the header. With more, no file would be accepted. */
		offset = data[0] % 8 ? REGTAB_PAGE + offset % (SIZE - REGTAB_PAGE)
				     : offset % (uint32_t)sizeof(struct regtab_header);
		if (pwrite(fd, data + 3, 4, offset) != 4)
			abort();
	}
	if (truncate && ftruncate(fd, length))
		abort();
}

/* Starts a process that keeps changing the file. */
static pid_t keep_changing(int fd, uint32_t random)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		random = random * 1664525u + 1013904223u;
		if (pwrite(fd, &random, 4, (random >> 3) % SIZE) < 0 ||
		    (random % 16 == 0 && ftruncate(fd, (random >> 4) % SIZE)))
			_exit(1);
	}
}

static int read_table(void *context, const struct regtab_view *view)
{
	const char *reason = view->members->reason;
	struct regtab_view_qp qp;

	if (reason && !strstr(reason, path))
		abort();
	*(bool *)context |= !reason;
	for (uint32_t from = 0; regtab_view_next(view, from, &qp); from = qp.qp_num + 1)
		for (unsigned m = 0; m < view->member_count; m++)
			sum += regtab_view_registered(view, qp.qp_num, m) +
			       (unsigned)strlen(view->members[m].command);
	return 0;
}

static int remove_dead(void *context, struct regtab_found *found, int err)
{
	(void)context;
	if (!err && regtab_remove_dead(found, true) && !found->reason)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool good = false;
	pid_t other = 0;
	int fd;

	if (size < 3)
		return 0;
	if (!path[0])
		prepare();
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (write(fd, image, sizeof(image)) != sizeof(image))
		abort();
	damage(data, size, fd);
	if ((data[0] & FLAGS_CHANGE_MEANWHILE) == FLAGS_CHANGE_MEANWHILE)
		other = keep_changing(fd, data[0]);
	for (int i = 0; i < (other ? 20 : 1); i++)
		if (regtab_list(dir, read_table, &good) ||
		    regtab_each(dir, O_RDWR, remove_dead, NULL))
			abort();
	runs++;
	accepted += good;
	if (other) {
		kill(other, SIGKILL);
		waitpid(other, NULL, 0);
	}
	close(fd);
	unlink(path);
	return 0;
}
