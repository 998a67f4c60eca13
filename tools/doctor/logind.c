/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads RemoveIPC of logind.conf and its drop-ins as systemd does: logind.conf(5). */
#include "logind.h"
#include "tools/common/memory.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A file hides files of the same name in later directories. */
static const char *const directories[] = { "/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
					   "/usr/lib/systemd", "/lib/systemd" };

#define DIRECTORIES (sizeof(directories) / sizeof(directories[0]))

/* Any other word is ignored, as by systemd. */
static bool boolean(const char *word, bool otherwise)
{
	static const char *const words[][2] = {
		{ "no", "yes" }, { "false", "true" }, { "off", "on" }, { "0", "1" }, { "n", "y" },
		{ "f", "t" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (int value = 0; value < 2; value++) {
			if (!strcasecmp(word, words[i][value]))
				return value;
		}
	}
	return otherwise;
}

static void read_file(FILE *file, bool *removes)
{
	char line[256], value[16], more;
	bool login = false;

	while (fgets(line, sizeof(line), file)) {
		const char *text = line + strspn(line, " \t");

		if (*text == '[')
			login = !strncmp(text, "[Login]", 7);
		else if (login && sscanf(text, "RemoveIPC = %15s %c", value, &more) == 1)
			*removes = boolean(value, *removes);
	}
}

/* The first file of that name, which hides the others. */
static void read_first(const char *name, bool *removes)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < DIRECTORIES; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", directories[i], name);
		file = fopen(path, "re");
		if (!file && errno == ENOENT)
			continue;
		if (file) {
			read_file(file, removes);
			fclose(file);
		}
		return;
	}
}

static void add_drop_ins(const char *directory, struct string_list *names)
{
	struct dirent *entry;
	char name[PATH_MAX];
	DIR *stream;

	snprintf(name, sizeof(name), "%s/logind.conf.d", directory);
	stream = opendir(name);
	while (stream && (entry = readdir(stream))) {
		const char *end = strrchr(entry->d_name, '.');

		snprintf(name, sizeof(name), "logind.conf.d/%s", entry->d_name);
		if (entry->d_name[0] != '.' && end && !strcmp(end, ".conf") &&
		    !string_list_has(names, name))
			string_list_add(names, name);
	}
	if (stream)
		closedir(stream);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool logind_removes_ipc(void)
{
	struct string_list names = { 0 };
	bool removes = true;	/* the default of systemd, which few distributions change */

	read_first("logind.conf", &removes);
	for (size_t i = 0; i < DIRECTORIES; i++)
		add_drop_ins(directories[i], &names);
	if (names.count)
		qsort(names.item, names.count, sizeof(*names.item), compare);
	for (size_t i = 0; i < names.count; i++)
		read_first(names.item[i], &removes);
	string_list_free(&names);
	return removes;
}
