/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The messages and the RDMA of a client. Refers to no function of libibverbs, since one of the
 * programs is not linked with it.
 */

#include "client.h"

struct hca hca = {
	.domain_fd = -1,
	.path_port = 1,
	.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
};
struct data_memory data_memory;
struct pool pools[DATA_QUEUES];

/* data_memory has the same address in all processes, which are forks of one. */
static uint32_t rkeys[JOB_RANKS_MAX];
static const struct data *data;
static unsigned sent[DATA_QUEUES][JOB_RANKS_MAX], received[DATA_QUEUES][JOB_RANKS_MAX];
/* A buffer is busy from its post to its completion. The wr_id of a send is its slot. */
static char busy[SENDS];
static unsigned in_flight;

void data_start(const struct data *how)
{
	int i;

	data = how;
	for (i = 0; i < job.size; i++)
		job_fill(data_memory.get_from[i], DATA_RDMA_SIZE, i, 0);
	job_gather(&hca.mr->rkey, sizeof(rkeys[0]), rkeys);
}

/* ---- Receive buffers ---- */

static void post_recv(struct ibv_srq *srq, size_t queue, unsigned slot)
{
	struct ibv_sge sge = { (uintptr_t)data_memory.receive[queue][slot], data->size,
			       hca.mr->lkey };
	struct ibv_recv_wr wr, *bad;

	memset(&wr, hca.filler, sizeof(wr));
	wr.wr_id = queue << 16 | slot;
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	must_be_0(ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
}

void pool_post(struct pool *pool)
{
	for (; pool->posted < pool->wanted && pool->free_count; pool->posted++)
		post_recv(pool->srq, (size_t)(pool - pools), pool->free[--pool->free_count]);
}

void pool_start(struct pool *pool, struct ibv_srq *srq, unsigned size, unsigned wanted,
		unsigned low)
{
	pthread_mutex_init(&pool->lock, NULL);
	pool->srq = srq;
	pool->wanted = wanted;
	pool->low = low;
	for (; pool->free_count < size; pool->free_count++)
		pool->free[pool->free_count] = pool->free_count;
	pool_post(pool);
}

static void take_buffer(struct pool *pool, unsigned slot)
{
	pthread_mutex_lock(&pool->lock);
	pool->free[pool->free_count++] = slot;
	pool->posted--;
	if (pool->posted <= pool->low)
		pool_post(pool);
	pthread_mutex_unlock(&pool->lock);
}

struct pool *pool_at_limit(const struct ibv_srq *srq)
{
	int i;

	for (i = 0; i < DATA_QUEUES; i++)
		if (pools[i].srq == srq) {
			__atomic_fetch_add(&pools[i].limit_events, 1, __ATOMIC_RELEASE);
			return &pools[i];
		}
	job_die("limit of an unknown SRQ");
}

void pool_await_limits(void)
{
	unsigned i;

	for (i = 0; i < data->queues; i++)
		while (!__atomic_load_n(&pools[i].limit_events, __ATOMIC_ACQUIRE))
			job_idle();
}

/* Messages of different queues have different numbers. */
static uint32_t number(unsigned queue, unsigned count)
{
	return count * DATA_QUEUES + queue;
}

/* ---- Sending ---- */

static unsigned free_slot(void)
{
	unsigned slot;

	while (in_flight == SENDS)
		data->progress();
	for (slot = 0; busy[slot]; slot++)
		;
	return slot;
}

static struct ibv_send_wr request(struct ibv_sge *sge, unsigned slot, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr;

	memset(&wr, hca.filler, sizeof(wr));
	wr.wr_id = slot;
	wr.next = NULL;
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	return wr;
}

static void post(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	struct ibv_qp *qp = data->prepare(rank, queue, wr);
	struct ibv_send_wr *bad;

	must_be_0(ibv_post_send(qp, wr, &bad), "ibv_post_send");
	busy[wr->wr_id] = 1;
	in_flight++;
}

void data_send(int rank, unsigned queue)
{
	unsigned slot = free_slot(), count = sent[queue][rank]++;
	struct ibv_sge sge = { (uintptr_t)data_memory.send[slot],
			       count % 3 ? data->size : data->short_size, hca.mr->lkey };
	struct ibv_send_wr wr = request(&sge, slot, IBV_WR_SEND);

	wr.imm_data = number(queue, count);
	job_fill(data_memory.send[slot], sge.length, rank, number(queue, count));
	post(rank, queue, &wr);
}

static void rdma(int rank, enum ibv_wr_opcode opcode, char *local, char *remote)
{
	struct ibv_sge sge = { (uintptr_t)local, DATA_RDMA_SIZE, hca.mr->lkey };
	struct ibv_send_wr wr = request(&sge, free_slot(), opcode);

	wr.wr.rdma.remote_addr = (uintptr_t)remote;
	wr.wr.rdma.rkey = rkeys[rank];
	post(rank, 0, &wr);
}

static void put_and_get(int rank)
{
	char *from = data_memory.put_from[rank];

	job_fill(from, DATA_RDMA_SIZE, rank, data->messages);
	rdma(rank, IBV_WR_RDMA_WRITE, from, data_memory.put_to[job.rank]);
	rdma(rank, IBV_WR_RDMA_READ, data_memory.get_to[rank], data_memory.get_from[job.rank]);
}

/* ---- Receiving ---- */

static void verify_rdma(int from, const void *written)
{
	uint32_t sequence;

	if (job_verify(written, DATA_RDMA_SIZE, &sequence) != from)
		job_die("the target of an RDMA operation lacks the data of rank %d", from);
}

/* Returns the sender. Its last message follows its RDMA write. */
static int verify(unsigned queue, unsigned slot, uint32_t length)
{
	uint32_t sequence;
	int from = job_verify(data_memory.receive[queue][slot], length, &sequence);

	if (sequence != number(queue, received[queue][from]))
		job_die("message %u from rank %d came on queue %u, where %u was expected", sequence,
			from, queue, number(queue, received[queue][from]));
	if (++received[queue][from] == data->messages && !queue)
		verify_rdma(from, data_memory.put_to[from]);
	return from;
}

void data_complete(const struct ibv_wc *wc)
{
	unsigned queue = (unsigned)(wc->wr_id >> 16), slot = (unsigned)(wc->wr_id & 0xffff);
	int from;

	if (!(wc->opcode & IBV_WC_RECV)) {
		busy[wc->wr_id] = 0;
		in_flight--;
		return;
	}
	from = verify(queue, slot, wc->byte_len);
	take_buffer(&pools[queue], slot);
	if (data->take_message)
		data->take_message(from, queue, wc);
}

unsigned data_received(unsigned queue, int rank)
{
	return received[queue][rank];
}

static int heard_all(unsigned queue)
{
	int turn;

	for (turn = 0; turn < job.local_size; turn++)
		if (received[queue][job_peer(turn)] < data->messages)
			return 0;
	return 1;
}

void data_await(unsigned queue)
{
	while (!heard_all(queue))
		(data->wait ? data->wait : data->progress)();
	while (in_flight)
		data->progress();
}

/* ---- Both ---- */

static void send_to(int rank, int is_last)
{
	unsigned queue;

	if (data->ready)
		data->ready(rank);
	if (is_last)
		put_and_get(rank);
	for (queue = 0; queue < data->queues; queue++)
		data_send(rank, queue);
}

void data_exchange(void)
{
	unsigned i, queue;
	int turn;

	for (i = 0; i < data->messages; i++)
		for (turn = 0; turn < job.local_size; turn++)
			send_to(job_peer(turn), i == data->messages - 1);
	for (queue = 0; queue < data->queues; queue++)
		data_await(queue);
	for (turn = 0; turn < job.local_size; turn++)
		verify_rdma(job_peer(turn), data_memory.get_to[job_peer(turn)]);
}
