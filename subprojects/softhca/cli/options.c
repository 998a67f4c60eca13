/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reads the options of a command, each as --NAME VALUE or as --NAME=VALUE. They are taken with a
 * single hyphen, too.
 */
#include "cli.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_refuse_usage(const char *command, const char *why)
{
	return cli_refuse(CLI_REFUSED, "%s: %s" CLI_TRY "%s --help", command, why, command);
}

/* The results of cli_next_option(), besides '?' and ':'. */
enum { END = -1, HELP = 'h', NET = 256, HOSTS, FIRST_SETTING };

/* Takes the value of @setting from the environment variable @name, if it is set. */
static int take_variable(struct settings *settings, const char *name, const char *setting)
{
	const char *value = getenv(name);
	char text[64], why[512];

	if (!value || !value[0])
		return CLI_GO_ON;
	snprintf(text, sizeof(text), "%s=%s", setting, value);
	if (!settings_take(settings, text, why, sizeof(why)))
		return CLI_GO_ON;
	return cli_refuse(CLI_REFUSED, "%s=%s: %s", name, value, why);
}

static int take_setting(struct settings *settings, const char *command, int index)
{
	char text[512], why[512];

	snprintf(text, sizeof(text), "%s=%s", settings_name((size_t)index), optarg);
	if (!settings_take(settings, text, why, sizeof(why)))
		return CLI_GO_ON;
	return cli_refuse_usage(command, why);
}

static bool is_name(const char *word, const struct option *known)
{
	size_t length;

	word += strspn(word, "-");
	length = strcspn(word, "=");
	while (known->name && (strlen(known->name) != length || strncmp(word, known->name, length)))
		known++;
	return known->name;
}

int cli_next_option(int argc, char **argv, const struct option *known)
{
	const int first = optind;
	int index = -1, kind = getopt_long_only(argc, argv, "+:h", known, &index);

	/* -h, or the end */
	if (index < 0 && kind != ':' && kind != '?')
		return kind;
	/* getopt_long_only() takes abbreviations, too, which a new option would break. */
	if (is_name(argv[first], known))
		return kind;
	optind = first + 1;
	optopt = 0;
	return '?';
}

/* @kind: what cli_next_option() has returned for @word. */
static int take_word(const char *command, int kind, const char *word, struct settings *settings,
		     struct run_options *options)
{
	char text[512];

	switch (kind) {
	case HELP:
		return CLI_HELP;
	case NET:
		options->net = true;
		return CLI_GO_ON;
	case HOSTS:
		/* complete() refuses -1, with the number of devices in its message. */
		if (!settings_number(optarg, 1, SOFTHCA_MAX_DEVICES, &options->hosts))
			options->hosts = -1;
		return CLI_GO_ON;
	case ':':
	case '?':
		snprintf(text, sizeof(text), "%s: %s", word,
			 kind == ':' ? "its value is missing"
			 : optopt    ? "it takes no value"
				     : "unknown option");
		return cli_refuse_usage(command, text);
	default:
		return take_setting(settings, command, kind - FIRST_SETTING);
	}
}

/* Checks that need all words. */
static int complete(const char *command, struct settings *settings,
		    const struct run_options *options)
{
	char why[512];

	if (settings_complete(settings, why, sizeof(why)))
		return cli_refuse_usage(command, why);
	if (!options || (options->hosts >= 0 && options->hosts <= settings->devices))
		return CLI_GO_ON;
	snprintf(why, sizeof(why), "--hosts is 1 to %d, as many as there are devices",
		 settings->devices);
	return cli_refuse_usage(command, why);
}

/* The options that the command has; a row without a name ends them. */
static void list_options(struct option *known, bool has_settings, bool is_run)
{
	*known++ = (struct option){ "help", no_argument, NULL, HELP };
	if (is_run) {
		*known++ = (struct option){ "net", no_argument, NULL, NET };
		*known++ = (struct option){ "hosts", required_argument, NULL, HOSTS };
	}
	for (size_t i = 0; has_settings && settings_name(i); i++)
		*known++ = (struct option){ settings_name(i), required_argument, NULL,
					    FIRST_SETTING + (int)i };
}

int cli_options(int argc, char **argv, struct settings *settings, struct run_options *options)
{
	struct option known[SETTINGS_COUNT + 4] = { 0 }; /* three others, and the end */
	int status = CLI_GO_ON, kind;
	char text[512];

	list_options(known, settings != NULL, options != NULL);
	if (settings) {
		*settings = settings_default;
		status = take_variable(settings, "SOFTHCA_MODEL", "model");
		if (status == CLI_GO_ON)
			status = take_variable(settings, "SOFTHCA_LINK", "link");
	}
	while (status == CLI_GO_ON && (kind = cli_next_option(argc, argv, known)) != END)
		status = take_word(argv[0], kind, argv[optind - 1], settings, options);
	if (status == CLI_GO_ON && settings)
		status = complete(argv[0], settings, options);
	if (status != CLI_GO_ON || options || !argv[optind])
		return status;
	snprintf(text, sizeof(text), "%s: unexpected argument", argv[optind]);
	return cli_refuse_usage(argv[0], text);
}
