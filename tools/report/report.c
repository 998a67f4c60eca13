/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat report`: what somebody who is to help needs to know of this machine and a program, in one file. */
#include "capture.h"
#include "secret.h"
#include "terminal/streams.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/tools_config.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The self-test takes some seconds; on an adapter that does not answer it gives up by itself. */
#define MOST_SECONDS 120

extern char **environ;

struct report_options {
	const char *output;
	char *softhca; /* the option as given, or NULL */
	char *program;
};

static int parse(const struct command *self, int argc, char **argv, struct report_options *options)
{
	options->output = "xrc-compat-report.md";
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--output") && i + 1 < argc && argv[i + 1][0]) {
			options->output = argv[++i];
		} else if (!strncmp(argv[i], "--output=", 9) && argv[i][9]) {
			options->output = argv[i] + 9;
		} else if (!strcmp(argv[i], "--softhca") || !strncmp(argv[i], "--softhca=", 10)) {
			options->softhca = argv[i];
		} else if (argv[i][0] == '-' || options->program) {
			return refuse_word(self, argv[i]);
		} else {
			options->program = argv[i];
		}
	}
	return 0;
}

/* PRETTY_NAME of os-release(5). */
static void print_distribution(FILE *out)
{
	FILE *file = fopen("/etc/os-release", "re");
	char line[256] = "";

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "PRETTY_NAME=", 12))
			break;
		line[0] = '\0';
	}
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	fprintf(out, "    system       %s\n", line[0] ? line + 12 : "unknown");
}

static void print_versions(FILE *out)
{
	struct utsname system;

	fprintf(out, "## Versions\n\n    xrc-compat   %s\n", TOOLS_VERSION);
	print_distribution(out);
	if (!uname(&system))
		fprintf(out, "    kernel       %s %s %s\n", system.sysname, system.release, system.machine);
	fprintf(out, "    C library    glibc %s\n\n", gnu_get_libc_version());
}

/* As code of Markdown, line by line: nothing in it can end the block. */
static void print_indented(FILE *out, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		fputs("    ", out);
		secret_print(out, line ? line : "");
		fputc('\n', out);
		free(line);
		text += length + (text[length] == '\n');
	}
}

static void print_command(FILE *out, char *const *arguments)
{
	struct capture capture;

	fprintf(out, "## %s %s\n\n", arguments[0], arguments[1]);
	if (arguments[2]) {
		print_indented(out, arguments[2]);
		fputc('\n', out);
	}
	if (capture_command(arguments, MOST_SECONDS, &capture)) {
		fputs("    could not be started\n\n", out);
		return;
	}
	print_indented(out, capture.text);
	if (capture.status == -ETIMEDOUT)
		fprintf(out, "\nIt did not end within %d seconds.\n\n", MOST_SECONDS);
	else
		fprintf(out, "\nExit status %d.\n\n", capture.status);
	capture_free(&capture);
}

/* Only these are shown: any other may hold a secret. */
static bool may_be_told(const char *variable)
{
	static const char *const beginnings[] = {
		"XRC_COMPAT_", "SOFTHCA_", "LD_PRELOAD=", "LD_LIBRARY_PATH=", "IBV_", "RDMAV_", "MLX4_", "MLX5_",
		"MV2_USE_XRC=", "MV2_LIBIBVERBS_PATH=", "VIADEV_USE_XRC=", "GASNET_USE_XRC=", "GASNET_USE_SRQ=",
		"OMPI_MCA_btl=", "OMPI_MCA_btl_openib_receive_queues=", "MPI_IBV_XRC=",
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (!strncmp(variable, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static void print_environment(FILE *out)
{
	size_t others = 0;

	fputs("## Environment\n\n", out);
	for (char **variable = environ; *variable; variable++) {
		char *copy = may_be_told(*variable) ? strdup(*variable) : NULL;

		others += !copy;
		if (copy)
			print_indented(out, copy);
		free(copy);
	}
	fprintf(out, "\nand %zu others, which are left out.\n", others);
}

static void print_report(FILE *out, const struct report_options *options)
{
	char name[] = "xrc-compat", check[] = "check", doctor[] = "doctor", selftest[] = "selftest";
	char *const doctor_arguments[] = { name, doctor, NULL };
	char *const check_arguments[] = { name, check, options->program, NULL };
	char *const selftest_arguments[] = { name, selftest, options->softhca, NULL };

	fputs("# xrc-compat report\n\n"
	      "The home directory stands as ~, the user as USER, the host as HOST, adapters' GUIDs as GUID.\n\n", out);
	print_versions(out);
	print_command(out, doctor_arguments);
	if (options->program)
		print_command(out, check_arguments);
	print_command(out, selftest_arguments);
	print_environment(out);
}

int command_report(const struct command *self, int argc, char **argv)
{
	struct report_options options = { 0 };
	const char *why;
	FILE *out;
	int status;

	status = parse(self, argc, argv, &options);
	if (status)
		return status;
	out = fopen(options.output, "we");
	if (!out)
		return refuse(TOOL_EXIT_REFUSED, "%s: %s", options.output, strerror(errno));
	print_report(out, &options);
	why = streams_close(out);
	if (why)
		return refuse(TOOL_EXIT_REFUSED, "cannot write the report to %s: %s", options.output, why);
	print_line("Wrote %s. Read it before you give it away: paths outside your home directory stand in it.", options.output);
	return TOOL_EXIT_OK;
}
