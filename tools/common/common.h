/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the commands share. */
#ifndef XRC_COMPAT_TOOLS_COMMON_H
#define XRC_COMPAT_TOOLS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- memory: most of it lasts until the command ends ---- */

/* Ends the command if @memory is NULL. */
void *need_memory(void *memory);

/* strdup(3); NULL stays NULL. */
char *copy_string(const char *text);

/* asprintf(3). */
char *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* reallocarray(3) of @array, which has @count elements, with room for one more. */
void *extend(void *array, size_t count, size_t size);

struct string_list {
	char **item;
	size_t count;
};

/* Appends a copy. */
void string_list_add(struct string_list *list, const char *text);
bool string_list_has(const struct string_list *list, const char *text);

/* ---- messages, in which unprintable characters become '?' ---- */

/* Prints "xrc-compat: MESSAGE" on standard error. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and returns @status. */
int refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a second line under a refusal, with advice. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that @what was not found, and names the places. TOOL_EXIT_REFUSED. */
int refuse_missing(const char *what, const struct string_list *places);

/* One line of a report, on standard output. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- text of other processes ---- */

/* The length of the printable UTF-8 character that begins here; 0 if there is none. */
size_t text_character(const char *text);

/* Replaces each byte that begins no printable character by '?'. It may be an escape sequence. */
void text_clean(char *text);

/* @text quoted as one shell word. */
char *text_shell_word(const char *text);

/* ---- JSON, written value by value ---- */

struct json {
	FILE *out;	/* NULL: nothing is written, as the command prints text */
	int depth;
	bool first; /* nothing has been written in the innermost object or array yet */
};

/* @key is NULL for the outermost value and inside arrays. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value); /* NULL becomes null */
void json_bool(struct json *json, const char *key, bool value);
void json_number(struct json *json, const char *key, long long value);

/* ---- commands ---- */

/* As of env(1): a launcher shares its exit status with the program that it runs. */
enum tool_exit {
	TOOL_EXIT_OK = 0,
	TOOL_EXIT_REFUSED = 125,
	TOOL_EXIT_NOT_EXECUTABLE = 126, /* found, but the kernel would not execute it */
	TOOL_EXIT_NOT_FOUND = 127,
};

struct option_row {
	const char *name;	/* "--json" or "-o" */
	const char *value;	/* "FILE": needed; "[=N]": may follow; NULL: none */
	const char *help;
	/* What the option sets; the others are NULL. */
	bool *flag;		  /* without a value: becomes true */
	const char **text;	  /* gets the value; "" if none follows */
	struct string_list *list; /* may be given several times: gets each value */
};

struct command {
	const char *name;
	const struct option_row *options; /* up to a row without a name */
	const char *operands; /* what follows the options, as the usage prints it, or "" */
	const char *summary;
	const char *example;
	/* @words: the program to launch and its words. The result is the exit status. */
	int (*run)(char **words);
	const char **operand;	 /* gets the only operand; NULL: the command has none */
	bool launches;		 /* its operands are a program and that program's words */
	void (*more_help)(void); /* prints more of --help, behind the options; NULL: nothing */
};

extern const struct command command_check, command_doctor, command_env, command_gc, command_ps,
	command_report, command_run, command_selftest, command_trace;

/* Libraries that the user wants preloaded in any case. */
struct preload_wish {
	bool system_libibverbs;	/* of --system-libibverbs */
	bool companions;	/* of --companions */
};

/* ---- options: the command line and --help follow from the rows of a command ---- */

/* Reads @argv, which begins with the command's name, and runs the command. Its exit status. */
int command_execute(const struct command *command, int argc, char **argv);

/* The usage under a refusal. TOOL_EXIT_REFUSED. */
int advise_usage(const struct command *command);

/* Refuses to launch a program that was not given. TOOL_EXIT_REFUSED. */
int refuse_program_missing(const struct command *command);

/* A line of help: @text, broken between words, stands from @column on. */
void print_entry(const char *label, unsigned int column, const char *text);

/* The nearest to @word of the names, which end with NULL. NULL: none is near. */
const char *nearest_name(const char *word, const char *const *names);

/* ---- files that a command writes ---- */

/*
 * Opens it for writing. In @pattern %p stands for the process, %h for the host, %r for the MPI rank
 * ("none" where there is none), and %% for %. Instead of a regular file that is there already,
 * NAME.1, NAME.2, ... is taken. @name gets the name. NULL after a message that names @what.
 */
FILE *output_open(const char *pattern, const char *what, const char **name);

/* ---- other programs, and work that may crash or hang, as calling a driver ---- */

struct aside {
	char *const *words;	/* of a program; NULL: prepare() does the work */
	/* called first in that process, which exits with its result if that is not 0; or NULL */
	int (*prepare)(const void *context);
	const void *context;
	bool with_errors;	/* what it writes on standard error, too */
};

/**
 * aside_output - runs it without input, at most for so long. Returns what it writes on standard
 * output, to be freed. @size gets its length; NULL: the text ends with 0. *result: 0, its
 * exit status negated, -ETIMEDOUT, -EFBIG above 256 KiB, -EIO when it ended by a signal, or the
 * -errno of pipe2(), fork() or read().
 */
char *aside_output(const struct aside *aside, int milliseconds, size_t *size, int *result);

/* ---- launchers of parallel programs, and how each gives its processes a variable ---- */

struct launcher {
	const char *title;
	const char *names;	/* of its commands, each between blanks */
	const char *command;	/* as a user begins to type it */
	const char *before, *between;	/* "before" NAME "between" VALUE, for each variable */
	const char *word;	/* before the variables; NULL: they follow the launcher's name */
	bool remote;		/* a remote shell expands the values again: $LIB would be lost */
	bool quoted_twice;	/* so values need quotes for that shell, too */
};

extern const struct launcher launchers[];
extern const size_t launcher_count;

/* Whether a command of this name, or path, may be this launcher's. */
bool launcher_has_name(const struct launcher *launcher, const char *path);

/* Whether it may be the name of any launcher. */
bool is_launcher(const char *path);

/* ---- LD_PRELOAD ---- */

/*
 * Takes the next word from *rest, with the directory that the loader puts for $LIB if @expand. NULL
 * when there is none. At first *rest is the value, which may be NULL.
 */
char *preload_next(const char **rest, bool expand);

/* @path of our library with $LIB in it. NULL unless that serves both word sizes. */
char *preload_for_both(const char *path);

/*
 * These libraries, then what LD_PRELOAD has already, each once. Where possible with $LIB, unless it
 * is for a @remote shell, which would replace that.
 */
char *preload_value(const struct string_list *libraries, bool remote);

#endif
