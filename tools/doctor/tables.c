/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Examines whether registration tables can be made, and whether they outlive a logout. */
#include "doctor.h"
#include "tools/program/paths.h"

#include <compat/regtab.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOB_BYTES (8 << 20)	/* of a large job */
#define PATIENCE_MS 2000

/*
 * When a user's last session ends, systemd-logind removes the user's files in /dev/shm, even if a
 * batch job still uses them. Since systemd 230 logind says whether it does (RemoveIPC).
 */
static bool logind_removes(const char *directory)
{
	char *const words[] = {
		(char *)"busctl", (char *)"get-property", (char *)"org.freedesktop.login1",
		(char *)"/org/freedesktop/login1", (char *)"org.freedesktop.login1.Manager",
		(char *)"RemoveIPC", NULL,
	};
	const struct aside program = { .words = words };
	bool removes;
	int result;
	char *text;

	if (strcmp(directory, "/dev/shm") != 0 || geteuid() < 1000)
		return false;
	text = aside_output(&program, PATIENCE_MS, NULL, &result);
	removes = !result && !strcmp(text, "b true\n");
	free(text);
	return removes;
}

/* As the library makes its file. 0 or -errno. */
static int try_file(const char *directory)
{
	struct regtab_key key = { .device = "doctor" };
	struct regtab_entry *entry = regtab_new(directory, &key, "");
	struct regtab_news news = { .err = -ENOMEM };

	if (entry)
		regtab_refresh(entry, &news);
	regtab_free(entry);
	return news.err;
}

/* Allocates the memory of a large job's tables. One small file may fit where these do not. */
static bool has_room(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	bool full = fd >= 0 && fallocate(fd, 0, 0, JOB_BYTES) && errno == ENOSPC;

	if (fd >= 0)
		close(fd);
	return !full;
}

void examine_tables(void)
{
	const char *directory = paths_table_directory();
	int err = try_file(directory);

	if (err == -ENOSPC || (!err && !has_room(directory)))
		found("table directory", FINDING_PROBLEM,
		      "remove files there (xrc-compat gc removes dead tables), or mount it larger: "
		      "mount -o remount,size=1G /dev/shm; in a container: --shm-size=1g",
		      "%s: no room for the tables of a job, %d MiB", directory, JOB_BYTES >> 20);
	else if (err)
		found("table directory", FINDING_PROBLEM,
		      "name a directory of your own, on a local file system, in XRC_COMPAT_TABLE_DIR",
		      "%s: %s", directory,
		      err == -EINVAL ? "the directory must be an absolute path" : strerror(-err));
	else if (logind_removes(directory))
		found("table directory", FINDING_PROBLEM,
		      "set RemoveIPC=no in a file of /etc/systemd/logind.conf.d, or name a directory "
		      "of your own in XRC_COMPAT_TABLE_DIR, for jobs that outlive your last login",
		      "%s: systemd-logind empties it for you when you log out (RemoveIPC)",
		      directory);
	else
		found("table directory", FINDING_OK, NULL, "%s", directory);
}
