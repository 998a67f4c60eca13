/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat env`: prints the line of each launcher that preloads the library in all processes. */
#include "run.h"

#include <tools/files/paths.h>
#include <tools/files/preload.h>
#include <tools/files/regular.h>
#include <tools/job/launchers.h>
#include <tools/job/variables.h>
#include <tools/text/command.h>
#include <tools/text/json.h>
#include <tools/text/message.h>
#include <tools/text/text.h>

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- values ---- */

static const char *shell;	/* the value of --shell */

static bool is_csh(void)
{
	const char *name = shell ? shell : getenv("SHELL");

	return name && !fnmatch("*csh", name, 0);
}

/* Prints @word as the shell reads it back, or a remote shell behind it if @twice. */
static void print_word(const char *word, bool twice)
{
	const char *once = text_shell_word(word);

	fputs(twice ? text_shell_word(once) : once, stdout);
}

static void print_variable(const struct launcher *launcher, const char *name, const char *value)
{
	if (!value || !value[0])
		return;
	fputs(launcher->before, stdout);
	print_text(stdout, "%s%s", name, launcher->between);
	print_word(value, launcher->quoted_twice);
}

/*
 * If LD_PRELOAD is set, as inside `softhca run`, print its value: the line may be typed in another
 * shell. If not, print `$LD_PRELOAD`, which csh cannot expand inside a word.
 */
static void print_variables(const struct launcher *launcher, const struct string_list *libraries)
{
	const char *here = getenv("LD_PRELOAD");

	fputs(launcher->word ? launcher->word : "", stdout);
	print_variable(launcher, "LD_PRELOAD", preload_value(libraries, launcher->expands));
	if (!(here && here[0]) && !is_csh() && !launcher->is_file)
		/* Without the quotes a remote shell would replace $LIB in the value. */
		fputs(launcher->remote ? "\"${LD_PRELOAD:+:'$LD_PRELOAD'}\""
				       : "\"${LD_PRELOAD:+:$LD_PRELOAD}\"", stdout);
	/* MPI libraries with files of their own are not MVAPICH2. */
	for (const struct companion *row = companions; row->name && !launcher->appfile; row++)
		print_variable(launcher, row->variable,
			       row->variable ? getenv(row->variable) : NULL);
#define ROW(NAME, IN_PROGRAM, ...) \
	print_variable(launcher, #NAME, IN_PROGRAM ? getenv(#NAME) : NULL);
	XRC_COMPAT_ENV_TABLE(ROW)
#undef ROW
}

/* ---- lines ---- */

/* @to: the first word that is left out; NULL: none. @twice: quoted for a remote shell as well. */
static void print_words(char *const *from, char *const *to, bool twice)
{
	for (; from != to && *from; from++) {
		putchar(' ');
		print_word(*from, twice);
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
	char **word = words + 1, **elsewhere = words;

	for (; *word && !is_program(*word); word++) {
		/* A program that only the other hosts have. */
		if (elsewhere == words && strchr(*word, '/') && **word != '-' &&
		    access(*word, F_OK))
			elsewhere = word;
	}
	if (*word)
		return word;
	return elsewhere != words ? elsewhere : word - 1;
}

/* The file that names the programs, with a line for each; NULL: the words do. */
static const char *find_appfile(const struct launcher *launcher, char **words)
{
	for (; launcher->appfile && words[0] && words[1]; words++) {
		if (strstr(launcher->appfile, format_string(" %s ", words[0])))
			return words[1];
	}
	return NULL;
}

/* The line of that launcher, with the user's own words. */
static void print_line_for(const struct launcher *launcher, const struct string_list *libraries,
			   char **words)
{
	char **at = launcher->word ? find_program(words) : words + 1;
	const char *appfile = find_appfile(launcher, words);

	if (appfile) {
		struct launcher file = *launcher;

		/* No option of the launcher reaches the programs of the file. */
		file.expands = file.is_file = true;
		print_text(stdout, "# begin each line of %s with:", appfile);
		print_variables(&file, libraries);
		putchar('\n');
	}
	print_word(words[0], false);
	print_words(words + 1, at, false);
	for (char **word = at; !appfile; word++) {
		print_variables(launcher, libraries);
		while (*word && (!launcher->each_part || strcmp(*word, ":") != 0))
			word++;
		if (!*word)
			break;
		print_words(at, word + 1, false);
		at = word + 1;
	}
	print_words(at, NULL, false);
	putchar('\n');
}

static void print_all(const struct string_list *libraries, char **words)
{
	/* setenv sets one variable. */
	static const struct launcher csh = { .names = "", .before = "\nsetenv ", .between = " " };

	for (const struct launcher *row = launchers; row->title; row++) {
		bool by_setenv = is_csh() && !row->names[0];

		print_text(stdout, "# %s", row->title);
		if (!by_setenv)
			print_text(stdout, "\n%s", row->command);
		print_variables(by_setenv ? &csh : row, libraries);
		if (row->names[0])
			print_words(words, NULL, row->quoted_twice);
		putchar('\n');
	}
}

static void print_chosen(const struct launcher *const *candidates,
			 const struct string_list *libraries, char **words)
{
	for (size_t i = 0; candidates[i]; i++) {
		if (candidates[1])
			print_text(stdout, "# %s\n", candidates[i]->title);
		print_line_for(candidates[i], libraries, words);
	}
}

static bool as_json;

static void print_json(const struct string_list *libraries)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_string(&json, "ld_preload", preload_value(libraries, false));
	json_open(&json, "libraries", '[');
	for (size_t i = 0; i < libraries->count; i++)
		json_string(&json, NULL, libraries->item[i]);
	json_close(&json, ']');
	json_close(&json, '}');
}

/* ---- what has to be preloaded ---- */

static struct preload_wish wish = { .other_hosts = true };

/*
 * The loader ignores the line for some programs. But a static shell passes the variables on, and a
 * wrapper that sets LD_LIBRARY_PATH changes what the loader finds for its program.
 */
static void add_program(struct program *program, char *const *words, struct string_list *libraries)
{
	bool passes_on = program->elf.is_static && starter_is_one(program);
	struct elf_info shim;
	const char *path;

	if (!passes_on && !paths_shim(program->elf.bits, &path, &shim) &&
	    program_refuse(program, &shim))
		program_say_fault(program);
	if (!wish.system_libibverbs && program_is_script(program) &&
	    regular_has(program->path, "LD_LIBRARY_PATH"))
		say("env: %s sets LD_LIBRARY_PATH; if it finds an old libibverbs there, add --system-libibverbs",
		    program->path);
	needs_add(program, words, &wish, libraries);
}

/* The needs of all programs that the words of an appfile name. */
static void add_needs_of_file(const char *appfile, struct string_list *libraries)
{
	static char text[65536];
	char *rest = text, *word;
	struct program program;

	if (regular_read(appfile, text, sizeof(text)) < 0)
		return;
	while ((word = strsep(&rest, " \t\n")) != NULL) {
		if (is_program(word) && !program_open(word, &program))
			add_program(&program, NULL, libraries);
	}
}

/* @words: the program, if any, and its arguments. 0, or TOOL_EXIT_REFUSED. */
static int find_libraries(char **words, bool *found, struct string_list *libraries)
{
	struct program program;
	struct elf_info elf;
	const char *shim, *fault;

	/* Other hosts may have a program that this one lacks. */
	*found = words[0] && !program_open(words[0], &program);
	fault = paths_shim(*found ? program.elf.bits : OWN_BITS, &shim, &elf);
	if (fault)
		return refuse(TOOL_EXIT_REFUSED, "%s", fault);
	interposers_add(libraries);
	string_list_add(libraries, shim);
	/* For a known program the line has the companions that the program opens. */
	if (!*found || (starter_is_one(&program) && !starter_find_program(&program, words + 1)))
		set_mvapich2_variables();
	if (*found) {
		add_program(&program, words + 1, libraries);
	} else {
		/* The options alone add libraries: our own library needs no companion. */
		program = (struct program){ .path = shim, .binary = shim, .elf = elf };
		needs_add(&program, NULL, &wish, libraries);
	}
	/* A launcher may start several programs, each after a ':'. */
	for (; words[0]; words++) {
		if (!strcmp(words[0], ":") && !program_open(*find_program(words), &program))
			add_program(&program, NULL, libraries);
	}
	return 0;
}

static int run_env(char **words)
{
	static char placeholder[] = "PROGRAM";
	const struct launcher *const *candidates = ask_launchers(words[0] ? words[0] : "");
	bool has_launcher = candidates[0], found, named;
	char *alone[] = { words[0], placeholder, NULL };
	const char *appfile = NULL;
	char **program_words = has_launcher ? find_program(words) : words;
	struct string_list libraries = { 0 };

	if (has_launcher && !words[1]) {
		words = alone;
		program_words = alone + 1;
	}
	for (size_t i = 0; candidates[i] && !appfile; i++)
		appfile = find_appfile(candidates[i], words);
	if (find_libraries(program_words, &found, &libraries))
		return TOOL_EXIT_REFUSED;
	if (appfile)
		add_needs_of_file(appfile, &libraries);
	/* A program that cannot be read can still be executed. */
	named = words[0] && (is_program(program_words[0]) || words == alone || appfile);
	if (words[0] && !has_launcher && !found && !named)
		return refuse(TOOL_EXIT_REFUSED, "env: %s: no program; try: xrc-compat check %s",
			      words[0], text_shell_word(words[0]));
	if (has_launcher && !named)
		say("env: no word is the path of a program here; %s is taken for it",
		    program_words[0]);
	if (!as_json && is_csh() && !shell)
		puts("# for csh, as SHELL says; --shell=sh prints lines for sh");
	if (as_json)
		print_json(&libraries);
	else if (has_launcher)
		print_chosen(candidates, &libraries, words);
	else
		print_all(&libraries, words[0] ? words : alone + 1);
	return TOOL_EXIT_OK;
}

static const struct option_row env_options[] = {
	PRELOAD_OPTIONS(wish),
	{ "--shell", "sh|csh", "print lines for this shell; by default as SHELL says",
	  .text = &shell },
	{ "--json", NULL, "print the value of LD_PRELOAD and its libraries as JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_env = {
	"env", env_options, "[LAUNCHER...] [PROGRAM [ARGUMENT...]]",
	"print the command line for each MPI launcher, or for the one given",
	"xrc-compat env mpirun_rsh -np 4 -hostfile hosts ./old-solver", run_env, .launches = true,
};
