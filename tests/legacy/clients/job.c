/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starts, connects and watches the processes of a job. */

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#define WORLD JOB_HOSTS		/* the index of its barrier, after those of the hosts */

struct job job;

static struct {
	unsigned messages_verified;
	unsigned arrived[WORLD + 1];	/* at the barriers, since the start */
	char gathered[JOB_RANKS_MAX][JOB_MESSAGE_MAX];
	char host_memory[JOB_HOSTS][JOB_MESSAGE_MAX];
} *shared;

struct envelope {
	int from;
	char message[JOB_MESSAGE_MAX];
};

static int inbox[JOB_RANKS_MAX][2];
static pid_t pids[JOB_RANKS_MAX];

int job_option(int argc, char **argv, const char *flag)
{
	while (--argc > 0)
		if (!strcmp(argv[argc], flag))
			return 1;
	return 0;
}

void job_die(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "%s: rank %d on host %c: %s\n", program_invocation_short_name, job.rank,
		'A' + job.host, line);
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

void job_send(int to, const void *message, size_t size)
{
	struct envelope envelope = { .from = job.rank };

	memcpy(envelope.message, message, size);
	if (send(inbox[to][1], &envelope, sizeof(envelope), 0) != sizeof(envelope))
		job_die("cannot reach rank %d: %s", to, strerror(errno));
}

int job_receive(void *message, size_t size, int wait)
{
	struct envelope envelope;
	ssize_t got = recv(inbox[job.rank][0], &envelope, sizeof(envelope),
			   wait ? 0 : MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return -1;
	if (got != sizeof(envelope))
		job_die("recv: %s", strerror(errno));
	memcpy(message, envelope.message, size);
	return envelope.from;
}

static void barrier(int which, int size, void (*progress)(void))
{
	static unsigned rounds[WORLD + 1];
	unsigned last = ++rounds[which] * (unsigned)size;

	__atomic_fetch_add(&shared->arrived[which], 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->arrived[which], __ATOMIC_ACQUIRE) < last)
		progress();
}

void job_barrier_with(void (*progress)(void))
{
	barrier(WORLD, job.size, progress);
}

void job_barrier(void)
{
	job_barrier_with(job_idle);
}

void job_host_barrier(void)
{
	barrier(job.host, job.local_size, job_idle);
}

void job_gather(const void *mine, size_t size, void *all)
{
	int i;

	memcpy(shared->gathered[job.rank], mine, size);
	job_barrier();
	for (i = 0; i < job.size; i++)
		memcpy((char *)all + (size_t)i * size, shared->gathered[i], size);
	job_barrier();
}

void job_idle(void)
{
	usleep(50);
}

void job_cancel_thread(pthread_t thread)
{
	must_be_0(pthread_cancel(thread), "pthread_cancel");
	must_be_0(pthread_join(thread, NULL), "pthread_join");
}

int job_first_peer(void)
{
	return (1 - job.host) * job.local_size;
}

int job_peer(int turn)
{
	return job_first_peer() + (job.local_rank + turn) % job.local_size;
}

/* ---- Messages: sender, receiver, number, size, and bytes that follow from these ---- */

static void fill(uint8_t *message, const uint32_t head[4])
{
	uint32_t i, mixed = head[0] * 251 + head[1] * 241 + head[2] * 239;

	memcpy(message, head, 4 * sizeof(head[0]));
	for (i = 4 * sizeof(head[0]); i < head[3]; i++)
		message[i] = (uint8_t)((mixed + i * 31) ^ (mixed + i * 31) >> 8);
}

void job_fill(void *message, size_t size, int to, uint32_t sequence)
{
	uint32_t head[4] = { (uint32_t)job.rank, (uint32_t)to, sequence, (uint32_t)size };

	fill(message, head);
}

/* LEGACY_KILL=MESSAGES makes rank 1 kill itself after it has verified so many messages. */
static void count_message(void)
{
	const char *setting = getenv("LEGACY_KILL");
	static int verified;

	if (setting && job.rank == 1 && ++verified == atoi(setting)) {
		fputs("rank 1 is killed, as told\n", stderr);
		raise(SIGKILL);
	}
	__atomic_fetch_add(&shared->messages_verified, 1, __ATOMIC_RELAXED);
}

int job_verify(const void *message, size_t size, uint32_t *sequence)
{
	uint8_t expected[size + 1];
	uint32_t head[4];

	if (size < sizeof(head))
		job_die("a message of %zu bytes", size);
	memcpy(head, message, sizeof(head));
	if (head[0] >= (uint32_t)job.size || head[1] != (uint32_t)job.rank || head[3] != size)
		job_die("a message of %zu bytes says: from %u to %u, %u bytes", size, head[0],
			head[1], head[3]);
	fill(expected, head);
	if (memcmp(message, expected, size))
		job_die("message %u from rank %u is damaged", head[2], head[0]);
	count_message();
	*sequence = head[2];
	return (int)head[0];
}

/* ---- Processes ---- */

static int run_rank(int rank, int (*rank_main)(void))
{
	const char *seconds = getenv("LEGACY_SECONDS");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(seconds ? (unsigned)atoi(seconds) : 30);
	job.rank = rank;
	job.host = rank / job.local_size;
	job.local_rank = rank % job.local_size;
	job.host_memory = shared->host_memory[job.host];
	return rank_main();
}

static void end_all(void)
{
	int rank;

	for (rank = 0; rank < job.size; rank++)
		if (pids[rank])
			kill(pids[rank], SIGKILL);
}

/* Ends all processes when one fails, as mpirun does. Returns how many failed. */
static int watch(void)
{
	int failed = 0, rank, status;
	pid_t pid;

	while ((pid = wait(&status)) > 0) {
		for (rank = 0; rank < job.size && pids[rank] != pid; rank++)
			;
		if (rank == job.size)
			continue;
		pids[rank] = 0;
		if (!status)
			continue;
		if (!failed++ && WIFSIGNALED(status))
			fprintf(stderr, "%s: rank %d ended by signal %d\n",
				program_invocation_short_name, rank, WTERMSIG(status));
		end_all();
	}
	return failed;
}

int job_run(int ranks_per_host, int (*rank_main)(void))
{
	const char *dir = getenv("TMPDIR");
	int rank, failed;

	must_be_0(chdir(dir ? dir : "/tmp"), "chdir");
	job.local_size = ranks_per_host;
	job.size = JOB_HOSTS * ranks_per_host;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		job_die("mmap: %s", strerror(errno));
	for (rank = 0; rank < job.size; rank++)
		must_be_0(socketpair(AF_UNIX, SOCK_DGRAM, 0, inbox[rank]), "socketpair");
	for (rank = 0; rank < job.size; rank++) {
		pids[rank] = fork();
		if (pids[rank] < 0)
			job_die("fork: %s", strerror(errno));
		if (!pids[rank])
			exit(run_rank(rank, rank_main));
	}
	failed = watch();
	printf("%s: %d processes on %d hosts, %u messages verified, %s\n",
	       program_invocation_short_name, job.size, JOB_HOSTS, shared->messages_verified,
	       failed || !shared->messages_verified ? "FAILED" : "all right");
	return failed || !shared->messages_verified;
}
