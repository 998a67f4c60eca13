/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * xrc-cluster, a program in the style of OFED 1.5, shows what XRC is for. Here: its options, and
 * the file of the domain.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"

static const char usage[] =
	"usage: xrc-cluster [-n RECEIVERS] [-i ITERATIONS] [-t SECONDS] [-e]\n"
	"One sender (first RDMA device) reaches RECEIVERS processes (second device) through one XRC receive QP.\n"
	"  -n  receivers, 1 to 32 (4)\n"
	"  -i  rounds of messages before anybody leaves, 1 to 10000 (4)\n"
	"  -t  seconds that any one step may take, 1 to 3600 (20)\n"
	"  -e  sleep on completion events instead of polling\n";

static void bad_usage(void)
{
	fputs(usage, stderr);
	exit(2);
}

static unsigned int number(const char *text, unsigned int low, unsigned int high)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value < low || value > high)
		bad_usage();
	return (unsigned int)value;
}

static struct options parse(int argc, char **argv)
{
	struct options options = { .receivers = 4, .iterations = 4, .timeout = 20 };
	int option;

	while ((option = getopt(argc, argv, "n:i:t:eh")) != -1) {
		switch (option) {
		case 'n':
			options.receivers = number(optarg, 1, MAX_RECEIVERS);
			break;
		case 'i':
			options.iterations = number(optarg, 1, 10000);
			break;
		case 't':
			options.timeout = number(optarg, 1, 3600);
			break;
		case 'e':
			options.events = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			bad_usage();
		}
	}
	if (optind < argc)
		bad_usage();
	return options;
}

/*
 * A domain belongs to the inode of a file, not to its name. So the file is unlinked as soon as it
 * is open: even a run that is killed leaves nothing behind.
 */
static int domain_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	snprintf(path, sizeof(path), "%s/xrc-cluster-XXXXXX", dir);
	fd = mkstemp(path);
	if (fd < 0)
		process_fail("cannot make a file for the XRC domain in %s: %s", dir,
			     strerror(errno));
	unlink(path);
	return fd;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);

	signal(SIGPIPE, SIG_IGN);
	return coordinate(&options, domain_file());
}
