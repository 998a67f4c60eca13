/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Alternate paths on devices with two ports: loading them, arming them, migrating, and the events.
 */
#include <tests/rc_masks.h>
#include <tests/e2e/emulated.h>
#include <softhca/tests/e2e/xrc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH 5000u

/* Two hosts whose first ports are connected. Their second ports are the alternate path. */
struct pair {
	struct host *host[2];
	struct ibv_qp *qp[2];
	uint16_t second[2]; /* LIDs of the second ports */
};

/* Runs softhca ctl VERB DEVICE WORDS. */
static void control(const char *verb, int device, const char *words)
{
	char command[512];

	snprintf(command, sizeof(command), "LD_PRELOAD= %s ctl %s %s %s",
		 getenv("SOFTHCA_TEST_COMMAND"), verb, emulated_name(device).text, words);
	rig_need(!system(command), command);
}

static uint16_t second_lid(const struct host *host)
{
	struct ibv_port_attr port;

	NEED(!ibv_query_port(host->ctx, 2, &port));
	return port.lid;
}

static struct pair connect_pair(enum ibv_qp_type type)
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;

	link.timeout = 8;
	for (int i = 0; i < 2; i++) {
		pair.host[i] = rig_host(i);
		pair.qp[i] = rig_qp(pair.host[i], type, NULL);
		pair.second[i] = second_lid(pair.host[i]);
	}
	rig_connect(pair.host[0], pair.qp[0], pair.host[1], pair.qp[1], link);
	return pair;
}

/* Ends both hosts, and brings both ports of device 0 up again. False if a QP stays. */
static bool disconnect(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		CHECK(!ibv_destroy_qp(pair->qp[i]));
		rig_free_host(pair->host[i]);
	}
	for (int port = 1; port <= 2; port++) {
		char words[32];

		snprintf(words, sizeof(words), "%d up", port);
		control("port", 0, words);
	}
	return true;
}

static int set_state(struct ibv_qp *qp, enum ibv_mig_state state)
{
	struct ibv_qp_attr attr = { .path_mig_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_PATH_MIG_STATE);
}

static int load(struct ibv_qp *qp, uint16_t dlid, uint8_t port)
{
	struct ibv_qp_attr attr = {
		.alt_ah_attr = { .dlid = dlid, .port_num = port }, .alt_port_num = port,
		.alt_timeout = 9,
		.path_mig_state = IBV_MIG_REARM,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

/* The migration state of the QP, and the port that it uses now. */
static bool path_is(struct ibv_qp *qp, enum ibv_mig_state state, uint8_t port)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	NEED(!ibv_query_qp(qp, &attr, IBV_QP_PATH_MIG_STATE | IBV_QP_PORT, &init));
	return attr.path_mig_state == state && attr.port_num == port &&
	       attr.ah_attr.port_num == port && attr.timeout == (port == 1 ? 8 : 9);
}

static uint8_t port_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	NEED(!ibv_query_qp(qp, &attr, IBV_QP_PORT, &init));
	return attr.port_num;
}

/* Sends one message in each direction. */
static bool exchange(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct host *from = pair->host[i], *to = pair->host[1 - i];
		struct ibv_send_wr wr;
		struct ibv_sge sge;
		struct ibv_wc wc;

		memset(from->buffer, 0x30 + i, LENGTH);
		memset(to->buffer + LENGTH, 0, LENGTH);
		CHECK(!rig_post_recv(to, pair->qp[1 - i], LENGTH, LENGTH, 1));
		wr = rig_wr(from, &sge, IBV_WR_SEND, 0, LENGTH);
		CHECK(rig_send(pair->qp[i], &wr, IBV_WC_SUCCESS));
		CHECK(rig_poll_success(to->cq, &wc) && wc.byte_len == LENGTH);
		CHECK(!memcmp(from->buffer, to->buffer + LENGTH, LENGTH));
	}
	return true;
}

/* The next event that is neither of a port nor COMM_EST. */
static bool event_is(struct host *host, enum ibv_event_type type)
{
	struct ibv_async_event event;
	bool skip;

	do {
		if (!rig_async(host->ctx, &event))
			return false;
		skip = event.event_type == IBV_EVENT_COMM_EST ||
		       event.event_type == IBV_EVENT_PORT_ERR ||
		       event.event_type == IBV_EVENT_PORT_ACTIVE;
		ibv_ack_async_event(&event);
	} while (skip);
	return event.event_type == type;
}

static bool arm(struct pair *pair)
{
	for (int i = 0; i < 2; i++)
		CHECK(!load(pair->qp[i], pair->second[1 - i], 2) &&
		      path_is(pair->qp[i], IBV_MIG_REARM, 1));
	/* Each end has to know that the other is armed. */
	CHECK(exchange(pair));
	CHECK(path_is(pair->qp[0], IBV_MIG_ARMED, 1) && path_is(pair->qp[1], IBV_MIG_ARMED, 1));
	return true;
}

/* One end has migrated. The other end migrates with the first packet that it gets. */
static bool both_migrate(struct pair *pair, int first)
{
	CHECK(event_is(pair->host[first], IBV_EVENT_PATH_MIG));
	CHECK(path_is(pair->qp[first], IBV_MIG_MIGRATED, 2));
	CHECK(exchange(pair));
	CHECK(event_is(pair->host[1 - first], IBV_EVENT_PATH_MIG));
	CHECK(path_is(pair->qp[1 - first], IBV_MIG_MIGRATED, 2));
	return exchange(pair);
}

CASE(a_qp_migrates_when_its_port_goes_down)
{
	struct pair pair = connect_pair(IBV_QPT_RC);

	CHECK(arm(&pair));
	control("port", 0, "1 down");
	CHECK(both_migrate(&pair, 0));
	return disconnect(&pair);
}

/* How many packets of device 0 the injected fault has dropped. */
static int dropped(void)
{
	char command[512], line[512];
	int hits = -1;
	FILE *told;

	snprintf(command, sizeof(command), "LD_PRELOAD= %s ctl fault",
		 getenv("SOFTHCA_TEST_COMMAND"));
	told = MADE(popen(command, "r"));
	while (hits < 0 && fgets(line, sizeof(line), told)) {
		const char *at = strstr(line, "drop=100% hits=");

		if (at)
			hits = atoi(strstr(at, "hits=") + 5);
	}
	pclose(told);
	return hits;
}

/* On the second path a request has as many attempts as it had on the first. */
CASE(each_path_has_all_attempts)
{
	struct pair pair = connect_pair(IBV_QPT_RC);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.host[0], &sge, IBV_WR_SEND, 0, LENGTH);

	CHECK(arm(&pair));
	control("fault", 0, "drop 100%");
	CHECK(rig_send(pair.qp[0], &wr, IBV_WC_RETRY_EXC_ERR));
	/* retry_cnt is 3. */
	CHECK(path_is(pair.qp[0], IBV_MIG_MIGRATED, 2) && dropped() == 2 * (1 + 3));
	control("fault", 0, "off");
	return disconnect(&pair);
}

CASE(softhca_ctl_migrates_a_qp)
{
	struct pair pair = connect_pair(IBV_QPT_RC);
	char words[64];

	CHECK(arm(&pair));
	snprintf(words, sizeof(words), "%u", pair.qp[1]->qp_num);
	control("migrate", 1, words);
	CHECK(event_is(pair.host[1], IBV_EVENT_PATH_MIG) &&
	      path_is(pair.qp[1], IBV_MIG_MIGRATED, 2));
	/* The other end sends first, on the old path. It migrates, too. */
	CHECK(exchange(&pair));
	CHECK(event_is(pair.host[0], IBV_EVENT_PATH_MIG) &&
	      path_is(pair.qp[0], IBV_MIG_MIGRATED, 2));
	return disconnect(&pair);
}

CASE(a_program_migrates_a_qp_and_back)
{
	struct pair pair = connect_pair(IBV_QPT_RC);

	CHECK(arm(&pair));
	CHECK(!set_state(pair.qp[0], IBV_MIG_MIGRATED));
	CHECK(both_migrate(&pair, 0));
	/* Migrates back, with the first ports as the alternate path. */
	CHECK(!load(pair.qp[0], pair.host[1]->lid, 1) && !load(pair.qp[1], pair.host[0]->lid, 1));
	CHECK(exchange(&pair) && path_is(pair.qp[0], IBV_MIG_ARMED, 2));
	CHECK(!set_state(pair.qp[1], IBV_MIG_MIGRATED));
	CHECK(event_is(pair.host[1], IBV_EVENT_PATH_MIG) && exchange(&pair) &&
	      event_is(pair.host[0], IBV_EVENT_PATH_MIG));
	return disconnect(&pair);
}

/* A request is under way when its path fails. It arrives by the other path. */
CASE(a_request_under_way_arrives_by_the_other_path)
{
	struct pair pair = connect_pair(IBV_QPT_RC);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;

	CHECK(arm(&pair));
	wr = rig_wr(pair.host[0], &sge, IBV_WR_SEND, 0, LENGTH);
	CHECK(!rig_post(pair.qp[0], &wr));
	CHECK(rig_quiet(pair.host[0]->cq, 20)); /* no buffer yet */
	control("port", 0, "1 down");
	CHECK(!rig_post_recv(pair.host[1], pair.qp[1], LENGTH, LENGTH, 1));
	CHECK(rig_poll_success(pair.host[0]->cq, &wc));
	CHECK(rig_poll_success(pair.host[1]->cq, &wc));
	CHECK(event_is(pair.host[0], IBV_EVENT_PATH_MIG) &&
	      event_is(pair.host[1], IBV_EVENT_PATH_MIG));
	return disconnect(&pair);
}

CASE(an_unreliable_connection_migrates)
{
	struct pair pair = connect_pair(IBV_QPT_UC);

	for (int i = 0; i < 2; i++)
		CHECK(!load(pair.qp[i], pair.second[1 - i], 2));
	CHECK(exchange(&pair));
	control("port", 0, "1 down");
	CHECK(event_is(pair.host[0], IBV_EVENT_PATH_MIG) && exchange(&pair) &&
	      event_is(pair.host[1], IBV_EVENT_PATH_MIG));
	return disconnect(&pair);
}

/*
 * Returns how many PATH_MIG_ERR events this context got. `softhca ctl` has returned, so all of them
 * can be read.
 */
static int migration_errors(struct host *host)
{
	struct ibv_async_event event;
	int count = 0;

	while (rig_readable(host->ctx->async_fd, 0)) {
		NEED(rig_async(host->ctx, &event));
		count += event.event_type == IBV_EVENT_PATH_MIG_ERR;
		ibv_ack_async_event(&event);
	}
	return count;
}

static bool arm_target(struct xrc_stage *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .timeout = 8 };

	NEED(!ibv_modify_qp(s->target, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN));
	CHECK(!load(s->send, second_lid(s->one), 2) && !load(s->target, second_lid(s->sender), 2));
	CHECK(xrc_send(s, s->srq1, s->one, IBV_WC_SUCCESS) && path_is(s->target, IBV_MIG_ARMED, 1));
	return true;
}

/* An XRC target never sends. It migrates with the first packet of its sender's new path. */
CASE(an_xrc_target_follows_its_sender)
{
	struct xrc_stage s = xrc_stage();

	CHECK(arm_target(&s));
	control("port", 0, "1 down");
	CHECK(xrc_send(&s, s.srq1, s.one, IBV_WC_SUCCESS) && port_of(s.target) == 2);
	CHECK(event_is(s.sender, IBV_EVENT_PATH_MIG) && event_is(s.one, IBV_EVENT_PATH_MIG) &&
	      event_is(s.two, IBV_EVENT_PATH_MIG));
	control("port", 0, "1 up");
	return true;
}

/*
 * A target that cannot migrate raises one event for each of its handles, whichever context has the
 * first handle.
 */
CASE(each_handle_gets_one_event)
{
	struct xrc_stage s = xrc_stage();

	MADE(xrc_open(s.two, s.xrcd2, s.target->qp_num));
	CHECK(arm_target(&s));
	control("port", 1, "2 down");
	control("port", 1, "1 down");
	CHECK(migration_errors(s.one) == 1 && migration_errors(s.two) == 2);
	/*
	 * The new handle is the last in the target's list, but its context was opened before the
	 * others'.
	 */
	MADE(xrc_open(s.one, s.xrcd1, s.target->qp_num));
	NEED(!ibv_destroy_qp(s.target));
	control("port", 1, "1 up");
	control("port", 1, "1 down");
	CHECK(migration_errors(s.one) == 1 && migration_errors(s.two) == 2);
	control("port", 1, "1 up");
	control("port", 1, "2 up");
	return true;
}

/*
 * A connection does not migrate if it is not armed, or if its other port is down. Its retries run
 * out.
 */
CASE(a_connection_that_is_not_armed_stays)
{
	struct pair pair = connect_pair(IBV_QPT_RC);
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	CHECK(arm(&pair));
	control("port", 0, "2 down");
	control("port", 0, "1 down");
	CHECK(event_is(pair.host[0], IBV_EVENT_PATH_MIG_ERR) &&
	      path_is(pair.qp[0], IBV_MIG_ARMED, 1));
	wr = rig_wr(pair.host[0], &sge, IBV_WR_SEND, 0, LENGTH);
	CHECK(rig_send(pair.qp[0], &wr, IBV_WC_RETRY_EXC_ERR));
	CHECK(event_is(pair.host[0], IBV_EVENT_PATH_MIG_ERR));
	CHECK(disconnect(&pair));
	pair = connect_pair(IBV_QPT_RC);
	CHECK(!load(pair.qp[0], pair.second[1], 2) && exchange(&pair) &&
	      path_is(pair.qp[0], IBV_MIG_REARM, 1));
	control("port", 0, "1 down");
	CHECK(path_is(pair.qp[0], IBV_MIG_REARM, 1));
	return disconnect(&pair);
}

CASE(an_alternate_path_with_a_wrong_port_is_refused)
{
	struct pair pair = connect_pair(IBV_QPT_RC);
	struct ibv_qp_attr attr = { .alt_ah_attr = { .dlid = 1, .port_num = 1 },
				    .alt_port_num = 2 };

	CHECK(load(pair.qp[0], pair.second[1], 3) == EINVAL &&
	      load(pair.qp[0], pair.second[1], 0) == EINVAL);
	CHECK(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_ALT_PATH) == EINVAL);
	attr.alt_ah_attr.port_num = 2;
	CHECK(!ibv_modify_qp(pair.qp[0], &attr, IBV_QP_ALT_PATH));
	return disconnect(&pair);
}

static bool moves_while_drained(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .ah_attr = { .dlid = 1, .port_num = 1 }, .port_num = 2 };

	CHECK(!rig_to_state(qp, IBV_QPS_SQD));
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_PORT | IBV_QP_AV) == EINVAL);
	attr.ah_attr.port_num = 2;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_AV) && port_of(qp) == 2);
	attr.ah_attr.port_num = attr.port_num = 1;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_PORT | IBV_QP_AV) && port_of(qp) == 1);
	return true;
}

/* A program names the port of its primary path twice. uverbs refuses two different ones. */
CASE(a_primary_path_with_two_ports_is_refused)
{
	struct pair pair = connect_pair(IBV_QPT_RC);
	struct rig_link link = rig_link_to(pair.qp[1]->qp_num, pair.host[1]->lid);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = 1,
		.ah_attr = { .dlid = 1 },
	};
	struct ibv_qp *qp = rig_qp(pair.host[0], IBV_QPT_RC, NULL);

	NEED(!rig_init(qp, &link));
	CHECK(ibv_modify_qp(qp, &attr, MASK_RTR) == EINVAL);
	attr.ah_attr.port_num = 2;
	CHECK(ibv_modify_qp(qp, &attr, MASK_RTR) == EINVAL);
	attr.ah_attr.port_num = 1;
	CHECK(!ibv_modify_qp(qp, &attr, MASK_RTR));
	NEED(!ibv_destroy_qp(qp));
	CHECK(emulated_drains() ? moves_while_drained(pair.qp[0])
				: rig_to_state(pair.qp[0], IBV_QPS_SQD) == EINVAL);
	return disconnect(&pair);
}

int main(int argc, char **argv)
{
	NEED(getenv("SOFTHCA_TEST_COMMAND"));
	return rig_run(argc, argv);
}
