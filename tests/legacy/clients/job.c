/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starts, connects and watches the processes of a job. */

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

struct job job;

static unsigned *messages_verified;	/* by all ranks, in shared memory: for the summary */

static int wire[JOB_NETS][JOB_RANKS_MAX][JOB_RANKS_MAX];
static pid_t pids[JOB_RANKS_MAX];

void job_options(int argc, char **argv, const char *const *flags)
{
	int i, known;

	for (i = 1; i < argc; i++) {
		for (known = 0; flags[known] && strcmp(flags[known], argv[i]); known++)
			;
		if (flags[known])
			continue;
		fprintf(stderr, "usage: %s", argv[0]);
		for (known = 0; flags[known]; known++)
			fprintf(stderr, " [%s]", flags[known]);
		fprintf(stderr, "\n");
		exit(2);
	}
}

int job_option(int argc, char **argv, const char *flag)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], flag))
			return 1;
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int seconds_allowed(void)
{
	const char *setting = getenv("LEGACY_SECONDS");
	int seconds = setting ? atoi(setting) : 0;

	return seconds > 0 ? seconds : 30;
}

void job_die(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "%s: rank %d on host %c: %s\n", job.name, job.rank, 'A' + job.host, line);
	fflush(NULL);
	_exit(1);
}

void *must(void *object, const char *what)
{
	if (!object)
		job_die("%s: %s", what, strerror(errno));
	return object;
}

void must_be_0(int result, const char *what)
{
	if (result)
		job_die("%s returned %d (%s)", what, result, strerror(result < 0 ? errno : result));
}

static int milliseconds_left(void)
{
	double left = job.deadline - now();

	if (left <= 0)
		job_die("timed out");
	return (int)(left * 1000) + 1;
}

void job_send(enum job_net net, int to, const void *message, size_t size)
{
	if (send(job.link[net][to], message, size, MSG_NOSIGNAL) != (ssize_t)size)
		job_die("cannot reach rank %d: %s", to, strerror(errno));
}

/* Waits until a link of @net, or the one to @from, is readable. Returns its rank, or -1. */
static int wait_for_link(enum job_net net, int from, int milliseconds)
{
	struct pollfd polls[JOB_RANKS_MAX];
	int rank, ready;

	for (rank = 0; rank < job.size; rank++) {
		polls[rank].fd = from < 0 || from == rank ? job.link[net][rank] : -1;
		polls[rank].events = POLLIN;
		polls[rank].revents = 0;
	}
	ready = poll(polls, (nfds_t)job.size, milliseconds);
	if (ready < 0 && errno != EINTR)
		job_die("poll: %s", strerror(errno));
	for (rank = 0; ready > 0 && rank < job.size; rank++)
		if (polls[rank].revents)
			return rank;
	return -1;
}

int job_receive(enum job_net net, int from, void *message, size_t size, int milliseconds)
{
	int left = milliseconds_left();
	int rank = wait_for_link(net, from,
				 milliseconds < 0 || milliseconds > left ? left : milliseconds);
	ssize_t got;

	if (rank < 0)
		return -1;
	got = recv(job.link[net][rank], message, size, 0);
	if (got == (ssize_t)size)
		return rank;
	if (got || from >= 0)
		job_die("rank %d %s", rank, got ? "sent a message of another size" : "is gone");
	/*
	 * A rank may still listen when the others have ended. If one ended too early, the next
	 * barrier shows it.
	 */
	close(job.link[net][rank]);
	job.link[net][rank] = -1;
	return -1;
}

void job_gather(enum job_scope scope, const void *mine, size_t size, void *all)
{
	int first = scope == JOB_HOST ? job.host * job.local_size : 0;
	int count = scope == JOB_HOST ? job.local_size : job.size;
	int i;

	for (i = 0; i < count; i++)
		if (first + i != job.rank)
			job_send(JOB_PMI, first + i, mine, size);
	for (i = 0; i < count; i++) {
		char *element = (char *)all + (size_t)i * size;

		if (first + i == job.rank)
			memcpy(element, mine, size);
		else
			while (job_receive(JOB_PMI, first + i, element, size, -1) < 0)
				;
	}
}

int job_first_peer(void)
{
	return (1 - job.host) * job.local_size;
}

int job_peer(int turn)
{
	return job_first_peer() + (job.local_rank + turn) % job.local_size;
}

void job_barrier(enum job_scope scope)
{
	char here = 0, all[JOB_RANKS_MAX];

	job_gather(scope, &here, sizeof(here), all);
}

void job_barrier_with(void (*progress)(void))
{
	char done[JOB_RANKS_MAX] = { 0 };
	int rank, waiting = job.size - 1;

	for (rank = 0; rank < job.size; rank++)
		if (rank != job.rank)
			job_send(JOB_PMI, rank, done, 1);
	done[job.rank] = 1;
	for (; waiting; progress())
		for (rank = 0; rank < job.size; rank++)
			if (!done[rank] && job_receive(JOB_PMI, rank, &done[rank], 1, 0) == rank) {
				done[rank] = 1;
				waiting--;
			}
}

void job_idle(void)
{
	milliseconds_left();
	usleep(50);
}

void job_wait_readable(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	while (poll(&one, 1, milliseconds_left()) <= 0)
		;
}

void job_cancel_thread(pthread_t thread)
{
	must_be_0(pthread_cancel(thread), "pthread_cancel");
	must_be_0(pthread_join(thread, NULL), "pthread_join");
}

static uint8_t byte_of(uint32_t from, uint32_t to, uint32_t sequence, size_t position)
{
	uint32_t mixed = from * 251 + to * 241 + sequence * 239 + (uint32_t)position * 31;

	return (uint8_t)(mixed ^ mixed >> 8);
}

void job_fill(void *message, size_t size, int to, uint32_t sequence)
{
	uint32_t head[4] = { (uint32_t)job.rank, (uint32_t)to, sequence, (uint32_t)size };
	size_t i;

	memcpy(message, head, sizeof(head));
	for (i = sizeof(head); i < size; i++)
		((uint8_t *)message)[i] = byte_of(head[0], head[1], sequence, i);
}

/* LEGACY_KILL=RANK:MESSAGES makes that rank kill itself after it has verified so many messages. */
static void die_if_told(void)
{
	const char *setting = getenv("LEGACY_KILL");
	static int verified;
	int rank, messages;

	if (!setting || sscanf(setting, "%d:%d", &rank, &messages) != 2 || rank != job.rank ||
	    ++verified < messages)
		return;
	fprintf(stderr, "%s: rank %d is killed, as told\n", job.name, rank);
	raise(SIGKILL);
}

int job_verify(const void *message, size_t size, uint32_t *sequence)
{
	uint32_t head[4];
	size_t i;

	if (size < sizeof(head))
		job_die("a message of %zu bytes", size);
	memcpy(head, message, sizeof(head));
	if (head[0] >= (uint32_t)job.size || head[1] != (uint32_t)job.rank || head[3] != size)
		job_die("a message of %zu bytes says: from %u to %u, %u bytes", size, head[0],
			head[1], head[3]);
	for (i = sizeof(head); i < size; i++)
		if (((const uint8_t *)message)[i] != byte_of(head[0], head[1], head[2], i))
			job_die("message %u from rank %u is damaged at byte %zu", head[2], head[0],
				i);
	die_if_told();
	*sequence = head[2];
	__atomic_fetch_add(messages_verified, 1, __ATOMIC_RELAXED);
	return (int)head[0];
}

static void make_wires(int size)
{
	int net, a, b, ends[2];

	for (net = 0; net < JOB_NETS; net++)
		for (a = 0; a < size; a++) {
			wire[net][a][a] = -1;
			for (b = a + 1; b < size; b++) {
				if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
					job_die("socketpair: %s", strerror(errno));
				wire[net][a][b] = ends[0];
				wire[net][b][a] = ends[1];
			}
		}
}

/* @own: a rank, or -1 for the launcher, which keeps no link. */
static void keep_own_wires(int size, int own)
{
	int net, a, b;

	for (net = 0; net < JOB_NETS; net++)
		for (a = 0; a < size; a++)
			for (b = 0; b < size; b++) {
				if (a == own)
					job.link[net][b] = wire[net][a][b];
				else if (a != b)
					close(wire[net][a][b]);
			}
}

static void *shared_pages(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		job_die("mmap: %s", strerror(errno));
	return pages;
}

static int run_rank(int rank, int ranks_per_host, void *const *host_memory, int (*rank_main)(void))
{
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm((unsigned)seconds_allowed() + 5);	/* for a wait inside the library */
	job.rank = rank;
	job.host = rank / ranks_per_host;
	job.local_rank = rank % ranks_per_host;
	job.local_size = ranks_per_host;
	job.host_memory = host_memory[job.host];
	keep_own_wires(job.size, rank);
	status = rank_main();
	fflush(NULL);
	return status;
}

static void start(int ranks_per_host, int (*rank_main)(void))
{
	void *host_memory[JOB_HOSTS] = { shared_pages(JOB_HOST_MEMORY),
					 shared_pages(JOB_HOST_MEMORY) };
	int rank;

	job.size = JOB_HOSTS * ranks_per_host;
	job.deadline = now() + seconds_allowed();
	make_wires(job.size);
	fflush(NULL);
	for (rank = 0; rank < job.size; rank++) {
		pids[rank] = fork();
		if (!pids[rank])
			exit(run_rank(rank, ranks_per_host, host_memory, rank_main));
		if (pids[rank] < 0)
			fprintf(stderr, "%s: fork: %s\n", job.name, strerror(errno));
	}
	keep_own_wires(job.size, -1);
}

static void end_all(void)
{
	int rank;

	for (rank = 0; rank < job.size; rank++)
		if (pids[rank] > 0)
			kill(pids[rank], SIGKILL);
}

static void note_end(int rank, int status, int *failed)
{
	pids[rank] = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	if (WIFSIGNALED(status) && !*failed)
		fprintf(stderr, "%s: rank %d ended by signal %d\n", job.name, rank,
			WTERMSIG(status));
	++*failed;
	end_all();
}

/* As mpirun: when one fails, all are ended. Returns how many failed. */
static int watch(void)
{
	int failed = 0, left = job.size, rank, status;
	pid_t pid;

	while (left) {
		pid = waitpid(-1, &status, WNOHANG);
		for (rank = 0; pid > 0 && rank < job.size; rank++)
			if (pids[rank] == pid) {
				note_end(rank, status, &failed);
				left--;
			}
		if (pid < 0 && errno == ECHILD)
			return failed + left;
		if (!pid)
			usleep(2000);
	}
	return failed;
}

/* LEGACY_DIR names a folder that stays: the next job in it finds the files of this one. */
static void make_dir(void)
{
	const char *tmp = getenv("TMPDIR"), *given = getenv("LEGACY_DIR");

	if (given) {
		snprintf(job.dir, sizeof(job.dir), "%s", given);
		return;
	}
	if (!tmp || strlen(tmp) > sizeof(job.dir) - 20)
		tmp = "/tmp";
	snprintf(job.dir, sizeof(job.dir), "%.40s/legacy-XXXXXX", tmp);
	if (!mkdtemp(job.dir))
		job_die("mkdtemp %s: %s", job.dir, strerror(errno));
}

static void remove_dir(void)
{
	DIR *dir = opendir(job.dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(job.dir);
}

int job_run(const char *name, int ranks_per_host, int (*rank_main)(void))
{
	int failed;

	job.name = name;
	messages_verified = shared_pages(sizeof(*messages_verified));
	make_dir();
	start(ranks_per_host, rank_main);
	failed = watch();
	if (!getenv("LEGACY_DIR"))
		remove_dir();
	printf("%s: %d processes on %d hosts, %u messages verified, %s\n", name, job.size,
	       JOB_HOSTS, *messages_verified,
	       failed		    ? "FAILED"
	       : *messages_verified ? "all right"
				    : "FAILED: no message at all");
	return failed || !*messages_verified;
}
