/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Records each traced call, which the shim begins and ends, and sends it to the command. */
#include "record.h"

#include <abi/export.h>
#include <modern/tracer.h>
#include <tools/aside/clock.h>
#include <tools/job/job.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FAR_DESCRIPTOR 512	/* above the numbers that programs expect for their own files */

/* Initial-exec: another model would allocate memory in the program at the first use. */
#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))

PER_THREAD struct trace_call *current;	/* the innermost call that is under way */
PER_THREAD pid_t thread_id;		/* 0: not known yet */
static pid_t process_id;

/* ---- the socket ---- */

static struct sockaddr_un reader = { .sun_family = AF_UNIX };	/* the command; no path: none */
static int kept = -1;	/* the socket of all records, until the program closes it */

/* A program may close all descriptors, and reuse this number. */
static bool is_ours(int fd)
{
	struct sockaddr_un peer = { .sun_family = AF_UNSPEC };
	socklen_t size = sizeof(peer);

	return fd >= 0 && !getpeername(fd, (struct sockaddr *)&peer, &size) &&
	       !memcmp(&peer, &reader, sizeof(peer));
}

static int connect_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || !connect(fd, (const struct sockaddr *)&reader, sizeof(reader)))
		return fd;
	close(fd);
	return -1;
}

/* The limit of the process may not allow such a number. */
static void keep_socket(void)
{
	int fd = connect_socket();

	if (fd < 0)
		return;
	kept = fcntl(fd, F_DUPFD_CLOEXEC, FAR_DESCRIPTOR);
	close(fd);
}

/* Does nothing if the command has ended. */
static void send_record(const struct trace_record *record)
{
	size_t size = offsetof(struct trace_record, text) + record->text_size;
	int fd;

	if (!reader.sun_path[0])
		return;
	fd = is_ours(kept) ? kept : connect_socket();
	/* Waits while the command is busy printing; once it has ended this fails at once. */
	while (send(fd, record, size, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	if (fd >= 0 && fd != kept)
		close(fd);
}

/* ---- start ---- */

/* The child of a fork() notes its own, too. So no call has to ask the kernel. */
static void note_ids(void)
{
	process_id = getpid();
	thread_id = 0;
}

static void prepare(void)
{
	const char *path = secure_getenv("XRC_COMPAT_TRACE");

	if (path && strlen(path) < sizeof(reader.sun_path)) {
		strcpy(reader.sun_path, path);
		keep_socket();
	}
	note_ids();
	pthread_atfork(NULL, NULL, note_ids);
	trace_prepare_walk();
}

/* Once: later the program may change its environment in another thread. */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* Fills the head of a record. A constructor that the loader runs before ours may make a call. */
static void begin_record(struct trace_record *record, uint32_t verb)
{
	pthread_once(&prepared, prepare);
	memset(record, 0, offsetof(struct trace_record, modern_calls));
	record->magic = TRACE_MAGIC;
	record->verb = verb;
	record->is_first = !thread_id;
	thread_id = thread_id ? thread_id : gettid();
	record->pid = process_id;
	record->tid = thread_id;
}

/* The loader calls this when it has found all that the program needs to start. */
__attribute__((constructor)) static void tell_start(void)
{
	struct trace_record record;
	int err = errno;

	begin_record(&record, TRACE_STARTED);
	record.rank = job_rank(&record.ranks);
	trace_put_string(&record, trace_program);
	send_record(&record);
	errno = err;
}

/* ---- legacy calls ---- */

static void *begin_call(enum verb verb, const uintptr_t *arguments)
{
	struct trace_call *call = trace_describes(verb) ? malloc(sizeof(*call)) : NULL;

	if (!call)
		return NULL;
	call->outer = current;
	call->arguments = arguments;
	begin_record(&call->record, verb);
	trace_describe(call, false);
	current = call;
	call->record.start = clock_now();
	return call;
}

static void drop_call(void *entered)
{
	struct trace_call *call = entered;

	current = call->outer;
	free(call);
}

static void end_call(void *entered, int64_t result, int err)
{
	struct trace_call *call = entered;

	call->record.duration = clock_now() - call->record.start;
	call->record.result = result;
	call->record.err = err;
	trace_describe(call, true);
	trace_walk(&call->record);
	send_record(&call->record);
	drop_call(call);
}

/* ---- the modern calls in them ---- */

static struct modern_table real;

/* Verbs outside of a traced legacy call are not recorded. result: 0, an errno, or -1 with errno. */
static void note(const char *name, uint64_t start, int result)
{
	struct trace_record *record = current ? &current->record : NULL;
	struct trace_modern_call *modern;

	if (!record)
		return;
	if (record->modern_call_count == TRACE_MODERN_CALLS) {
		record->more_modern_calls++;
		return;
	}
	modern = &record->modern_calls[record->modern_call_count++];
	modern->function = trace_put_string(record, name);
	modern->start = start;
	modern->duration = clock_now() - start;
	modern->err = result < 0 ? errno : result;
}

/* The result of a verb that returns a status, a GUID, or a pointer. */
#define STATUS(result) _Generic((result), int: (result), __be64: 0, default: (result) ? 0 : -1)

#define WRAP(prefix, name, ret, params, args) \
	static ret wrapped_##name params \
	{ \
		uint64_t start = clock_now(); \
		ret result = real.name args; \
\
		note(prefix #name, start, STATUS(result)); \
		return result; \
	}
#define X(...) WRAP("ibv_", __VA_ARGS__)
MODERN_FUNCTIONS(X)
MODERN_INLINES(X)
#undef X
/* The kernel's own names, as ib_uverbs_open_qp. */
#define X(...) WRAP("ib_", __VA_ARGS__)
MODERN_COMMANDS(X)
#undef X

/* ---- the start, for the shim ---- */

#define SHIM_VERSIONS_xrc_trace_start \
	SHIM_VERSION(xrc_trace_start, 0, TRACER_START "@" TRACER_NODE)

/* Puts the verbs of this library in front of the table's, which are not of the data path. */
const struct tracer *shim_xrc_trace_start(unsigned int verbs, struct modern_table *table,
					  size_t size)
{
	static const struct tracer tracer = { .enter = begin_call, .leave = end_call,
					      .drop = drop_call };

	if (verbs != VERBS || size != sizeof(real))
		return NULL;
	real = *table;
#define X(name, ret, params, args) table->name = wrapped_##name;
	MODERN_FUNCTIONS(X)
	MODERN_INLINES(X)
	MODERN_COMMANDS(X)
#undef X
	return &tracer;
}
SHIM_EXPORT(xrc_trace_start);
