/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An emulated HCA in the fuzzer's own process. */
#include "softhca_hca.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <base/loop.h>
#include <cm/cm.h>
#include <objects/objects.h>
#include <wire/wire.h>

static const uint32_t probe = SOFTHCA_MAGIC;
static struct fuzz_hca hca;
static pid_t client;
static int arena_fd;

/* Stands for hca_now(), so that an input always takes the same time. */
uint64_t __wrap_hca_now(void);

uint64_t __wrap_hca_now(void)
{
	return hca.now += 1000;
}

void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "softhca fuzz: %s\n", what);
	abort();
}

static unsigned long tried, accepted;

static void check_counts(void)
{
	fprintf(stderr, "%lu of %lu were accepted\n", accepted, tried);
	if (tried < 1000 || accepted >= tried / 10)
		return;
	fprintf(stderr, "softhca fuzz: too few were accepted\n");
	_exit(1);
}

void count_accepted(bool good)
{
	if (!tried++)
		atexit(check_counts);
	accepted += good;
}

/*
 * The HCA writes to any address that the client names, so the client must not be the fuzzer. It is
 * a copy of the fuzzer's process with the same addresses. It sleeps and never uses its memory.
 */
static void start_client(void)
{
	const pid_t fuzzer = getpid();

	client = fork();
	must(client >= 0, "no client");
	if (client)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The fuzzer may have ended before. */
	while (getppid() == fuzzer)
		pause();
	_exit(0);
}

/* Each run of the fuzzer has one model. */
static const struct model *chosen_model(void)
{
	const char *name = getenv("SOFTHCA_MODEL");
	const struct model *model = model_find(name ? name : models[0]->name);

	must(model != NULL, "SOFTHCA_MODEL names no model");
	return model;
}

/* All of it is at its address in the client, which inherits the mapping. */
static void create_arena(void)
{
	const off_t table = (off_t)softhca_arena_table(ARENA_PAGES);
	uint32_t owner[ARENA_PAGES];

	for (int i = 0; i < ARENA_PAGES; i++)
		owner[i] = softhca_arena_owner(ARENA_BASE, ARENA_PAGES);
	arena_fd = memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	must(arena_fd >= 0 && !ftruncate(arena_fd, table + ARENA_SIZE) &&
		     !fcntl(arena_fd, F_ADD_SEALS, F_SEAL_SHRINK) &&
		     pwrite(arena_fd, owner, sizeof(owner), 0) == sizeof(owner),
	     "no arena");
	hca.arena = mmap((void *)ARENA_BASE, ARENA_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED_NOREPLACE, arena_fd, table);
	must(hca.arena == (void *)ARENA_BASE, "no arena");
}

static void begin_once(void)
{
	struct settings settings = settings_default;
	void *scratch = mmap(NULL, SCRATCH_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* As in the daemon: a pipe whose reader is gone must not kill it. */
	signal(SIGPIPE, SIG_IGN);
	settings.devices = 1;
	settings.model = chosen_model();
	settings.ports = 2;
	must(scratch != MAP_FAILED, "no memory");
	hca.scratch = (uint64_t)(uintptr_t)scratch;
	create_arena();
	start_client();
	must(!loop_init(true), "no loop");
	must(!machine_init(&hca.machine, &settings, 3, 0) && !cm_init(&hca.machine), "no machine");
	far_init(&hca.machine);
	cm_far_init(&hca.machine);
}

struct fuzz_hca *fuzz_hca_begin(void)
{
	const struct softhca_hello hello = {
		.probe = (uint64_t)(uintptr_t)&probe, .arena_pages = ARENA_PAGES,
	};
	struct hca_device *device = &hca.machine.device[0];
	int uar;

	if (!client)
		begin_once();
	/* Objects have the same numbers in each run, so that an input always means the same. */
	for (int type = 0; type < HCA_TYPES; type++)
		device->numbers[type].next = 0x40;
	device->qps.next = 0x40;
	device->key_variant = 0;
	hca.now = 0;
	fault_clear(&device->faults);
	memset(hca.arena, 0, ARENA_SIZE);
	must(!context_create(&hca.machine, &hello, dup(2), client, arena_fd, &hca.ctx, &uar),
	     "no context");
	close(uar);
	return &hca;
}

void fuzz_hca_turn(struct fuzz_hca *s)
{
	const struct model *model = s->ctx->device->model;

	/* Rings both doorbells each time. A doorbell without new requests has no effect. */
	memset(s->ctx->uar + model->send_bell.at, 0xff, model->send_bell.bytes);
	memset(s->ctx->uar + model->arm_bell.at, 0xff, model->arm_bell.bytes);
	engine_turn(&s->machine);
}

void fuzz_hca_end(struct fuzz_hca *s)
{
	struct hca_device *device = &s->machine.device[0];

	context_destroy(s->ctx);
	for (int type = 0; type < HCA_TYPES; type++)
		must(!device->numbers[type].used, "objects are left over");
	must(!device->qps.used, "QPs are left over");
	must(list_empty(&device->xrcds) && list_empty(&device->contexts),
	     "domains or contexts are left over");
	must(list_empty(&s->machine.ready) && list_empty(&s->machine.failed) &&
		     list_empty(&s->machine.unanswered) && list_empty(&s->machine.held),
	     "work is left over");
	must(timer_next(&s->machine.timers) == UINT64_MAX, "timers are left over");
}

/* ---- the input ---- */

void take_bytes(struct input *input, void *to, size_t length)
{
	size_t part = length < input->left ? length : input->left;

	memset(to, 0, length);
	memcpy(to, input->at, part);
	input->at += part;
	input->left -= part;
}

uint32_t take(struct input *input, size_t bytes)
{
	uint32_t value = 0;

	take_bytes(input, &value, bytes);
	return value;
}
