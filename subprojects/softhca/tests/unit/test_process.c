/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * process_read() works as long as one thread of the process remains. It fails as soon as the
 * process has ended.
 */

#include <harness/unit.h>

#include <machine/client.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define READS	 10000
#define TIMEOUT 25 /* seconds; alarm() then ends a child that outlives the test */

static const uint32_t word = 0x50f7ca11;

/* Each thread ends as soon as it has started the next one. */
static void *relay(void *arg)
{
	pthread_t next;

	pthread_detach(pthread_self());
	while (pthread_create(&next, NULL, relay, NULL))
		sched_yield();
	return arg;
}

/* Forks a child whose main thread exits. */
static pid_t start(void)
{
	pthread_t thread;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	alarm(TIMEOUT);
	if (pthread_create(&thread, NULL, relay, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static bool reads(pid_t pid)
{
	uint32_t found = 0;
	struct iovec here = { &found, sizeof(found) };
	struct iovec there = { (void *)(uintptr_t)&word, sizeof(word) };

	return process_read(pid, &here, &there, 1) == sizeof(word) && found == word;
}

/*
 * A killed process has no memory even before it is reaped. WNOWAIT keeps its pid, so that ESRCH
 * cannot be another process's.
 */
static void kill_and_expect_no_memory(pid_t pid)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(reads(pid));
	assert_int_equal(errno, ESRCH);
	assert_int_equal(process_thread(pid), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_thread(pid), 0);
}

TEST(memory_is_readable_while_threads_replace_each_other)
{
	pid_t pid;

	if (process_vm_readv(getpid(), NULL, 0, NULL, 0, 0))
		skip_because("process_vm_readv() does not work here");
	pid = start();
	while (process_has_memory(pid))
		sched_yield();
	for (int i = 0; i < READS; i++)
		assert_true(reads(pid));
	kill_and_expect_no_memory(pid);
}

UNIT_MAIN(NULL, NULL)
