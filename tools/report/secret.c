/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Takes names of people and machines out of a text. */
#include "secret.h"
#include "tools/common/text.h"

#include <ctype.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct secret {
	char name[PATH_MAX];
	const char *instead;
};

#define SECRETS 6

static void add(struct secret *list, size_t *count, const char *name, const char *instead)
{
	/* Names that identify nobody, or that are part of common words. */
	static const char *const common[] = { "", "/", "root", "localhost" };

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		if (!name || !strcmp(name, common[i]))
			return;
	}
	if ((size_t)snprintf(list[*count].name, sizeof(list[*count].name), "%s", name) <
	    sizeof(list[*count].name))
		list[(*count)++].instead = instead;
}

static size_t collect(struct secret *list)
{
	const struct passwd *user = getpwuid(getuid());
	struct utsname host;
	size_t count = 0;

	add(list, &count, getenv("HOME"), "~");
	add(list, &count, user ? user->pw_dir : NULL, "~");
	add(list, &count, user ? user->pw_name : NULL, "USER");
	add(list, &count, getenv("USER"), "USER");
	if (uname(&host))
		return count;
	add(list, &count, host.nodename, "HOST");
	host.nodename[strcspn(host.nodename, ".")] = '\0';
	add(list, &count, host.nodename, "HOST");
	return count;
}

/* '_' does not belong to a word: users write it behind their name. */
static bool is_word_character(char c)
{
	return isalnum((unsigned char)c);
}

/*
 * The length of the secret at @text if it is a whole word. @before is the character in front of it.
 */
static size_t at_word(const char *text, char before, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(text, name, length) || is_word_character(text[length]))
		return 0;
	return is_word_character(before) && is_word_character(name[0]) ? 0 : length;
}

/* Length of a GUID, four groups of four hexadecimal digits, as in "0002:c903:00a1:b2c3". */
static size_t at_guid(const char *text, char before)
{
	if (is_word_character(before) || before == ':')
		return 0;
	for (size_t i = 0; i < 19; i++) {
		if (i % 5 == 4 ? text[i] != ':' : !isxdigit((unsigned char)text[i]))
			return 0;
	}
	return is_word_character(text[19]) ? 0 : 19;
}

/*
 * The longest secret at @text: a host's full name begins with its short name, and that may begin
 * with the user's.
 */
static size_t match_at(const struct secret *list, size_t count, const char *text, char before,
		       const char **instead)
{
	size_t longest = at_guid(text, before);

	*instead = "GUID";
	for (size_t i = 0; i < count; i++) {
		size_t length = at_word(text, before, list[i].name);

		if (length <= longest)
			continue;
		longest = length;
		*instead = list[i].instead;
	}
	return longest;
}

void secret_print(FILE *out, const char *text)
{
	static struct secret list[SECRETS];
	static size_t count;
	char before = '\0';

	if (!count)
		count = collect(list);
	while (*text) {
		const char *instead;
		size_t length = match_at(list, count, text, before, &instead);
		size_t character = text_character(text);

		if (length) {
			fputs(instead, out);
		} else if (*text == '\n' || character) {
			length = character ? character : 1;
			fwrite(text, 1, length, out);
		} else {
			length = 1;
			fputc('?', out);
		}
		before = text[length - 1];
		text += length;
	}
}
