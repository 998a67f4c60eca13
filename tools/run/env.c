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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *shell;	/* the value of --shell */
static bool as_json;
static struct preload_wish wish = { .other_hosts = true };

/* ---- the user's line ---- */

/* The user's own words: a launcher, if any, and the program with its arguments. */
struct line {
	char **words; /* up to NULL; "PROGRAM" is added if they have no program */
	const struct launcher *const *launchers; /* those that the first word may be, up to NULL */
	bool placeholder; /* "PROGRAM" was added */
	char **program_word; /* the place of the program in @words */
	const char *appfile; /* names the programs for one of the launchers; or NULL */
	bool is_guess; /* no file here shows that @program_word is the program */
	bool is_open; /* into @program; if not, other hosts may have the program */
	struct program program;
};

static bool is_program(const char *word)
{
	struct stat st;

	return strchr(word, '/') && !stat(word, &st) && S_ISREG(st.st_mode) && !access(word, X_OK);
}

/* Up to a ':': the first path of a program, else of a file that is not here, else the last word. */
static char **program_position(char **words)
{
	char **word = words + 1, **elsewhere = NULL;

	for (; *word && strcmp(*word, ":") != 0; word++) {
		if (is_program(*word))
			return word;
		/* A program that only the other hosts have. */
		if (!elsewhere && strchr(*word, '/') && **word != '-' && access(*word, F_OK))
			elsewhere = word;
	}
	return elsewhere ? elsewhere : word - 1;
}

/* The file that names the programs, with a line for each; NULL: the words in front do not. */
static const char *find_appfile(const struct launcher *launcher, char **word, char **program)
{
	for (; launcher->appfile && word[0] && word[1]; word++) {
		if (word == program && is_program(*word))
			break;
		if (strstr(launcher->appfile, format_string(" %s ", word[0])))
			return word[1];
	}
	return NULL;
}

static void parse_line(char **words, struct line *line)
{
	struct string_list all = { 0 };

	line->launchers = ask_launchers(words[0] ? words[0] : "");
	line->placeholder = !words[0] || (line->launchers[0] && !words[1]);
	for (char **word = words; *word; word++)
		string_list_add(&all, *word);
	if (line->placeholder)
		string_list_add(&all, "PROGRAM");
	string_list_add(&all, NULL);
	line->words = all.item;
	line->program_word = line->launchers[0] ? program_position(line->words) : line->words;
	for (size_t i = 0; line->launchers[i] && !line->appfile; i++)
		line->appfile = find_appfile(line->launchers[i], line->words, line->program_word);
	/* A program that cannot be read can still be executed. */
	line->is_guess = !line->placeholder && !line->appfile && !is_program(*line->program_word);
	line->is_open = !line->placeholder && !program_open(*line->program_word, &line->program);
}

/* ---- the variables ---- */

struct settings {
	struct string_list libraries; /* for LD_PRELOAD */
	bool for_mvapich2; /* MV2_ variables that are not set here get their defaults */
};

/*
 * The loader ignores the line for some programs. But a static shell passes the variables on, and a
 * wrapper that sets LD_LIBRARY_PATH changes what the loader finds for its program.
 */
static void add_program(struct program *program, char *const *words, struct string_list *libraries)
{
	bool passes_on = program->elf.is_static && starter_is_one(program);
	static struct string_list seen;
	struct elf_info shim;
	const char *path;

	if (string_list_has(&seen, program->path))
		return;
	string_list_add(&seen, program->path);
	if (!passes_on && !paths_shim(program->elf.bits, &path, &shim) &&
	    program_refuse(program, &shim))
		program_say_fault(program);
	if (!wish.system_libibverbs && program_is_script(program) &&
	    regular_has(program->path, "LD_LIBRARY_PATH"))
		say("env: %s sets LD_LIBRARY_PATH; if it finds an old libibverbs there, add --system-libibverbs",
		    program->path);
	needs_add(program, words, &wish, libraries);
}

/* The needs of all programs that the words of an appfile name; none if it cannot be read. */
static void add_needs_of_file(const char *appfile, struct string_list *libraries)
{
	static char text[65536 + 2];
	char *rest = text, *word;
	struct program program;
	ssize_t size = regular_read(appfile, text, sizeof(text));

	if (size < 0 || size > 65536)
		say("env: %s of %s are read", size < 0 ? "no words" : "only 64 KiB", appfile);
	while ((word = strsep(&rest, " \t\n")) != NULL) {
		if (is_program(word) && !program_open(word, &program))
			add_program(&program, NULL, libraries);
	}
}

/* 0, or TOOL_EXIT_REFUSED. */
static int find_settings(const struct line *line, struct settings *settings)
{
	struct string_list *libraries = &settings->libraries;
	struct program program = line->program;
	char **word = line->program_word;
	struct elf_info elf;
	const char *shim;
	const char *fault = paths_shim(line->is_open ? program.elf.bits : OWN_BITS, &shim, &elf);

	if (fault)
		return refuse(TOOL_EXIT_REFUSED, "%s", fault);
	needs_add_interposers(libraries);
	string_list_add(libraries, shim);
	/* For a known program the libraries have the companions that the program opens. */
	settings->for_mvapich2 =
		!line->is_open ||
		(starter_is_one(&program) && !starter_find_program(&program, word + 1));
	if (line->is_open) {
		add_program(&program, word + 1, libraries);
	} else {
		/* Our own library needs none, so that only the options add libraries. */
		program = (struct program){ .path = shim, .binary = shim, .elf = elf };
		needs_add(&program, NULL, &wish, libraries);
	}
	/* A launcher may start several programs, each after a ':'. */
	for (; *word; word++) {
		if (!strcmp(*word, ":") && !program_open(*program_position(word), &program))
			add_program(&program, NULL, libraries);
	}
	if (line->appfile)
		add_needs_of_file(line->appfile, libraries);
	return 0;
}

/* ---- how a launcher sets it ---- */

static bool is_csh(void)
{
	const char *name = shell ? shell : getenv("SHELL");

	return name && text_matches(name, "*csh");
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
 * shell. If not, print `${LD_PRELOAD:+...}`, which only a shell other than csh expands.
 */
static void print_preload(const struct launcher *launcher, const struct string_list *libraries,
			  bool file)
{
	const char *here = getenv("LD_PRELOAD");

	print_variable(launcher, "LD_PRELOAD", preload_value(libraries, launcher->expands || file));
	if (!(here && here[0]) && !is_csh() && !file)
		/* Without the quotes a remote shell would replace $LIB in the value. */
		fputs(launcher->remote ? "\"${LD_PRELOAD:+:'$LD_PRELOAD'}\""
				       : "\"${LD_PRELOAD:+:$LD_PRELOAD}\"", stdout);
}

static void print_mvapich2(const struct launcher *launcher, bool by_default)
{
	for (const struct companion *row = companions; row->name; row++) {
		const char *here = row->variable ? getenv(row->variable) : NULL;

		print_variable(launcher, row->variable, here || !by_default ? here : row->today);
	}
}

/* @file: an appfile gets the line; no option of the launcher reaches the appfile's programs. */
static void print_variables(const struct launcher *launcher, const struct settings *settings,
			    bool file)
{
	fputs(launcher->word ? launcher->word : "", stdout);
	print_preload(launcher, &settings->libraries, file);
	if (!launcher->no_mvapich2)
		print_mvapich2(launcher, settings->for_mvapich2);
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

static void print_line_for(const struct launcher *launcher, const struct settings *settings,
			   const struct line *line)
{
	char **words = line->words, **at = launcher->word ? line->program_word : words + 1;
	const char *appfile = find_appfile(launcher, words, line->program_word);

	if (appfile) {
		print_text(stdout, "# begin each line of %s with:", appfile);
		print_variables(launcher, settings, true);
		putchar('\n');
	}
	print_word(words[0], false);
	print_words(words + 1, at, false);
	/* The variables stand before each part; parts end with a ':'. */
	for (char **word = at; !appfile; word++) {
		print_variables(launcher, settings, false);
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

static void print_all(const struct settings *settings, char **words)
{
	/* setenv sets one variable. */
	static const struct launcher csh = { .names = "", .before = "\nsetenv ", .between = " " };

	for (const struct launcher *row = launchers; row->title; row++) {
		bool by_setenv = is_csh() && !row->names[0];

		print_text(stdout, "# %s", row->title);
		if (!by_setenv)
			print_text(stdout, "\n%s", row->command);
		print_variables(by_setenv ? &csh : row, settings, false);
		if (row->names[0])
			print_words(words, NULL, row->quoted_twice);
		putchar('\n');
	}
}

static void print_chosen(const struct line *line, const struct settings *settings)
{
	for (size_t i = 0; line->launchers[i]; i++) {
		if (line->launchers[1])
			print_text(stdout, "# %s\n", line->launchers[i]->title);
		print_line_for(line->launchers[i], settings, line);
	}
}

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

/* ---- the command ---- */

static int run_env(char **words)
{
	struct settings settings = { 0 };
	struct line line = { 0 };

	if (shell && !text_matches(basename(shell), "@(|a|ba|da|k|mk|z|c|tc)sh"))
		return refuse(TOOL_EXIT_REFUSED, "env: --shell=%s: neither sh nor csh", shell);
	parse_line(words, &line);
	if (!line.launchers[0] && line.is_guess && !line.is_open)
		return refuse(TOOL_EXIT_REFUSED, "env: %s: no program; try: xrc-compat check %s",
			      words[0], text_shell_word(words[0]));
	/* A variable in front of another word is no variable of the program. */
	if (!as_json && line.is_guess && line.launchers[0] && line.launchers[0]->word &&
	    !strchr(*line.program_word, '/'))
		return refuse(TOOL_EXIT_REFUSED, "env: write the path of the program");
	if (find_settings(&line, &settings))
		return TOOL_EXIT_REFUSED;
	if (line.launchers[0] && line.is_guess)
		say("env: no word is the path of a program here; %s is taken for it",
		    *line.program_word);
	if (!as_json && is_csh() && !shell)
		puts("# for csh, as SHELL says; --shell=sh prints lines for sh");
	if (as_json)
		print_json(&settings.libraries);
	else if (line.launchers[0])
		print_chosen(&line, &settings);
	else
		print_all(&settings, line.words);
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
