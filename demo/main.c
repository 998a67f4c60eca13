/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * xrc-cluster, a program in the style of OFED 1.5, shows what XRC is for. This file has its
 * options, the result, and the main process, which starts and watches the others.
 */
#include <signal.h>
#include <stdarg.h>
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
struct member *self;

static const char usage[] =
	"usage: xrc-cluster [-n RECEIVERS] [-i ITERATIONS] [-e]\n"
	"One sender (first RDMA device) reaches RECEIVERS processes (second device) through one XRC receive QP.\n"
	"  -n  receivers, 1 to 32 (4)\n"
	"  -i  rounds of messages before anybody leaves, 1 to 10000 (4)\n"
	"  -e  sleep on completion events instead of polling\n";

static void bad_usage(void)
{
	fputs(usage, stderr);
	exit(2);
}

static unsigned int number(const char *text, int most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most)
		bad_usage();
	return (unsigned int)value;
}

static void parse(int argc, char **argv)
{
	int option;

	*cluster = (struct cluster){ .receivers = 4, .iterations = 4 };
	while ((option = getopt(argc, argv, "n:i:e")) != -1) {
		if (option == 'n')
			cluster->receivers = number(optarg, MAX_RECEIVERS);
		else if (option == 'i')
			cluster->iterations = number(optarg, 10000);
		else if (option == 'e')
			cluster->events = true;
		else
			bad_usage();
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
		fail("cannot make a file for the XRC domain in %s: %s", dir, strerror(errno));
	unlink(path);
	return fd;
}

void fail(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDERR_FILENO, "xrc-cluster: %s: %s\n", self ? self->name : "main", text);
	_exit(1);
}

void must(const char *verb, int err)
{
	if (err)
		fail("%s: %s", verb, strerror(err < 0 ? errno : err));
}

void *made(const char *verb, void *object)
{
	if (!object)
		fail("%s: %s", verb, strerror(errno));
	return object;
}

void reached(enum phase phase)
{
	__atomic_store_n(&self->phase, phase, __ATOMIC_RELEASE);
}

void await(unsigned int member, enum phase phase)
{
	struct timespec moment = { .tv_nsec = 100000 };

	while (__atomic_load_n(&cluster->members[member].phase, __ATOMIC_ACQUIRE) < phase)
		nanosleep(&moment, NULL);
}

static void start(unsigned int index, int domain_fd)
{
	struct member *member = &cluster->members[index];
	pid_t first = getpid(), pid;

	if (index == SENDER)
		strcpy(member->name, "sender");
	else
		snprintf(member->name, sizeof(member->name), "receiver %u", index);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid) {
		member->pid = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* if one fails, all end */
	if (getppid() != first)
		_exit(1);
	self = member;
	if (index == SENDER)
		sender_run();
	else
		receiver_run(index, domain_fd);
	exit(0);
}

/* Ends a run that does not end by itself, as on a network that loses all messages. */
static void give_up(int number)
{
	static const char words[] = "xrc-cluster: no end after 120 s; try: xrc-compat doctor\n";

	(void)number;
	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		_exit(2);
	_exit(1);
}

static const struct member *member_of(pid_t pid)
{
	for (int i = 0; i <= SENDER; i++)
		if (cluster->members[i].pid == pid)
			return &cluster->members[i];
	return NULL;
}

/*
 * Waits for the end of all. A process that exits with another status than 0 has said why, or the
 * loader has. As process 1 of a container this process also has other children.
 */
static void watch(void)
{
	unsigned int running = cluster->receivers + 1;
	const struct member *member;
	int status;
	pid_t pid;

	while (running) {
		pid = wait(&status);
		member = member_of(pid);
		if (!member)
			continue;
		if (WIFSIGNALED(status))
			fprintf(stderr, "xrc-cluster: %s (pid %d) was killed by signal %d\n",
				member->name, (int)pid, WTERMSIG(status));
		if (status)
			exit(1);
		running--;
	}
}

static void print_receiver(unsigned int receiver)
{
	const struct member *member = &cluster->members[receiver];
	bool last = receiver == cluster->receivers - 1;

	printf("%-12s %8d  0x%06x  0x%06x %9llu %12llu %9llu  %s%s\n", member->name,
	       (int)member->pid, member->qp_num, member->srq_num,
	       (unsigned long long)member->messages, (unsigned long long)member->bytes,
	       (unsigned long long)member->verified, receiver ? "registered" : "created it",
	       last ? ", was the last" : receiver ? "" : ", left first");
}

/* Returns whether all messages arrived as sent, and the one behind the last receiver failed. */
static bool print_table(void)
{
	const struct member *sender = &cluster->members[SENDER], *member = cluster->members;
	bool failed_as_it_should = cluster->last_word == IBV_WC_RETRY_EXC_ERR;
	uint64_t messages = 0, bytes = 0, verified = 0;
	bool arrived;

	printf("%-12s %8s  %8s  %8s %9s %12s %9s\n", "who", "pid", "QP", "SRQ", "messages", "bytes",
	       "verified");
	printf("%-12s %8d  0x%06x  %8s %9llu %12llu %9s  sent to all of them\n", "sender",
	       (int)sender->pid, sender->qp_num, "-", (unsigned long long)sender->messages,
	       (unsigned long long)sender->bytes, "-");
	for (unsigned int i = 0; i < cluster->receivers; i++, member++) {
		print_receiver(i);
		messages += member->messages;
		bytes += member->bytes;
		verified += member->verified;
	}
	printf("\nAll receive completions name the one receive QP, 0x%06x.\n"
	       "After the last one unregistered, the sender's next message ended with:\n%s%s.\n"
	       "QPs used: 2, one on each side.\n"
	       "Plain RC would have needed %u, one on each side for every receiver.\n",
	       cluster->members[0].qp_num, ibv_wc_status_str(cluster->last_word),
	       failed_as_it_should ? ", as it should" : " - WRONG", 2 * cluster->receivers);
	arrived = messages == sender->messages && bytes == sender->bytes && verified == messages;
	if (!arrived)
		printf("Not all that was sent arrived as it was - WRONG.\n");
	return failed_as_it_should && arrived;
}

int main(int argc, char **argv)
{
	int domain_fd;

	cluster = mmap(NULL, sizeof(*cluster), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (cluster == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	parse(argc, argv);
	domain_fd = domain_file();
	/* A parent in perl or Python may have ignored it; then wait(2) names no child. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, give_up);
	alarm(120);
	for (unsigned int i = 0; i < cluster->receivers; i++)
		start(i, domain_fd);
	start(SENDER, domain_fd);
	watch();
	return !print_table();
}
