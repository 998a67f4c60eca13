/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat env`: prints the line of each launcher that preloads the library in all processes. */
#include "portable/lib_dir.h"
#include "run.h"
#include "tools/common/command.h"
#include "tools/common/launchers.h"
#include "tools/common/message.h"
#include "tools/common/preload.h"
#include "tools/common/text.h"
#include "tools/common/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- values ---- */

/* @rest: a variable that the user's shell expands behind the value. */
static void print_variable(const struct launcher *launcher, const char *name, const char *value,
			   const char *rest)
{
	const char *once = value[0] ? text_shell_word(value) : "";

	printf("%s%s%s%s%s", launcher->before, name, launcher->between,
	       launcher->quoted_twice ? text_shell_word(once) : once, rest);
}

/*
 * If LD_PRELOAD is set here, as inside `softhca run`, the line contains its value, because the line
 * may be typed in another shell. If it is not, the line expands LD_PRELOAD of that shell.
 */
static void print_preload(const struct launcher *launcher, const struct string_list *libraries)
{
	const char *here = getenv("LD_PRELOAD");
	/* Without the quotes a remote shell would replace $LIB in the value. */
	const char *there = launcher->remote ? "\"${LD_PRELOAD:+:'$LD_PRELOAD'}\""
					     : "\"${LD_PRELOAD:+:$LD_PRELOAD}\"";

	print_variable(launcher, "LD_PRELOAD", preload_value(libraries, launcher->remote),
		       here && here[0] ? "" : there);
}

static void print_if_set(const struct launcher *launcher, const char *name)
{
	const char *value = getenv(name);

	if (value && value[0])
		print_variable(launcher, name, value, "");
}

static void print_variables(const struct launcher *launcher, const struct string_list *libraries)
{
	printf("%s", launcher->word ? launcher->word : "");
	print_preload(launcher, libraries);
	for (const struct development_name *row = development_names; row->name; row++) {
		if (launcher->of_mvapich2)
			print_if_set(launcher, row->variable);
	}
#define ROW(NAME, IN_PROGRAM, ...) \
	if (IN_PROGRAM) \
		print_if_set(launcher, #NAME);
	XRC_COMPAT_ENV_TABLE(ROW)
#undef ROW
}

/* ---- lines ---- */

/* @to: the first word that is left out; NULL: none. @twice: quoted for a remote shell as well. */
static void print_words(char *const *from, char *const *to, bool twice)
{
	for (; from != to && *from; from++) {
		const char *once = text_shell_word(*from);

		printf(" %s", twice ? text_shell_word(once) : once);
	}
}

static bool is_program(const char *word)
{
	struct stat st;

	return strchr(word, '/') && !stat(word, &st) && S_ISREG(st.st_mode) && !access(word, X_OK);
}

/* The first word after the launcher that names a program by its path, or else the last word. */
static char **find_program(char **words)
{
	char **word = words + 1;

	while (*word && !is_program(*word))
		word++;
	return *word ? word : word - 1;
}

/* The line of that launcher, with the user's own words. */
static void print_line_for(const struct launcher *launcher, const struct string_list *libraries,
			   char **words)
{
	char **at = launcher->word ? find_program(words) : words + 1;

	printf("%s", words[0]);
	print_words(words + 1, at, false);
	print_variables(launcher, libraries);
	print_words(at, NULL, false);
	putchar('\n');
}

static void print_all(const struct string_list *libraries, char **words)
{
	static char placeholder[] = "PROGRAM", *placeholders[] = { placeholder, NULL };

	for (size_t i = 0; i < launcher_count; i++) {
		printf("# %s\n%s", launchers[i].title, launchers[i].command);
		print_variables(&launchers[i], libraries);
		if (launchers[i].names[0])
			print_words(words[0] ? words : placeholders, NULL,
				    launchers[i].quoted_twice);
		putchar('\n');
	}
}

/* Several launchers are named mpirun. */
static void print_chosen(const struct string_list *libraries, char **words)
{
	unsigned int count = 0;

	for (size_t i = 0; i < launcher_count; i++)
		count += launcher_has_name(&launchers[i], words[0]);
	for (size_t i = 0; i < launcher_count; i++) {
		if (!launcher_has_name(&launchers[i], words[0]))
			continue;
		if (count > 1)
			printf("# %s\n", launchers[i].title);
		print_line_for(&launchers[i], libraries, words);
	}
}

/* ---- what has to be preloaded ---- */

static struct preload_wish wish;

/* @words: the program, if any, and its arguments. 0, or TOOL_EXIT_REFUSED. */
static int find_libraries(char **words, bool *found, struct string_list *libraries)
{
	struct program program;
	struct elf_info elf;
	const char *shim;

	/* Other hosts may have a program that this one lacks. */
	*found = words[0] && !program_open(words[0], &program);
	if (find_shim(*found ? program.elf.bits : OWN_BITS, &shim, &elf))
		return TOOL_EXIT_REFUSED;
	string_list_add(libraries, shim);
	/* Without a program only the options add libraries: our own library needs no others. */
	if (!*found)
		program = (struct program){ .path = shim, .binary = shim, .elf = elf };
	/* The line has companions for what a known program opens. */
	if (!*found || starter_is_one(&program))
		set_mvapich2_variables();
	wish.other_hosts = true;
	needs_add(&program, *found ? words + 1 : NULL, &wish, libraries);
	return 0;
}

static int run_env(char **words)
{
	bool has_launcher = words[0] && find_launcher(words[0]), found, named;
	char **program_words = has_launcher ? find_program(words) : words;
	struct string_list libraries = { 0 };

	if (has_launcher && !words[1])
		return refuse_program_missing(&command_env);
	if (find_libraries(program_words, &found, &libraries))
		return TOOL_EXIT_REFUSED;
	/* A program that cannot be read can still be executed. */
	named = words[0] && is_program(program_words[0]);
	if (words[0] && !has_launcher && !found && !named)
		return refuse(TOOL_EXIT_REFUSED, "env: %s: no program; try: xrc-compat check %s",
			      words[0], words[0]);
	if (has_launcher && !named)
		say("env: no word is the path of a program here; the last one, %s, is taken for it",
		    program_words[0]);
	if (has_launcher)
		print_chosen(&libraries, words);
	else
		print_all(&libraries, words);
	return TOOL_EXIT_OK;
}

static void explain_program(void)
{
	putchar('\n');
	print_entry("PROGRAM", 9,
		    "behind a launcher the first word that is the path of an executable file, or else the last word");
}

static const struct option_row env_options[] = { PRELOAD_OPTIONS(wish), { 0 } };

const struct command command_env = {
	"env", env_options, "[LAUNCHER...] [PROGRAM [ARGUMENT...]]",
	"print the command line for each MPI launcher, or for the one given",
	"xrc-compat env mpirun_rsh -np 4 -hostfile hosts ./old-solver", run_env, .launches = true,
	.more_help = explain_program,
};
