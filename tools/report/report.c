/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat report`: facts about this machine and a program, in one file to attach to a question.
 */
#include "secret.h"
#include "terminal/streams.h"
#include "tools/common/aside.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/program/paths.h"
#include "tools/tools_config.h"

#include <errno.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The self-test takes some seconds. It gives up by itself if the adapter does not answer. */
#define MOST_SECONDS 120

extern char **environ;

struct report_options {
	const char *output;
	struct launch launch;	/* options for the self-test */
	char *program;
};

static int parse(const struct command *self, char **argv, struct report_options *options)
{
	struct option_words words = { self, argv + 1, NULL };
	int option;

	options->output = "xrc-compat-report.md";
	while ((option = options_next(&words)) > 0) {
		if (option == 'o')
			options->output = words.value;
		else if (option != OPTION_OPERAND)
			launch_option(&options->launch, option, words.value);
		else if (options->program)
			return refuse_word(self, words.value);
		else
			options->program = words.word[-1];
	}
	return option ? TOOL_EXIT_REFUSED : 0;
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
		fprintf(out, "    kernel       %s %s %s\n", system.sysname, system.release,
			system.machine);
	fprintf(out, "    C library    glibc %s\n\n", gnu_get_libc_version());
}

/* Prints a block of Markdown code. Each line is indented, so nothing in it ends the block. */
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

/* ---- the other commands ---- */

static void print_command(FILE *out, char *const *arguments)
{
	char self[PATH_MAX] = "";
	char *words[] = { self, arguments[1], arguments[2], arguments[2] ? arguments[3] : NULL,
			  NULL };
	const struct aside_program program = { .words = words, .with_errors = true };
	char *text;
	int status;

	fprintf(out, "## %s %s\n\n", arguments[0], arguments[1]);
	if (arguments[2]) {
		print_indented(out, arguments[2]);
		fputc('\n', out);
	}
	paths_self(self, sizeof(self));
	text = aside_output(&program, MOST_SECONDS * 1000, &status);
	print_indented(out, text);
	free(text);
	if (status == -ETIMEDOUT)
		fprintf(out, "\nIt did not end within %d seconds.\n\n", MOST_SECONDS);
	else
		fprintf(out, "\nExit status %d.\n\n", -status);
}

/* ---- kernel ---- */

/* Prints the first line of each file that matches. */
static void print_files(FILE *out, const char *pattern)
{
	glob_t files = { 0 };
	char line[256];

	if (glob(pattern, 0, NULL, &files))
		files.gl_pathc = 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *file = fopen(files.gl_pathv[i], "re");

		if (file && fgets(line, sizeof(line), file)) {
			fprintf(out, "    %s: ", files.gl_pathv[i]);
			line[strcspn(line, "\n")] = '\0';
			secret_print(out, line);
			fputc('\n', out);
		}
		if (file)
			fclose(file);
	}
	globfree(&files);
}

static void print_devices(FILE *out)
{
	static const char *const patterns[] = {
		"*/hca_type", "*/board_id", "*/fw_ver",
		"*/ports/*/state",	"*/ports/*/phys_state", "*/ports/*/lid",
		"*/ports/*/link_layer", "*/ports/*/rate"
	};
	char path[128];

	fputs("## Devices and ports, as the kernel has them\n\n", out);
	if (access("/sys/class/infiniband", F_OK))
		fputs("    none\n", out);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s", patterns[i]);
		print_files(out, path);
	}
	fputc('\n', out);
}

static void print_modules(FILE *out)
{
	static const char *const beginnings[] = {
		"ib_", "rdma_", "iw_", "mlx", "mlnx", "hns_roce", "qed", "irdma", "bnxt_re", "hfi1",
	};
	char path[128];
	glob_t modules;

	fputs("## Modules of the kernel\n\n", out);
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s*", beginnings[i]);
		if (glob(path, 0, NULL, &modules))
			continue;
		for (size_t k = 0; k < modules.gl_pathc; k++)
			fprintf(out, "    %s\n", modules.gl_pathv[k]);
		globfree(&modules);
		/* Modules of OFED and MLNX_OFED have a version. */
		strcat(path, "/version");
		print_files(out, path);
	}
	fputc('\n', out);
}

/* ---- the environment ---- */

/* Only these variables are printed: another one may hold a secret. */
static bool may_be_told(const char *variable)
{
	static const char *const beginnings[] = {
		"XRC_COMPAT_", "SOFTHCA_", "LD_", "IBV_", "RDMAV_", "MLX4_", "MLX5_", "MTHCA_",
		"HNS_", "MV2_", "VIADEV_", "MPIRUN_RANK=", "GASNET_", "OMPI_MCA_",
		"OMPI_COMM_WORLD_", "MPI_", "I_MPI_", "PMI_RANK=", "PMI_SIZE=", "UCX_", "RDMA_",
		"SLURM_PROCID=", "SLURM_NTASKS=", "MALLOC_", "GLIBC_TUNABLES=",
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

/* --softhca and --model as the self-test takes them. */
static void print_selftest(FILE *out, const struct launch *launch)
{
	char name[] = "xrc-compat", selftest[] = "selftest", softhca[64], model[64];
	char *arguments[5] = { name, selftest };
	int count = 2;

	snprintf(softhca, sizeof(softhca), "--softhca%s%s",
		 launch->softhca && launch->softhca[0] ? "=" : "",
		 launch->softhca ? launch->softhca : "");
	snprintf(model, sizeof(model), "--model=%s", launch->model ? launch->model : "");
	if (launch->softhca)
		arguments[count++] = softhca;
	if (launch->model)
		arguments[count++] = model;
	print_command(out, arguments);
}

static void print_report(FILE *out, const struct report_options *options)
{
	char name[] = "xrc-compat", check[] = "check", doctor[] = "doctor";
	char *const doctor_arguments[] = { name, doctor, NULL };
	char *const check_arguments[] = { name, check, options->program, NULL };

	fputs("# xrc-compat report\n\n"
	      "The home directory stands as ~, the user as USER, the host as HOST, adapters' GUIDs as GUID.\n\n",
	      out);
	print_versions(out);
	print_devices(out);
	print_modules(out);
	print_command(out, doctor_arguments);
	if (options->program)
		print_command(out, check_arguments);
	print_selftest(out, &options->launch);
	print_environment(out);
}

int command_report(const struct command *self, int argc, char **argv)
{
	struct report_options options = { 0 };
	char name[PATH_MAX];
	const char *why;
	FILE *out;

	(void)argc;
	if (parse(self, argv, &options))
		return TOOL_EXIT_REFUSED;
	out = output_open(options.output, "report", name, sizeof(name));
	if (!out)
		return TOOL_EXIT_REFUSED;
	print_report(out, &options);
	why = streams_close(out);
	if (why)
		return refuse(TOOL_EXIT_REFUSED, "cannot write the report to %s: %s", name, why);
	print_line("Wrote %s. Read it before you send it: paths outside your home directory stand in it.",
		   name);
	print_line("%s", TOOLS_REPORT_TO);
	return TOOL_EXIT_OK;
}
