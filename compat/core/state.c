/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The one lock of the library, and the domains of each opened device. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(, core) cores = LIST_HEAD_INITIALIZER(cores);

atomic_bool state_used;

/*
 * From before a fork until after it the forking thread has the lock, or does without. Fork handlers of the program run in
 * between, and may call verbs: that thread needs, and gives back, no lock then.
 */
static __thread bool forking __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */

void state_forking(bool take)
{
	if (take)
		pthread_mutex_lock(&lock);
	forking = true;
}

static void core_forked(struct core *core, void *arg)
{
	(void)arg;
	core->inherited = true;
}

void state_forked(bool child, bool taken)
{
	forking = false;
	if (child) {
		pthread_mutex_init(&lock, NULL);
		pthread_cond_init(&changed, NULL);
		core_each(core_forked, NULL);
	} else if (taken) {
		pthread_mutex_unlock(&lock);
	}
}

void state_lock(void)
{
	if (!forking)
		pthread_mutex_lock(&lock);
}

void state_unlock(void)
{
	if (!forking)
		pthread_mutex_unlock(&lock);
}

void state_wait(void)
{
	pthread_cond_wait(&changed, &lock);
}

void state_changed(void)
{
	pthread_cond_broadcast(&changed);
}

static struct core *core_find(struct ibv_context *context, dev_t dev, ino_t ino)
{
	struct core *core;

	LIST_FOREACH(core, &cores, link)
		if (core->context == context && core->shared && core->dev == dev && core->ino == ino)
			return core;
	return NULL;
}

struct core *core_get(struct ibv_context *context, bool shared, dev_t dev, ino_t ino)
{
	struct core *core = shared ? core_find(context, dev, ino) : NULL;

	if (!core) {
		core = calloc(1, sizeof(*core));
		if (!core)
			return NULL;
		core->context = context;
		core->shared = shared;
		core->dev = dev;
		core->ino = ino;
		core->table = shared ? table_new(context, dev, ino) : NULL;
		core_show(core);
	}
	core->handles++;
	return core;
}

void core_hide(struct core *core)
{
	LIST_REMOVE(core, link);
}

void core_show(struct core *core)
{
	LIST_INSERT_HEAD(&cores, core, link);
}

void core_each(void (*visit)(struct core *core, void *arg), void *arg)
{
	struct core *core;

	LIST_FOREACH(core, &cores, link)
		visit(core, arg);
}

void core_free(struct core *core)
{
	regtab_free(core->table);
	free(core);
}
