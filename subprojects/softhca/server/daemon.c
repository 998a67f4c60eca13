/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's service, from what it needs to how it ends without leaving anything. */
#include "server.h"

#include <base/sleep.h>
#include <cm/cm.h>
#include <fabric/fabric.h>
#include <dir.h>
#include <proto.h>
#include <wire/wire.h>

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- what ends the daemon ---- */

struct end {
	struct watch signals;
	int signalfd;
	bool asked;
	bool with_runs; /* it ends when they do */
};

static void signal_came(struct watch *watch, uint32_t events)
{
	container_of(watch, struct end, signals)->asked = true;
	(void)events;
}

static int watch_signals(struct end *end)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	end->signals.ready = signal_came;
	end->signalfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return end->signalfd < 0 ? -errno : loop_watch(end->signalfd, EPOLLIN, &end->signals);
}

/* ---- service ---- */

static void raise_limit(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (!getrlimit(resource, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(resource, &limit);
	}
}

/*
 * Every client needs several descriptors in the daemon, and files in memory. A file beyond the hard
 * limit (ulimit -f) must be an error of that client, not the daemon's end.
 */
static void raise_limits(void)
{
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_FSIZE);
	signal(SIGXFSZ, SIG_IGN);
}

static void tune_allocator(void)
{
	/* Allocate large tables by mmap(): only touched pages use memory. */
	mallopt(M_MMAP_THRESHOLD, 1 << 17);
	/* Pieces for other machines come and go. Their pages stay. */
	mallopt(M_TRIM_THRESHOLD, 1 << 24);
}

/* Whether all machines have met, or it is @until. Otherwise *nap does not go beyond that time. */
static bool is_time(uint64_t until, uint64_t *nap)
{
	const uint64_t now = hca_now();

	if (fabric_complete(NULL, 0) || now >= until)
		return true;
	*nap = *nap < until - now ? *nap : until - now;
	return false;
}

/* Until the end, or, if @until is not 0, until that time or until all machines have met. */
static int serve(struct hca_machine *machine, const struct end *end, uint64_t until)
{
	int err = 0;

	while (!err) {
		uint64_t nap = engine_turn(machine), most;

		server_reap();
		fabric_flush();
		if (nap && engine_linger(machine))
			nap = 0;
		/* A doorbell that rang before the announcement wakes nothing: look once more. */
		if (nap) {
			sleep_announce();
			nap = engine_turn(machine);
			most = fabric_nap();
			nap = nap < most ? nap : most;
		}
		if (machine->stop || end->asked || (until && is_time(until, &nap)))
			break;
		/* A run's daemon stays for children of the run that still use it. */
		if (end->with_runs && runs_are_over() && server_idle())
			break;
		err = loop_wait(nap, &machine->slept);
	}
	return err;
}

static int open_trace(struct hca_machine *machine, char *why, size_t size)
{
	if (!machine->settings.trace[0])
		return 0;
	machine->trace = fopen(machine->settings.trace, "ae");
	return machine->trace ? 0 : server_fail(why, size, machine->settings.trace, -errno);
}

/*
 * The default filter of containerd before 1.7 refuses process_vm_readv(). Without it programs would
 * only see that an adapter cannot be opened.
 */
static int try_calls(char *why, size_t size)
{
	char from = 0, to;
	struct iovec here = { &to, 1 }, there = { &from, 1 };
	int fd = memfd_create("softhca-try", MFD_CLOEXEC);

	if (fd < 0)
		return server_fail(why, size, "memfd_create", -errno);
	close(fd);
	if (process_read(getpid(), &here, &there, 1) != 1)
		return server_fail(why, size, "process_vm_readv", -errno);
	return 0;
}

/* Waits until all machines are on the wire, so that programs find them. */
static int meet(struct hca_machine *machine, const struct end *end, uint64_t until, char *why,
		size_t size)
{
	int err = serve(machine, end, until);
	char missing[480];

	if (err)
		return server_fail(why, size, "epoll", err);
	if (fabric_complete(missing, sizeof(missing)))
		return 0;
	snprintf(why, size, "%s%s", machine->stop || end->asked ? "stopped; " : "", missing);
	return -ETIMEDOUT;
}

static int make_machine(const struct settings *settings, struct hca_machine *machine,
			struct end *end)
{
	int own, count = machines_count(&own);
	int err = loop_init(count > 1);

	if (!err)
		err = machine_init(machine, settings, count, own);
	if (!err)
		err = cm_init(machine);
	return err ? err : watch_signals(end);
}

/* What programs see as /sys and /dev. */
static int make_tree(const char *directory, int lock, struct hca_machine *machine)
{
	char path[PATH_MAX];
	int err = home_mark(lock);

	if (!err)
		err = dir_join(path, sizeof(path), directory, SOFTHCA_SYSFS);
	if (!err)
		err = sysfs_create(machine, path);
	if (!err)
		err = dir_join(path, sizeof(path), directory, SOFTHCA_DEV);
	return err ? err : nodes_create(machine, path);
}

static struct hca_machine machine;
static struct end end;

int daemon_prepare(const struct daemon_plan *plan, char *why, size_t size)
{
	char path[PATH_MAX];
	int err;

	raise_limits();
	tune_allocator();
	err = try_calls(why, size);
	if (err)
		return err;
	err = machines_read(&plan->settings, why, size);
	if (err)
		return err;
	err = make_machine(&plan->settings, &machine, &end);
	if (err)
		return server_fail(why, size, "cannot start", err);
	end.with_runs = plan->until;
	err = plan->until ? runs_add(plan->until) : 0;
	if (err)
		return server_fail(why, size, "the run cannot be watched (pidfd_open, Linux 5.3)",
				   err);
	err = open_trace(&machine, why, size);
	if (err)
		return err;
	err = machines_open(&machine, why, size);
	if (err)
		return err;
	err = plan->net ? net_create(&machine) : 0;
	if (err)
		return server_fail(why, size, "--net: the adapters' addresses", err);
	err = make_tree(plan->directory, plan->lock, &machine);
	if (err)
		return server_fail(why, size, "the device tree cannot be written", err);
	err = dir_join(path, sizeof(path), plan->directory, SOFTHCA_SOCKET);
	if (!err)
		err = server_open(&machine, path);
	return err ? server_fail(why, size, path, err) : meet(&machine, &end, plan->end, why, size);
}

int daemon_serve(void)
{
	int err = serve(&machine, &end, 0);

	server_close();
	machines_send_last_words();
	return err;
}

void daemon_leave(const char *directory)
{
	fabric_close();
	home_remove(directory);
}
