/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The memory that a program shares with the daemon: its rings, and pages with doorbell records. */
#include <e2e/pair.h>

#include <dlfcn.h>
#include <harness/emulated.h>
#include <infiniband/mlx5dv.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the file that the process and the daemon share, if they do. */
static long long shared_bytes(void)
{
	char link[64], name[64];
	struct stat st;

	for (int fd = 0; fd < 4096; fd++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, name, sizeof(name)) < 20 ||
		    strncmp(name, "/memfd:softhca-arena", 20))
			continue;
		must(!fstat(fd, &st));
		return st.st_blocks * 512ll;
	}
	return 0;
}

ROW("freed rings take no memory, wherever they were")
{
	struct host *host = rig_host(0);
	long long before;

	rig_free_rings(host);
	before = shared_bytes();
	for (int i = 0; i < 3; i++) {
		rig_map(8u << 20);
		rig_free_rings(host);
	}
	/* The table of the file may have grown. */
	must(shared_bytes() < before + (1 << 20));
}

/* The beginning of a ring. The file begins with its table. */
static void *some_ring(void)
{
	struct rig_mapping found = { 0 };

	while (rig_find_mapping("memfd:softhca-arena", found.end, &found)) {
		if (found.offset)
			return (void *)found.begin;
	}
	return NULL;
}

static void *unmap_cancelled(void *ring)
{
	int cancel;

	must_eq(pthread_cancel(pthread_self()), 0);
	must(!munmap(ring, 4096));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	return ring;
}

ROW("a thread is not cancelled while it unmaps a ring")
{
	void *ring, *result;
	pthread_t thread;

	rig_host(0);
	ring = some_ring();
	must_eq(ring != NULL, shared_bytes() > 0);
	if (!ring)
		row_skip("no arena in this run");
	must_eq(pthread_create(&thread, NULL, unmap_cancelled, ring), 0);
	must_eq(pthread_join(thread, &result), 0);
	must(result == ring);
	rig_host(0);
}

/* Where libmlx5 has the doorbell record of @cq. */
static uint64_t *record_of(struct ibv_cq *cq)
{
	struct mlx5dv_cq found = { 0 };
	struct mlx5dv_obj obj = { .cq = { .in = cq, .out = &found } };
	__typeof__(mlx5dv_init_obj) *init;

	*(void **)&init = MADE(dlsym(MADE(dlopen("libmlx5.so.1", RTLD_NOW)), "mlx5dv_init_obj"));
	must(!init(&obj, MLX5DV_OBJ_CQ));
	return (void *)found.dbrec;
}

static bool is_shared(const void *at)
{
	struct rig_mapping found;

	return rig_find_mapping("softhca-arena", (uintptr_t)at, &found) &&
	       found.begin <= (uintptr_t)at;
}

#define CQ_BYTES   (1u << 20)
#define FILE_BYTES (1ul << 30)

static uint8_t *map_nothing(size_t length)
{
	return mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Makes a ring in the place of what was mapped there. False: other memory has its pages. */
static bool ring_at(struct host *host, uint8_t *at)
{
	const int entries = (int)CQ_BYTES / (emulated_is_mlx5() ? 64 : 32);

	/* The kernel takes the highest gap that is long enough. */
	while (map_nothing(CQ_BYTES) > at)
		continue;
	must(!munmap(at, CQ_BYTES));
	MADE(ibv_create_cq(host->ctx, entries - 1, NULL, NULL, 0));
	return is_shared(at);
}

/* Its pages follow those of the other ring in the shared file, far from it in memory. */
ROW("a ring stays when more memory than another ring is unmapped")
{
	struct host *host = rig_host(0);
	uint8_t *empty = map_nothing(3 * FILE_BYTES), *stays, *goes;
	int tries = 8;

	/* One run has no arena, another one a limit of its memory (ulimit -v). */
	if (!shared_bytes() || empty == MAP_FAILED)
		row_skip("no arena in this run, or a limit of memory");
	empty += FILE_BYTES - (uintptr_t)empty % FILE_BYTES;
	do {
		must(tries--);
		empty += 2 * CQ_BYTES;
		stays = empty + CQ_BYTES;
		goes = empty + FILE_BYTES;
	} while (!ring_at(host, stays) || !ring_at(host, goes));
	*stays = 0xab;
	must(!munmap(goes, 2 * CQ_BYTES));
	must_eq(*stays, 0xab);
}

/* Its second word is not 0: the daemon writes there that the CQ was never armed. */
static void child_must_have_a_copy(uint64_t *record)
{
	const uint64_t before = *record;
	pid_t child;

	must(before || !is_shared(record));
	child = fork();
	if (!child) {
		must(!is_shared(record));
		must_eq(*record, before);
		*record = ~before;
		_exit(0);
	}
	must_end(child, 0);
	must_eq(*record, before);
}

ROW("a page of the heap is shared with the daemon while it has a doorbell record")
{
	struct ibv_context *ctx = rig_host(0)->ctx;
	struct ibv_cq *one, *other;
	uint64_t *record;

	if (!emulated_is_mlx5())
		row_skip("about libmlx5");
	ctx = MADE(ibv_open_device(ctx->device));
	one = MADE(ibv_create_cq(ctx, 1, NULL, NULL, 0));
	other = MADE(ibv_create_cq(ctx, 1, NULL, NULL, 0));
	record = record_of(other);
	must_eq((uintptr_t)record / 4096, (uintptr_t)record_of(one) / 4096);
	must_eq(is_shared(record), shared_bytes() > 0);
	must_eq(ibv_destroy_cq(one), 0);
	must_eq(is_shared(record), shared_bytes() > 0);
	child_must_have_a_copy(record);
	must_eq(ibv_destroy_cq(other), 0);
	must(!is_shared(record));
	must_eq(ibv_close_device(ctx), 0);
}

ROW("doorbells ring when the number of their device is another file's")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct stat st;

	must(dup2(xrc_file(), pair.a->ctx->cmd_fd) >= 0);
	must(!fstat(pair.a->ctx->cmd_fd, &st)); /* so that the preloaded library notices */
	pair_must_receive(&pair, 1);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
}

ROW("a program may allow itself smaller files than the shared one")
{
	struct ibv_device *device = rig_host(0)->ctx->device;
	struct rlimit limit = { 65536, 65536 };

	must(!setrlimit(RLIMIT_FSIZE, &limit));
	MADE(ibv_create_cq(MADE(ibv_open_device(device)), 1, NULL, NULL, 0));
}

/* An allocator for rings and records, of memory that the program uses otherwise, too. */
static void *part_of_heap(struct ibv_pd *pd, void *memory, size_t size, size_t alignment,
			  uint64_t type)
{
	(void)pd;
	(void)alignment;
	(void)type;
	return size == sizeof(uint64_t) ? memset((uint8_t *)memory + 512, 0, size)
					: IBV_ALLOCATOR_USE_DEFAULT;
}

static void leave(struct ibv_pd *pd, void *memory, void *part, uint64_t type)
{
	(void)pd;
	(void)memory;
	(void)part;
	(void)type;
}

ROW("a page of the program's own stays its own with a doorbell record in it")
{
	struct host *host = rig_host(0);
	uint8_t *page = rig_map(4096), before[512];
	struct ibv_parent_domain_init_attr attr = {
		.pd = host->pd,
		.alloc = part_of_heap,
		.free = leave,
		.pd_context = page,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
	};
	struct host with_allocator = *host;
	struct ibv_qp *qp;

	if (!emulated_is_mlx5())
		row_skip("about libmlx5");
	pair_pattern(page, 4096, 1);
	memcpy(before, page, sizeof(before));
	with_allocator.pd = MADE(ibv_alloc_parent_domain(host->ctx, &attr));
	qp = MADE(rig_qp(&with_allocator, IBV_QPT_RC, NULL));
	must(!is_shared(page));
	must_eq(page[512], 0);
	must_eq(ibv_destroy_qp(qp), 0);
	must(!memcmp(page, before, sizeof(before)));
	must_eq(ibv_dealloc_pd(with_allocator.pd), 0);
}
