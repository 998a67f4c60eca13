/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibcommon.so.1. Programs have it in DT_NEEDED because libibumad.so.1 was linked with it. Only
 * diagnostic programs called it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#define PRINTS __attribute__((format(printf, 2, 3)))

void ibwarn(const char *function, const char *format, ...) PRINTS;
void ibpanic(const char *function, const char *format, ...) PRINTS;
void logmsg(const char *function, const char *format, ...) PRINTS;

/* ---- messages ---- */

#define TEXT_SIZE 512

static void __attribute__((format(printf, 1, 0))) format_message(const char *format, va_list args,
								 char text[TEXT_SIZE])
{
	vsnprintf(text, TEXT_SIZE, format, args);
}

void ibwarn(const char *function, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	format_message(format, args, text);
	va_end(args);
	printf("ibwarn: [%d] %s: %s\n", getpid(), function, text);
}

void ibpanic(const char *function, const char *format, ...)
{
	int saved_errno = errno;
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	format_message(format, args, text);
	va_end(args);
	printf("ibpanic: [%d] %s: %s: (%s)\n", getpid(), function, text, strerror(saved_errno));
	exit(255);
}

void logmsg(const char *function, const char *format, ...)
{
	int saved_errno = errno;
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	format_message(format, args, text);
	va_end(args);
	syslog(LOG_ALERT, "[%d] %s: %s: (%s)\n", getpid(), function, text, strerror(saved_errno));
}

/* Two bytes to a word, eight words to a line. */
void xdump(FILE *file, const char *message, const void *data, int size)
{
	const uint8_t *byte = data;

	if (message)
		fputs(message, file);
	for (int i = 0; i < size; i++) {
		const char *end = i % 16 == 15 ? "\n" : i % 2 ? " " : "";

		fprintf(file, "%02x%s", byte[i], i + 1 == size ? "\n" : end);
	}
}

/* The old functions printed a backtrace at a crash. These do nothing: a debugger shows it. */
void stack_dump(void)
{
}

void enable_stack_dump(int loop)
{
	(void)loop;
}

/* ---- files of /sys: 0 or -errno ---- */

int sys_read_string(const char *directory, const char *name, char *text, int size)
{
	char path[256];
	ssize_t length;
	int fd;

	if (size <= 0)
		return -EINVAL;
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, text, (size_t)size - 1);
	close(fd);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

int sys_read_uint64(const char *directory, const char *name, uint64_t *value)
{
	char text[32];
	int err = sys_read_string(directory, name, text, sizeof(text));

	if (!err)
		*value = strtoull(text, NULL, 0);
	return err;
}

int sys_read_uint(const char *directory, const char *name, unsigned int *value)
{
	uint64_t wide;
	int err = sys_read_uint64(directory, name, &wide);

	if (!err)
		*value = (unsigned int)wide;
	return err;
}

/*
 * Read @count groups of four hexadecimal digits with colons between them, into network byte order.
 */
static int read_groups(const char *directory, const char *name, uint16_t *group, int count)
{
	char text[64];
	char *at = text;
	int err = sys_read_string(directory, name, text, sizeof(text));

	for (int i = 0; !err && i < count; i++) {
		char *end;

		group[i] = htobe16((uint16_t)strtoul(at, &end, 16));
		if (end == at || (*end != ':' && i + 1 < count))
			return -EINVAL;
		at = end + 1;
	}
	return err;
}

int sys_read_guid(const char *directory, const char *name, uint64_t *guid)
{
	uint16_t group[4];
	int err = read_groups(directory, name, group, 4);

	if (!err)
		memcpy(guid, group, sizeof(group));
	return err;
}

int sys_read_gid(const char *directory, const char *name, uint8_t *gid)
{
	uint16_t group[8];
	int err = read_groups(directory, name, group, 8);

	if (!err)
		memcpy(gid, group, sizeof(group));
	return err;
}

/* ---- others ---- */

/* In microseconds. */
uint64_t getcurrenttime(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_usec;
}

/* FNV-1a. Programs used it for tables in memory, so it need not be the old function. */
uint32_t fhash(const uint8_t *key, int length, uint32_t start)
{
	uint32_t hash = 2166136261u ^ start;

	for (int i = 0; i < length; i++)
		hash = (hash ^ key[i]) * 16777619u;
	return hash;
}
