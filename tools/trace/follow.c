/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starts the traced program, and reads the records of all its processes until it ends. */
#include "trace.h"

#include <tools/files/regular.h>
#include <tools/text/command.h>
#include <tools/text/message.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct trace *trace;
	const struct launch *launch;
	char directory[96];	/* short, as the address of a socket must be */
	struct sockaddr_un address;	/* the socket in that directory */
	int socket;
	pid_t child;
	sigset_t mask;		/* while follow() waits; SIGCHLD wakes it when the program ends */
} followed = { .socket = -1 };

static int refuse_to_make(const char *object)
{
	return refuse(TOOL_EXIT_REFUSED, "trace: cannot make %s: %s", object, strerror(errno));
}

/* ---- crashes ---- */

/* The command traces threads: so it sees which signal kills a thread, without a core file. */
static void watch_thread(pid_t thread)
{
	/* Debuggers and containers may forbid ptrace(). Then a crash has no stack. */
	ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACECLONE);
}

static unsigned long long read_status(pid_t thread, const char *name, int base)
{
	return regular_number(format_string("/proc/%d/status", (int)thread), name, base);
}

#define BIT(number) (1ULL << ((number) - 1))

static bool kills(pid_t thread, int number)
{
	unsigned long long harmless = BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) |
				      BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);

	harmless |= read_status(thread, "SigCgt:", 16) | read_status(thread, "SigIgn:", 16);
	return !(harmless & BIT(number));
}

/* Enters a crash if this status of waitpid(2) tells of one. Lets the stopped thread run on. */
static void take_stop(pid_t thread, int status)
{
	int number = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && number != SIGTRAP) {
		ptrace(PTRACE_LISTEN, thread, 0, 0);	/* until SIGCONT */
		return;
	}
	if (!event && kills(thread, number)) {
		struct crash crash = { .number = number, .stack.thread = thread };

		crash.process = (pid_t)read_status(thread, "Tgid:", 10);
		stack_of_stopped(crash.process, &crash.stack);
		trace_crash(followed.trace, &crash);
	}
	ptrace(PTRACE_CONT, thread, 0, event ? 0 : number);
}

/* ---- records ---- */

/* A program of this user that corrupts its memory must not crash this command. */
static bool is_sound(const struct trace_record *record, ssize_t size)
{
	const size_t head = offsetof(struct trace_record, text);
	bool sound = size >= (ssize_t)head && (size_t)size - head == record->text_size &&
		     record->text_size <= TRACE_TEXT && record->magic == TRACE_MAGIC &&
		     record->verb <= TRACE_STARTED && record->frame_count <= TRACE_FRAMES &&
		     record->modern_call_count <= TRACE_MODERN_CALLS &&
		     record->outcome <= record->text_size;

	for (uint32_t i = 0; sound && i < record->frame_count; i++)
		sound = record->frames[i].module <= record->text_size;
	for (uint32_t i = 0; sound && i < record->modern_call_count; i++)
		sound = record->modern_calls[i].function <= record->text_size;
	return sound;
}

/* Receives a record. *process gets the number that its process has here; 0: none. */
static ssize_t receive(struct trace_record *record, pid_t *process)
{
	struct iovec data = { record, sizeof(*record) };
	struct ucred sender = { 0 };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(sender))];
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t size = recvmsg(followed.socket, &message, MSG_DONTWAIT);

	if (size >= 0 && CMSG_FIRSTHDR(&message))
		memcpy(&sender, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(sender));
	*process = sender.pid;
	return size;
}

/* Enters a record of the socket, if it is sound. Returns whether there was a record. */
static bool take_record(void)
{
	static struct trace_record record;
	pid_t process;
	ssize_t size = receive(&record, &process);

	if (!is_sound(&record, size))
		return size >= 0;
	memset(record.text + record.text_size, 0, 2);	/* also behind arguments without an end */
	/* A process of another PID namespace has other numbers, which others may have here. */
	if (record.is_first && (pid_t)record.pid == process)
		watch_thread(record.tid);
	if (record.verb == TRACE_STARTED)
		trace_started(followed.trace, &record, followed.child);
	else
		trace_call(followed.trace, &record);
	return true;
}

/* The program; 0 after its end: another process may have its number. */
static volatile pid_t child_to_forward_to;
static volatile sig_atomic_t children_changed;

static void forward(int number)
{
	if (number == SIGCHLD)
		children_changed = true;
	else if (child_to_forward_to)
		kill(child_to_forward_to, number);
}

/* Returns whether the program has ended; @status gets its status, or -errno. */
static bool reap(int *status)
{
	pid_t pid;

	if (!children_changed)
		return false;
	children_changed = false;
	while ((pid = waitpid(-1, status, __WALL | WNOHANG)) > 0) {
		if (WIFSTOPPED(*status)) {
			while (take_record())	/* the calls before it crashed */
				;
			take_stop(pid, *status);
		} else if (pid == followed.child) {
			child_to_forward_to = 0;
			return true;
		}
	}
	*status = pid < 0 ? -errno : 0;
	return pid < 0;
}

/* Runs until the program has ended and all its records are read. */
static int follow(void)
{
	struct pollfd pollfd = { .fd = followed.socket, .events = POLLIN };
	int status;
	bool ended;

	do {
		ppoll(&pollfd, 1, NULL, &followed.mask);
		/* Reaps first: a process's records are in the socket before its end is seen. */
		ended = reap(&status);
		while (take_record())
			;
		fflush(followed.trace->out);
	} while (!ended);
	if (status < 0)
		return refuse(TOOL_EXIT_REFUSED, "trace: cannot wait for the program: %s",
			      strerror(-status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- starting ---- */

/* Makes it in TMPDIR, if that can be used and the address of a socket has room for it. */
static bool make_directory(void)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || parent[0] != '/' || strlen(parent) > sizeof(followed.directory) / 2 ||
	    access(parent, W_OK | X_OK))
		parent = "/tmp";
	snprintf(followed.directory, sizeof(followed.directory), "%s/xrc-trace-XXXXXX", parent);
	return mkdtemp(followed.directory) != NULL;
}

static int open_socket(void)
{
	if (!make_directory())
		return refuse_to_make(followed.directory);
	followed.address.sun_family = AF_UNIX;
	snprintf(followed.address.sun_path, sizeof(followed.address.sun_path), "%s/socket",
		 followed.directory);
	followed.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (followed.socket < 0 ||
	    setsockopt(followed.socket, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) ||
	    bind(followed.socket, (struct sockaddr *)&followed.address, sizeof(followed.address)))
		return refuse_to_make(followed.address.sun_path);
	return 0;
}

/* After fork(). The program keeps the signal actions that this command got, except for SIGCHLD. */
static void set_signals(pid_t child)
{
	/* Resource managers signal a job's first process only. SIGCHLD wakes follow(). */
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, 0 };
	/*
	 * The terminal sends the first two to the program as well, and this command reports how the
	 * program ended. The reader of the trace may end first: the program still runs to its end.
	 */
	static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE, 0 };
	/* SA_RESTART: an interrupted write would be lost. */
	struct sigaction action = { .sa_handler = forward, .sa_flags = SA_RESTART };

	child_to_forward_to = child;
	for (const int *number = forwarded; *number; number++)
		sigaction(*number, &action, NULL);
	for (const int *number = ignored; *number; number++)
		signal(*number, SIG_IGN);
}

static int start_program(void)
{
	sigset_t all, before;
	int watched[2];

	if (pipe2(watched, O_CLOEXEC))
		return refuse_to_make("a pipe");
	fflush(NULL);
	/* Block the signals until their handler can pass them on. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	followed.child = fork();
	if (!followed.child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(watched[1]);
		/* Waits until the command would see this process crash: it then closes the pipe. */
		while (read(watched[0], &(char){ 0 }, 1) < 0 && errno == EINTR)
			;
		/* `run` preloads the tracing library if the variable is set. */
		set_variable("XRC_COMPAT_TRACE", followed.address.sun_path, true);
		_exit(launch_program(followed.launch));
	}
	if (followed.child < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return refuse_to_make("a process");
	}
	watch_thread(followed.child);
	close(watched[0]);
	close(watched[1]);
	set_signals(followed.child);
	/* SIGCHLD stays blocked, so that it cannot come before follow() waits for it. */
	followed.mask = before;
	sigdelset(&followed.mask, SIGCHLD);
	sigaddset(&before, SIGCHLD);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

int trace_follow(struct trace *trace, const struct launch *launch)
{
	int status;

	followed.trace = trace;
	followed.launch = launch;
	status = open_socket() || start_program() ? TOOL_EXIT_REFUSED : follow();
	if (followed.socket >= 0)
		close(followed.socket);
	unlink(followed.address.sun_path);
	rmdir(followed.directory);
	return status;
}
