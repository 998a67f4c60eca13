/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * xrc-cluster, a program in the style of OFED 1.5, shows what XRC is for. Here: its options, the
 * file of the domain, and its processes, which this one starts and watches. It opens no device
 * itself.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster.h"

struct cluster *cluster;

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

static void parse(int argc, char **argv)
{
	int option;

	*cluster = (struct cluster){ .receivers = 4, .iterations = 4, .timeout = 20 };
	while ((option = getopt(argc, argv, "n:i:t:eh")) != -1) {
		switch (option) {
		case 'n':
			cluster->receivers = number(optarg, 1, MAX_RECEIVERS);
			break;
		case 'i':
			cluster->iterations = number(optarg, 1, 10000);
			break;
		case 't':
			cluster->timeout = number(optarg, 1, 3600);
			break;
		case 'e':
			cluster->events = true;
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

/* ---- Processes ---- */

/* In a child: the first XRC call, so that the loader complains once about missing functions. */
static void probe(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		process_step("looking at the devices");
		endpoint_probe();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static unsigned int running;

static void start(unsigned int member, int domain_fd)
{
	pid_t pid = fork();

	if (pid < 0)
		process_fail("fork: %s", strerror(errno));
	if (pid) {
		cluster->members[member].pid = pid;
		running++;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	process_begin(member);
	if (member == SENDER)
		sender_run();
	else
		receiver_run(member, domain_fd);
	exit(0);
}

static void judge(pid_t pid, int status)
{
	const char *how = WIFSIGNALED(status) ? "was killed by signal" : "ended with status";
	int which = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	unsigned int i = 0;

	while (i <= SENDER && cluster->members[i].pid != pid)
		i++;
	if (i > SENDER)
		return;
	running--;
	if (!status || cluster->failed)
		return;
	if (i == SENDER)
		process_say("the sender (pid %d) %s %d; giving up", (int)pid, how, which);
	else
		process_say("receiver %u (pid %d) %s %d; giving up", i, (int)pid, how, which);
	cluster->failed = true;
}

/* Grows as long as any process does something. */
static uint64_t progress(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i <= SENDER; i++)
		sum += cluster->members[i].phase + cluster->members[i].counts.messages;
	return sum;
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/*
 * Waits for the end of all. When one fails, the others end by themselves. If a verb hangs for
 * longer than a step may take, returns, and the end of this process kills the others. As process 1
 * of a container this process also has children that it has not started.
 */
static void watch(void)
{
	struct timespec moment = { .tv_nsec = 5000000 };
	time_t since = now();
	uint64_t done = 0;
	int status;
	pid_t pid;

	while (running && (pid = waitpid(-1, &status, WNOHANG)) >= 0) {
		if (pid)
			judge(pid, status);
		else
			nanosleep(&moment, NULL);
		if (done != progress())
			since = now();
		done = progress();
		if (now() < since + (time_t)cluster->timeout + 4)
			continue;
		if (cluster->failed)
			return;
		process_say("no process goes on; giving up");
		cluster->failed = true;
		since = now();
	}
}

int main(int argc, char **argv)
{
	int domain_fd;

	cluster = mmap(NULL, sizeof(*cluster), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (cluster == MAP_FAILED)
		process_fail("mmap: %s", strerror(errno));
	parse(argc, argv);
	domain_fd = domain_file();
	probe();
	for (unsigned int i = 0; i <= SENDER; i++)
		if (i == SENDER || i < cluster->receivers)
			start(i, domain_fd);
	watch();
	return cluster->failed || !table_print();
}
