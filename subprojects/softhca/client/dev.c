/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened contexts: their descriptors, their locks, and whether their daemon has ended. */
#include "dev.h"

#include <lookup/lookup.h>
#include <own/code.h>
#include <own/real.h>
#include <rings/arena.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A program with a raised RLIMIT_NOFILE may open a device at a high number. */
#define MAX_FDS 65536

static _Atomic(struct dev *) table[MAX_FDS];
/* The quarter of a second in which dev_has_ended() last asked the system, or ENDED. */
static atomic_uint looked[MAX_FDS];
#define ENDED UINT_MAX
static atomic_int highest = -1; /* fd that was ever in the table */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* After closefrom() the number may belong to a file of the program. */
static void close_still(int fd, struct file_id file)
{
	if (fd_is_still(fd, file))
		real()->close(fd);
}

static void close_files(struct dev *dev)
{
	close_still(dev->sock, dev->sock_file);
	close_still(dev->original, dev->file);
	close_still(dev->shared, dev->shared_file);
}

int dev_socket(const struct dev *dev)
{
	return fd_is_still(dev->sock, dev->sock_file) ? dev->sock : -1;
}

/* ---- fork: the child uses nothing that it inherits, and the parent keeps all ---- */

static void child_after_fork(void)
{
	pthread_mutex_init(&table_lock, NULL);
	arena_forked();
	for (int fd = 0; fd <= atomic_load(&highest); fd++) {
		struct dev *dev = atomic_load(&table[fd]);

		if (!dev || dev->pid == LOST)
			continue;
		/* Close it here: the connection must end with the parent, not the last child. */
		close_files(dev);
		/* These leak: another thread of the parent may have been changing them. */
		dev->cqs = dev->qps = (struct handles){ 0 };
		dev->records = (struct records){ 0 };
		dev->pid = LOST;
	}
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, child_after_fork);
}

/* ---- the table ---- */

/*
 * Whether @fd is another file by now. Returns false in a vfork() child, which has the table but
 * other descriptors. Table locked.
 */
static bool is_reused(const struct dev *dev, int fd)
{
	return !fd_is_still(fd, dev->file) && (dev->pid == LOST || dev->pid == getpid());
}

/*
 * Removes and returns the context of @fd if that is another file by now; otherwise NULL.
 *
 * Does not close sock and original: closefrom() may have closed them, too, and their numbers may be
 * those of other files by now. So after dup2() over the device the daemon keeps the context until
 * the program ends. A kernel keeps it, too, as long as the doorbell page is mapped. Table locked.
 */
static struct dev *take_lost(int fd)
{
	struct dev *dev = atomic_load(&table[fd]);

	if (!dev || !is_reused(dev, fd))
		return NULL;
	atomic_store(&table[fd], NULL);
	dev->pid = LOST;
	return dev;
}

struct dev *dev_get(int fd)
{
	struct dev *dev, *lost;

	if (fd < 0 || fd >= MAX_FDS || !atomic_load_explicit(&table[fd], memory_order_acquire))
		return NULL;
	pthread_mutex_lock(&table_lock);
	lost = take_lost(fd);
	dev = atomic_load(&table[fd]);
	if (dev)
		dev->references++;
	pthread_mutex_unlock(&table_lock);
	if (lost)
		dev_put(lost);
	return dev;
}

/* A thread that is cancelled at the first close() would leave the other files open. */
static void dev_free(struct dev *dev)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (dev->pid != LOST)
		close_files(dev);
	else /* the daemon may keep the context, which goes on reading its records */
		dev->records.count = 0;
	pthread_mutex_destroy(&dev->command_lock);
	handles_free(&dev->cqs);
	handles_free(&dev->qps);
	records_free(&dev->records);
	room_free(dev, sizeof(*dev));
	pthread_setcancelstate(cancel, NULL);
}

void dev_put(struct dev *dev)
{
	int saved = errno;
	bool last;

	pthread_mutex_lock(&table_lock);
	last = !--dev->references;
	pthread_mutex_unlock(&table_lock);
	if (last)
		dev_free(dev);
	errno = saved;
}

/* ---- open ---- */

/* Not of the heap: after ibv_fork_init() a child lacks its pages that share registered memory. */
static struct dev *dev_new(void)
{
	void *memory = NULL;
	size_t room = 0;
	struct dev *dev;

	if (!room_for(&memory, &room, sizeof(*dev)))
		return NULL;
	dev = memory;
	dev->pid = getpid();
	dev->sock = dev->original = dev->shared = -1;
	dev->references = 1;
	pthread_mutex_init(&dev->command_lock, NULL);
	return dev;
}

/* The descriptor that the program gets: it can map the doorbell page by it (bypass.c). */
static int open_stand_in(struct dev *dev, int flags)
{
	int fd;

	dev->original = fd_move_high(dev->original);
	fd = fcntl(dev->original, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	if (fd >= 0 && flags & O_NONBLOCK)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static int enter_table(struct dev *dev, int flags)
{
	int fd = open_stand_in(dev, flags);
	struct dev *lost;

	if (fd < 0)
		return -errno;
	if (fd >= MAX_FDS) {
		real()->close(fd);
		return -EMFILE;
	}
	dev->fd = fd;
	atomic_store(&looked[fd], 0);
	pthread_mutex_lock(&table_lock);
	/* closefrom() may have closed an earlier context of this number. */
	lost = take_lost(fd);
	atomic_store(&table[fd], dev);
	if (fd > atomic_load(&highest))
		atomic_store(&highest, fd);
	pthread_mutex_unlock(&table_lock);
	if (lost)
		dev_put(lost);
	return fd;
}

static int connect_dev(bool cm, unsigned int index, int flags)
{
	struct dev *dev = dev_new();
	int fd;

	if (!dev)
		return -ENOMEM;
	dev->cm = cm;
	dev->index = index;
	pthread_once(&fork_once, watch_forks);
	find_providers();
	wake_find_verbs();
	fd = daemon_open(dev);
	dev->file = fd_file(dev->original);
	dev->sock_file = fd_file(dev->sock);
	if (!fd)
		fd = enter_table(dev, flags);
	if (fd < 0)
		dev_free(dev);
	return fd;
}

/* A cancellation point at its beginning only: later the connection would be left open. */
static int open_dev(bool cm, unsigned int index, int flags)
{
	int fd, cancel;

	pthread_testcancel();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	fd = connect_dev(cm, index, flags);
	pthread_setcancelstate(cancel, NULL);
	return fd;
}

int dev_open(unsigned int index, int flags)
{
	return open_dev(false, index, flags);
}

int dev_open_cm(int flags)
{
	uint32_t host;
	int err = host_index(&host);

	return err ? err : open_dev(true, host, flags);
}

int dev_node(int fd)
{
	struct dev *dev = dev_get(fd);
	int node = -1;

	if (dev) {
		node = dev->cm ? NODE_CM : (int)dev->index;
		dev_put(dev);
	}
	return node;
}

/* ---- flock: two openings of a device are one file ---- */

/* Opening a file is a cancellation point; flock(2) is not. */
static int shared_file(struct dev *dev)
{
	int file, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&table_lock);
	if (!fd_is_still(dev->shared, dev->shared_file)) {
		dev->shared = place_open_device(dev->index);
		if (dev->shared >= 0)
			dev->shared = fd_move_high(dev->shared);
		dev->shared_file = fd_file(dev->shared);
	}
	file = dev->shared;
	pthread_mutex_unlock(&table_lock);
	pthread_setcancelstate(cancel, NULL);
	return file;
}

int dev_flock(struct dev *dev, int fd, int operation)
{
	const int file = dev->cm ? fd : shared_file(dev);

	return file < 0 ? -1 : real()->flock(file, operation);
}

/* ---- close ---- */

/* True if another thread is in a system call on this file of the connection manager. */
static bool another_thread_waits(const struct dev *dev)
{
	bool others;

	pthread_mutex_lock(&table_lock);
	others = dev->cm && dev->references > 2; /* the table's and that of close() */
	pthread_mutex_unlock(&table_lock);
	return others;
}

/* Waits until the daemon has closed the socket: then it writes no more into this process. */
static void end_connection(struct dev *dev)
{
	int saved = errno;
	ssize_t got;
	char byte;
	int cancel, sock;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&dev->command_lock);
	atomic_store(&dev->closing, true);
	sock = dev_socket(dev);
	shutdown(sock, SHUT_WR);
	do {
		errno = 0;
		got = recv(sock, &byte, sizeof(byte), 0);
	} while (got > 0 || errno == EINTR);
	pthread_mutex_unlock(&dev->command_lock);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

/* Under the lock, so that a thread that writes meanwhile finds the context, or no file. */
static int leave_table(struct dev *dev, int fd)
{
	int result, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&table_lock);
	result = real()->close(fd);
	if (atomic_load(&table[fd]) == dev) {
		atomic_store(&table[fd], NULL);
		dev->references--;
	}
	pthread_mutex_unlock(&table_lock);
	pthread_setcancelstate(cancel, NULL);
	return result;
}

int dev_close(struct dev *dev, int fd)
{
	const pid_t pid = dev->pid;
	const bool lost = pid == LOST;

	/* A vfork() child closes its descriptor; the context stays its parent's. */
	if (!lost && pid != getpid())
		return real()->close(fd);
	/* A thread that waits for an event goes on waiting, as in the kernel. */
	if (!lost && !another_thread_waits(dev))
		end_connection(dev);
	return leave_table(dev, fd);
}

/* ---- the daemon's end ---- */

/* poll() ignores the number -1. */
static bool hung_up(const struct dev *dev)
{
	struct pollfd end = { .fd = dev_socket(dev) };

	return poll(&end, 1, 0) == 1 && end.revents & POLLHUP;
}

/* Polling a CQ is not a cancellation point; poll(2) and write(2) are. */
static void look(int fd)
{
	struct dev *dev = dev_get(fd);
	int saved = errno, cancel;

	if (!dev)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (hung_up(dev)) {
		atomic_store(&looked[fd], ENDED);
		daemon_tell_end();
	}
	pthread_setcancelstate(cancel, NULL);
	dev_put(dev);
	errno = saved;
}

/* The coarse clock takes no system call, and does not read the processor's counter. */
bool dev_has_ended(int fd)
{
	unsigned int quarter, before = atomic_load_explicit(&looked[fd], memory_order_relaxed);
	struct timespec now;

	if (before == ENDED)
		return true;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	quarter = 4u * (unsigned int)now.tv_sec + (unsigned int)now.tv_nsec / 250000000u;
	if (before == quarter)
		return false;
	atomic_store(&looked[fd], quarter);
	look(fd);
	return atomic_load(&looked[fd]) == ENDED;
}
