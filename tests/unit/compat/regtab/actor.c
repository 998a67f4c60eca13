/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Real processes that do to a table what a test tells them. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/owner/owner.h>

#include "actor.h"

static char the_dir[64];
static pid_t dir_maker;

static void remove_dir(void)
{
	struct dirent *entry;
	DIR *dir;

	if (getpid() != dir_maker || !(dir = opendir(the_dir)))
		return;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(the_dir);
}

const char *actor_dir(void)
{
	const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	if (the_dir[0])
		return the_dir;
	snprintf(the_dir, sizeof(the_dir), "%s/regtab-test-XXXXXX", base);
	if (!mkdtemp(the_dir)) {
		perror(the_dir);
		exit(1);
	}
	dir_maker = getpid();
	atexit(remove_dir);
	return the_dir;
}

struct regtab_key actor_key(unsigned n)
{
	struct regtab_key key = { .device = "mlx4_0", .guid = 0x2c903000000001, .st_dev = 25, .st_ino = 1000 + n };

	return key;
}

unsigned actor_files(const char *dir)
{
	DIR *handle = opendir(dir);
	struct dirent *entry;
	unsigned count = 0;

	while (handle && (entry = readdir(handle)))
		count += !strncmp(entry->d_name, "xrc-compat-", 11);
	closedir(handle);
	return count;
}

bool actor_forks_wipe(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	if (page == MAP_FAILED || madvise(page, size, MADV_WIPEONFORK))
		return true;	/* a kernel that refuses it is served in another way */
	*page = 1;
	pid = fork();
	if (!pid)
		_exit(*page);
	waitpid(pid, &status, 0);
	munmap(page, size);
	return !status;
}

/* ---- the process ---- */

struct message {
	enum act act;
	uint32_t arg;
};

static struct {
	const char *dir;
	struct regtab_key key;
	struct regtab *tab;
	struct regtab_member *member;
	struct owner *owner;
	pthread_t server;
	bool serving, released;
	uint32_t retired[64];
	unsigned retired_count;
	int asked;
	pthread_mutex_t mutex;
} me = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static int open_and_join(void)
{
	struct regtab_error why;
	int error = regtab_open(&me.key, me.dir, &me.tab, &why);

	if (error) {
		fprintf(stderr, "actor: %s\n", why.text);
		return error;
	}
	return regtab_join(me.tab, "actor", &me.member);
}

static int add_one(void *context, uint32_t qp_num, const void *request, size_t len, void *answer, size_t *answer_len)
{
	uint32_t number;

	(void)context;
	(void)qp_num;
	if (len != sizeof(number))
		return -EBADMSG;
	memcpy(&number, request, len);
	__atomic_add_fetch(&me.asked, 1, __ATOMIC_RELAXED);
	if (number == 555)
		pause();
	if (number == 666)
		return -EACCES;
	if (number == 777)
		usleep(300000);
	while (number == 999 && !__atomic_load_n(&me.released, __ATOMIC_ACQUIRE))
		usleep(1000);
	number++;
	memcpy(answer, &number, sizeof(number));
	*answer_len = sizeof(number);
	return 0;
}

static void note_retired(void *context, uint32_t qp_num)
{
	(void)context;
	pthread_mutex_lock(&me.mutex);
	if (me.retired_count < 64)
		me.retired[me.retired_count] = qp_num;
	me.retired_count++;
	pthread_mutex_unlock(&me.mutex);
}

static void *serve(void *arg)
{
	static const struct owner_service service = { add_one, note_retired };

	(void)arg;
	while (__atomic_load_n(&me.serving, __ATOMIC_ACQUIRE))
		owner_serve(me.owner, &service, NULL, 200);
	return NULL;
}

static int start_serving(void)
{
	int error = owner_open(me.member, &me.owner);

	if (error)
		return error;
	__atomic_store_n(&me.serving, true, __ATOMIC_RELEASE);
	return -pthread_create(&me.server, NULL, serve, NULL);
}

static int stop_serving(void)
{
	if (!me.serving)
		return 0;
	__atomic_store_n(&me.serving, false, __ATOMIC_RELEASE);
	owner_stop(me.owner);
	pthread_join(me.server, NULL);
	owner_close(me.owner);
	return 0;
}

static int count_retired(uint32_t qp_num)
{
	int count = 0;

	pthread_mutex_lock(&me.mutex);
	for (unsigned i = 0; i < me.retired_count && i < 64; i++)
		count += !qp_num || me.retired[i] == qp_num;
	pthread_mutex_unlock(&me.mutex);
	return count;
}

static int ask(uint32_t qp_num, uint32_t number)
{
	uint32_t answer = 0;
	size_t len = sizeof(answer);
	int error = owner_ask(me.member, qp_num, &number, sizeof(number), &answer, &len, number == 888 || number == 999 ? 150 : 20000);

	return error ? error : (int)answer;
}

static int unregister(uint32_t qp_num)
{
	bool last;
	int error = regtab_unregister(me.member, qp_num, &last);

	if (!error && last)
		owner_tell_unused(me.member, qp_num, 20000);
	return error ? error : last;
}

static int knows(uint32_t qp_num)
{
	enum regtab_carrier carrier;
	int error = regtab_knows(me.member, qp_num, &carrier, NULL);

	return error ? error : (int)carrier;
}

static int fork_sleeper(bool bare)
{
	pid_t pid = bare ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid)
		return (int)pid;
	sleep(60);
	_exit(0);
}

static int close_files(void)
{
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	return 0;
}

static int perform(enum act act, uint32_t arg)
{
	switch (act) {
	case ACT_OPEN:			return open_and_join();
	case ACT_JOIN:			return regtab_join(me.tab, "again", &me.member);
	case ACT_ADD:			return regtab_add(me.member, arg, REGTAB_BY_KERNEL);
	case ACT_ADD_OWNED:		return regtab_add(me.member, arg, REGTAB_BY_OWNER);
	case ACT_REGISTER:		return regtab_register(me.member, arg);
	case ACT_UNREGISTER:		return unregister(arg);
	case ACT_UNREGISTER_BLIND:	return regtab_unregister(me.member, arg, NULL);
	case ACT_IS_REGISTERED:		return regtab_is_registered(me.member, arg);
	case ACT_COUNT:			return regtab_count(me.tab, arg);
	case ACT_MEMBER_COUNT:		return regtab_member_count(me.member);
	case ACT_REAP:			return regtab_reap(me.tab);
	case ACT_KNOWS:			return knows(arg);
	case ACT_ASK:			return ask(arg & 0xffff, arg >> 16);
	case ACT_SERVE:			return start_serving();
	case ACT_ASKED:			return __atomic_load_n(&me.asked, __ATOMIC_RELAXED);
	case ACT_RELEASE:		__atomic_store_n(&me.released, true, __ATOMIC_RELEASE); return 0;
	case ACT_RETIRED:		return count_retired(arg);
	case ACT_LEAVE:			stop_serving(); regtab_leave(me.member); me.member = NULL; return 0;
	case ACT_CLOSE:			regtab_close(me.tab); me.tab = NULL; return 0;
	case ACT_FORK:			return fork_sleeper(false);
	case ACT_CLONE:			return fork_sleeper(true);
	case ACT_CLOSE_FILES:		return close_files();
	}
	return -ENOSYS;
}

static void act_on(int request, int reply)
{
	struct message message;

	while (read(request, &message, sizeof(message)) == sizeof(message)) {
		int result = perform(message.act, message.arg);

		if (write(reply, &result, sizeof(result)) != sizeof(result))
			break;
	}
}

/* ---- its director ---- */

void actor_perform(const char *dir, unsigned n)
{
	me.dir = dir;
	me.key = actor_key(n);
	act_on(0, 1);
	_exit(0);
}

static void become(const char *program, const char *dir, unsigned n)
{
	char number[16];

	if (!program)
		actor_perform(dir, n);
	snprintf(number, sizeof(number), "%u", n);
	execl(program, program, dir, number, (char *)NULL);
	_exit(127);
}

static struct actor start(const char *program, const char *dir, unsigned n)
{
	int request[2], reply[2];
	struct actor actor;

	if (pipe2(request, O_CLOEXEC) || pipe2(reply, O_CLOEXEC) || (actor.pid = fork()) < 0) {
		perror("actor");
		exit(1);
	}
	if (!actor.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(request[0], 0);
		dup2(reply[1], 1);
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		become(program, dir, n);
	}
	close(request[0]);
	close(reply[1]);
	actor.request = request[1];
	actor.reply = reply[0];
	return actor;
}

void actor_post(struct actor *actor, enum act act, uint32_t arg)
{
	struct message message = { act, arg };

	if (write(actor->request, &message, sizeof(message)) != sizeof(message)) {
		perror("actor");
		exit(1);
	}
}

int actor_reply(struct actor *actor, int ms)
{
	struct pollfd wait = { .fd = actor->reply, .events = POLLIN };
	int result;

	if (poll(&wait, 1, ms) != 1)
		return -ETIME;
	return read(actor->reply, &result, sizeof(result)) == sizeof(result) ? result : -EPIPE;
}

int actor_do(struct actor *actor, enum act act, uint32_t arg)
{
	actor_post(actor, act, arg);
	return actor_reply(actor, 30000);
}

struct actor actor_start(const char *dir, unsigned n)
{
	return actor_start_program(NULL, dir, n);
}

struct actor actor_start_program(const char *program, const char *dir, unsigned n)
{
	struct actor actor = start(program, dir, n);
	int error = actor_do(&actor, ACT_OPEN, 0);

	if (error) {
		fprintf(stderr, "actor cannot open its table: %s\n", strerror(-error));
		exit(1);
	}
	return actor;
}

static void actor_reap(struct actor *actor)
{
	close(actor->request);
	close(actor->reply);
	waitpid(actor->pid, NULL, 0);
}

void actor_stop(struct actor *actor)
{
	int status;

	kill(actor->pid, SIGSTOP);
	waitpid(actor->pid, &status, WUNTRACED);
}

void actor_continue(struct actor *actor)
{
	kill(actor->pid, SIGCONT);
}

void actor_kill(struct actor *actor)
{
	kill(actor->pid, SIGKILL);
	actor_reap(actor);
}

void actor_end(struct actor *actor)
{
	actor_do(actor, ACT_LEAVE, 0);
	actor_do(actor, ACT_CLOSE, 0);
	actor_reap(actor);
}
