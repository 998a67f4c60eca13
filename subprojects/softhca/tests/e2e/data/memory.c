/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages between all kinds of memory, and after all kinds of changes to a program's memory. MPI
 * libraries with a registration cache have memory functions of their own in the executable, which
 * no preloaded library sees: own_calls.c is linked in for them.
 */
#include <e2e/pair.h>

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 16384u
#define FIRST	  0x1122334455667788ull

/* ---- messages whose bytes are compared ---- */

static void must_arrive(const struct pair *pair, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = pair_wr(pair, opcode, 0, 0, LENGTH);
	const struct host *from = opcode == IBV_WR_RDMA_READ ? pair->b : pair->a;
	const struct host *to = opcode == IBV_WR_RDMA_READ ? pair->a : pair->b;

	pair_pattern(from->buffer, LENGTH, (unsigned int)opcode);
	memset(to->buffer, 0, LENGTH);
	if (opcode == IBV_WR_SEND)
		must_eq(pair_post_recv(pair, 0, LENGTH, 1), 0);
	rig_must_send(pair->qa, &wr, IBV_WC_SUCCESS);
	if (opcode == IBV_WR_SEND)
		rig_must_complete(pair->b->cq, 1, IBV_WC_SUCCESS);
	must(!memcmp(from->buffer, to->buffer, LENGTH));
}

static uint64_t atomic(const struct pair *pair, enum ibv_wr_opcode opcode, uint64_t add,
		       uint64_t swap)
{
	struct ibv_send_wr wr = pair_wr(pair, opcode, 0, 64, sizeof(uint64_t));
	uint64_t old;

	wr.wr.atomic.compare_add = add;
	wr.wr.atomic.swap = swap;
	rig_must_send(pair->qa, &wr, IBV_WC_SUCCESS);
	memcpy(&old, pair->a->buffer, sizeof(old));
	return old;
}

static uint64_t target(const struct pair *pair)
{
	uint64_t value;

	memcpy(&value, pair->b->buffer + 64, sizeof(value));
	return value;
}

static void atomics_must_hold(const struct pair *pair)
{
	const uint64_t first = FIRST;

	memcpy(pair->b->buffer + 64, &first, sizeof(first));
	must_eq(atomic(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0), FIRST);
	must_eq(target(pair), FIRST + 5);
	must_eq(atomic(pair, IBV_WR_ATOMIC_CMP_AND_SWP, FIRST, 7), FIRST + 5);
	must_eq(target(pair), FIRST + 5);
	must_eq(atomic(pair, IBV_WR_ATOMIC_CMP_AND_SWP, FIRST + 5, 7), FIRST + 5);
	must_eq(target(pair), 7);
}

static void must_carry(const struct pair *pair)
{
	must_arrive(pair, IBV_WR_SEND);
	must_arrive(pair, IBV_WR_RDMA_WRITE);
	must_arrive(pair, IBV_WR_RDMA_READ);
	atomics_must_hold(pair);
}

/* Both hosts have their buffer in the 2 * LENGTH bytes at @at, on a new connection. */
static struct pair memory_must_carry(uint8_t *at)
{
	struct pair pair = pair_up(IBV_QPT_RC);

	rig_use(pair.a, at, LENGTH);
	rig_use(pair.b, at + LENGTH, LENGTH);
	must_carry(&pair);
	return pair;
}

/* ---- the addresses of rings that are gone ---- */

/* A mapping of the right size shows where the kernel puts a ring next. */
static uint8_t *map_where_next(size_t length)
{
	uint8_t *at = rig_map(length);

	must(!munmap(at, length));
	return at;
}

static void *work_on_stack(void *arg)
{
	struct host *host = arg;
	uint8_t buffers[2 * LENGTH];
	struct ibv_port_attr port;

	memset(&port, 0xee, sizeof(port));
	must_eq(ibv_query_port(host->ctx, 1, &port), 0);
	must_eq(port.lid, host->lid);
	memory_must_carry(buffers);
	return NULL;
}

ROW("the stack of a thread takes the place of freed rings")
{
	struct host *host = rig_host(0);
	pthread_t thread;

	rig_free_rings(host);
	must_eq(pthread_create(&thread, NULL, work_on_stack, host), 0);
	must_eq(pthread_join(thread, NULL), 0);
}

ROW("new memory takes the place of freed rings")
{
	rig_free_rings(rig_host(0));
	for (int i = 0; i < 4; i++)
		memory_must_carry(rig_map(2 * LENGTH));
}

ROW("memory of malloc takes the place of freed rings")
{
	rig_free_rings(rig_host(0));
	for (size_t size = 2 * LENGTH; size <= (8u << 20); size *= 4)
		memory_must_carry(MADE(malloc(size)));
}

ROW("new rings take the place of freed rings")
{
	struct host *host = rig_host(0);

	for (int i = 0; i < 3; i++) {
		rig_free_rings(host);
		memory_must_carry(rig_map(2 * LENGTH));
	}
}

/* libmlx5 takes its records from malloc, and its rings too if these variables say so. */
ROW("rings and records of malloc take the place of freed rings")
{
	rig_free_rings(rig_host(0));
	must(mallopt(M_MMAP_THRESHOLD, 4096));
	setenv("MLX_QP_ALLOC_TYPE", "ANON", 1);
	setenv("MLX_CQ_ALLOC_TYPE", "ANON", 1);
	for (int i = 0; i < 4; i++)
		memory_must_carry(rig_map(2 * LENGTH));
}

/* @place puts 2 * LENGTH bytes at an address that a ring had before. */
static void memory_at_a_ring_must_carry(void (*place)(uint8_t *at))
{
	struct host *host = rig_host(0);
	uint8_t *at = map_where_next(2u << 20);

	rig_free_rings(host);
	place(at);
	memory_must_carry(at);
}

static void place_fixed(uint8_t *at)
{
	must(mmap(at, 2 * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0) == at);
}

static void place_moved(uint8_t *at)
{
	uint8_t *from = rig_map(2 * LENGTH);

	must(mremap(from, 2 * LENGTH, 2 * LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
}

static uint8_t *attach(uint8_t *at, int flags)
{
	int id = shmget(IPC_PRIVATE, 2 * LENGTH, 0600);
	void *memory = shmat(id, at, flags);

	must(id >= 0 && !shmctl(id, IPC_RMID, NULL));
	must(memory != (void *)-1);
	return memory;
}

static void place_attached(uint8_t *at)
{
	must(attach(at, SHM_REMAP) == at);
}

ROW("MAP_FIXED at the address of a freed ring")
{
	memory_at_a_ring_must_carry(place_fixed);
}

ROW("MREMAP_FIXED at the address of a freed ring")
{
	memory_at_a_ring_must_carry(place_moved);
}

ROW("SHM_REMAP at the address of a freed ring")
{
	memory_at_a_ring_must_carry(place_attached);
}

/* ---- kinds of memory ---- */

ROW("System V shared memory")
{
	memory_must_carry(attach(NULL, 0));
}

static uint8_t *map_file(int flags)
{
	int fd = xrc_file();
	void *memory;

	must(!ftruncate(fd, 2 * LENGTH));
	memory = mmap(NULL, 2 * LENGTH, PROT_READ | PROT_WRITE, flags, fd, 0);
	must(memory != MAP_FAILED);
	close(fd);
	return memory;
}

ROW("a shared mapping of a file")
{
	memory_must_carry(map_file(MAP_SHARED));
}

ROW("a private mapping of a file")
{
	memory_must_carry(map_file(MAP_PRIVATE));
}

ROW("memory of brk")
{
	uint8_t *at;

	rig_free_rings(rig_host(0));
	at = sbrk(4 * LENGTH);
	must(at != (void *)-1);
	memory_must_carry(at);
}

/* ---- changes to registered memory ---- */

ROW("MAP_FIXED over a part of a buffer")
{
	uint8_t *at = rig_map(2 * LENGTH);
	struct pair pair = memory_must_carry(at);

	must(mmap(at + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0) == at + 4096);
	rig_use(pair.a, at, LENGTH);
	must_carry(&pair);
}

ROW("mremap of a buffer")
{
	uint8_t *at = rig_map(2 * LENGTH), *moved;
	struct pair pair = memory_must_carry(at);

	moved = mremap(at, LENGTH, 64 * LENGTH, MREMAP_MAYMOVE);
	must(moved != MAP_FAILED);
	rig_use(pair.a, moved, LENGTH);
	must_carry(&pair);
}

ROW("MADV_DONTNEED of a buffer")
{
	uint8_t *at = rig_map(2 * LENGTH);
	struct pair pair = memory_must_carry(at);

	must(!madvise(at, 2 * LENGTH, MADV_DONTNEED));
	must_carry(&pair);
}

/* ---- locked memory ---- */

static long locked_kilobytes(void)
{
	FILE *status = MADE(fopen("/proc/self/status", "r"));
	long kilobytes = -1;
	char line[256];

	while (fgets(line, sizeof(line), status) && sscanf(line, "VmLck: %ld", &kilobytes) != 1)
		continue;
	fclose(status);
	return kilobytes;
}

/* The memory that the rings share with the daemon is far larger than what they use. */
ROW("mlockall locks only what rings use of the shared memory")
{
	struct pair pair;

	/* A user may not be allowed to lock any memory. */
	if (mlockall(MCL_FUTURE))
		row_skip("mlockall is not allowed");
	pair = pair_up(IBV_QPT_RC);
	must_carry(&pair);
	must(locked_kilobytes() < 32 << 10);
	munlockall();
}

/* ---- forks ---- */

/* The child writes into its copies of everything, and lives while the parent sends. */
static void carry_beside_child(void)
{
	uint8_t *at = rig_map(2 * LENGTH);
	struct pair pair = memory_must_carry(at);
	int hold[2];
	pid_t child;
	char byte;

	must(!pipe(hold));
	child = fork();
	if (!child) {
		/* ibv_fork_init() keeps registered pages from children. */
		if (!getenv("RDMAV_FORK_SAFE"))
			memset(at, 0xcc, 2 * LENGTH);
		close(hold[1]);
		_exit(read(hold[0], &byte, 1) ? 1 : 0);
	}
	must(child > 0);
	must_carry(&pair);
	close(hold[1]);
	must_end(child, 0);
	must_carry(&pair);
}

ROW("a child writes into its copy of the buffers")
{
	carry_beside_child();
}

ROW("a child is forked after ibv_fork_init")
{
	must(!setenv("RDMAV_FORK_SAFE", "1", 1));
	must(!ibv_fork_init());
	carry_beside_child();
}

/* Blocks share pages of the heap with anything. The child lacks these pages when it executes. */
ROW("a child executes a program after ibv_fork_init")
{
	struct host *host;
	pid_t child;

	must(!ibv_fork_init());
	host = rig_host(0);
	for (size_t i = 0; i < 200; i++) {
		MADE(ibv_reg_mr(host->pd, MADE(malloc(64 + i % 7 * 100)), 60,
				IBV_ACCESS_LOCAL_WRITE));
		MADE(malloc(10 + i % 50));
	}
	child = fork();
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(errno);
	}
	must_end(child, 0);
}

/* A program's buffer may share a page of the heap with anything. */
ROW("a child is forked that lacks the heap")
{
	struct rig_mapping heap;
	struct ibv_mr *mr;
	struct pair pair;
	pid_t child;

	must(!ibv_fork_init());
	pair = pair_up(IBV_QPT_RC);
	if (!rig_find_mapping("[heap]", 0, &heap))
		row_skip("the allocator has no heap");
	mr = MADE(ibv_reg_mr(pair.a->pd, (void *)heap.begin, heap.end - heap.begin,
			     IBV_ACCESS_LOCAL_WRITE));
	child = fork();
	if (!child)
		_exit(0);
	must_end(child, 0);
	must_eq(ibv_dereg_mr(mr), 0);
}
