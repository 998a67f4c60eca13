/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The shared registration table of a domain: opening, joining, and the thread that serves other processes. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <modern/modern.h>

#include "domain.h"
#include "log.h"
#include "owner/owner.h"
#include "rcv_qp.h"
#include "rcv_qp_attr.h"
#include "roster.h"
#include "state.h"

#define DEFAULT_DIRECTORY "/dev/shm"
/* What a killed process left behind is noticed at the latest after this. */
#define SERVE_TIMEOUT_MS 1000

void roster_init(struct roster *roster)
{
	*roster = (struct roster){ .opening = PTHREAD_MUTEX_INITIALIZER, .status = 1 };
}

static const char *directory(void)
{
	const char *setting = secure_getenv("XRC_COMPAT_TABLE_DIR");

	return setting && *setting ? setting : DEFAULT_DIRECTORY;
}

static struct regtab_key key_of(const struct core *core)
{
	const struct ibv_device *device = core->context->device;
	struct regtab_key key = { .st_dev = core->dev, .st_ino = core->ino };
	struct stat st;

	snprintf(key.device, sizeof(key.device), "%.63s", device->name);
	key.guid = modern_device_guid(core->context);
	/* Two emulated adapters may have one name and GUID; each has a device directory of its own. */
	if (!stat(device->ibdev_path, &st))
		key.instance = st.st_ino;
	return key;
}

/*
 * Programs that end without closing anything (GASNet always, any that is killed) leave a file that only costs memory.
 * The kernel cleaned up after them at once; here the next program of the user does, once per process.
 */
static void clean_up_after_others(const char *dir)
{
	static bool done;

	if (dir && !__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		regtab_gc(dir, false, NULL, NULL);
}

static int open_and_join(struct core *core, struct roster *roster)
{
	const char *dir = core->shared ? directory() : NULL;
	struct regtab_key key = key_of(core);
	struct regtab_error why = { "" };
	char label[REGTAB_LABEL_SIZE];
	static bool warned;
	int err;

	err = regtab_open(&key, dir, &roster->table, &why);
	if (err) {
		log_once(warned, "%s: %s", core->context->device->name, why.text);
		return err;
	}
	clean_up_after_others(dir);
	snprintf(label, sizeof(label), "%p", (void *)core->context);
	err = regtab_join(roster->table, label, &roster->member);
	if (err) {
		log_once(warned, "%s: cannot join the registration table in %s: %s", core->context->device->name,
			 dir ? dir : "memory", strerror(-err));
		regtab_close(roster->table);
	}
	return err;
}

int roster_open(struct core *core)
{
	struct roster *roster = &core->roster;
	int status;

	pthread_mutex_lock(&roster->opening);
	if (roster->status == 1) {
		roster->pid = getpid();
		roster->status = open_and_join(core, roster);
	}
	status = roster->status;
	pthread_mutex_unlock(&roster->opening);
	return status;
}

static const struct owner_service service = {
	.answer = rcv_qp_answer,
	.unused = rcv_qp_retired,
};

static void *serve(void *argument)
{
	struct core *core = argument;

	while (!__atomic_load_n(&core->roster.stop, __ATOMIC_ACQUIRE)) {
		owner_serve(core->roster.owner, &service, core, SERVE_TIMEOUT_MS);
		if (domain_end_orphan(core))	/* core is gone */
			break;
	}
	return NULL;
}

/* The application's signals are none of this thread's business. */
static int start_server(struct core *core)
{
	sigset_t all, before;
	int err = owner_open(core->roster.member, &core->roster.owner);

	if (err)
		return err;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&core->roster.server, NULL, serve, core);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		owner_close(core->roster.owner);
	return err;
}

int roster_serve(struct core *core)
{
	struct roster *roster = &core->roster;
	int err = 0;

	pthread_mutex_lock(&roster->opening);
	if (!roster->serving) {
		err = start_server(core);
		roster->serving = !err;
	}
	pthread_mutex_unlock(&roster->opening);
	return err;
}

static void end_server(struct roster *roster)
{
	if (pthread_equal(roster->server, pthread_self())) {
		pthread_detach(roster->server);
	} else {
		__atomic_store_n(&roster->stop, true, __ATOMIC_RELEASE);
		owner_stop(roster->owner);
		pthread_join(roster->server, NULL);
	}
	owner_close(roster->owner);
}

void roster_close(struct roster *roster)
{
	pthread_mutex_lock(&roster->opening);
	if (roster->serving && roster->pid == getpid())
		end_server(roster);
	if (roster->status == 0) {
		regtab_leave(roster->member);
		regtab_close(roster->table);
	}
	roster->serving = roster->stop = false;
	roster->member = NULL;
	roster->table = NULL;
	roster->status = 1;
	pthread_mutex_unlock(&roster->opening);
}
