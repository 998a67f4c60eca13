/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Alternate paths on devices with two ports: loading them, arming them, migrating, and the events.
 * The second ports are the alternate path.
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH	    5000u
#define ALT_TIMEOUT 9

static uint16_t second_lid(const struct host *host)
{
	struct ibv_port_attr port;

	must_eq(ibv_query_port(host->ctx, 2, &port), 0);
	return port.lid;
}

/* Ends both hosts, and brings both ports of device 0 up again. */
static void disconnect(struct pair *pair)
{
	pair_tear_down(pair);
	pair_control("port", 0, "1 up");
	pair_control("port", 0, "2 up");
}

static int load(struct ibv_qp *qp, uint16_t dlid, uint8_t port)
{
	struct ibv_qp_attr attr = {
		.alt_ah_attr = { .dlid = dlid, .port_num = port }, .alt_port_num = port,
		.alt_timeout = ALT_TIMEOUT,
		.path_mig_state = IBV_MIG_REARM,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

static void load_both(struct pair *pair)
{
	must_eq(load(pair->qa, second_lid(pair->b), 2), 0);
	must_eq(load(pair->qb, second_lid(pair->a), 2), 0);
}

/* The migration state of the QP, and the port that it uses now. */
static void must_be_on_path(struct ibv_qp *qp, enum ibv_mig_state state, uint8_t port)
{
	struct ibv_qp_attr attr = rig_attr(qp);

	must_eq(attr.path_mig_state, state);
	must_eq(attr.port_num, port);
	must_eq(attr.ah_attr.port_num, port);
	must_eq(attr.timeout, port == 1 ? 8 : 9);
}

/* Sends one message in each direction. */
static void must_exchange(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct host *from = pair->host[i], *to = pair->host[1 - i];
		struct ibv_send_wr wr = rig_wr(from, IBV_WR_SEND, 0, LENGTH);
		struct ibv_wc wc;

		memset(from->buffer, 0x30 + i, LENGTH);
		memset(to->buffer + LENGTH, 0, LENGTH);
		must_eq(rig_post_recv(to, pair->qp[1 - i], LENGTH, LENGTH, 1), 0);
		rig_must_send(pair->qp[i], &wr, IBV_WC_SUCCESS);
		wc = rig_must_succeed(to->cq);
		must_eq(wc.byte_len, LENGTH);
		must(!memcmp(from->buffer, to->buffer + LENGTH, LENGTH));
	}
}

/* The next event that is neither of a port nor COMM_EST. */
static void must_hear(struct host *host, enum ibv_event_type type)
{
	struct ibv_async_event event;

	do {
		event = rig_must_get_event(host->ctx);
		ibv_ack_async_event(&event);
	} while (event.event_type == IBV_EVENT_COMM_EST ||
		 event.event_type == IBV_EVENT_PORT_ERR ||
		 event.event_type == IBV_EVENT_PORT_ACTIVE);
	must_eq(event.event_type, type);
}

static struct pair connected(enum ibv_qp_type type)
{
	struct rig_link link = rig_link_to(0, 0);

	link.timeout = 8;
	return pair_by(type, link, link);
}

/* A pair that is armed. Each end has to know that the other is, too. */
static struct pair armed(void)
{
	struct pair pair = connected(IBV_QPT_RC);

	load_both(&pair);
	must_be_on_path(pair.qa, IBV_MIG_REARM, 1);
	must_be_on_path(pair.qb, IBV_MIG_REARM, 1);
	must_exchange(&pair);
	must_be_on_path(pair.qa, IBV_MIG_ARMED, 1);
	must_be_on_path(pair.qb, IBV_MIG_ARMED, 1);
	must_eq(rig_attr(pair.qa).alt_timeout, ALT_TIMEOUT);
	return pair;
}

/* One end has migrated. The other end migrates with the first packet that it gets. */
static void must_both_migrate(struct pair *pair, int first)
{
	must_hear(pair->host[first], IBV_EVENT_PATH_MIG);
	must_be_on_path(pair->qp[first], IBV_MIG_MIGRATED, 2);
	must_exchange(pair);
	must_hear(pair->host[1 - first], IBV_EVENT_PATH_MIG);
	must_be_on_path(pair->qp[1 - first], IBV_MIG_MIGRATED, 2);
	must_exchange(pair);
}

ROW("a QP migrates when its port goes down")
{
	struct pair pair = armed();

	pair_control("port", 0, "1 down");
	must_both_migrate(&pair, 0);
	disconnect(&pair);
}

/* How many packets of device 0 the injected fault has dropped. */
static int dropped(void)
{
	char command[512];
	int hits = -1;
	FILE *told;

	snprintf(command, sizeof(command), "LD_PRELOAD= %s ctl fault | grep -o 'drop=100%% hits=.*'",
		 getenv("SOFTHCA_TEST_COMMAND"));
	told = MADE(popen(command, "r"));
	must(fscanf(told, "drop=100%% hits=%d", &hits) == 1);
	pclose(told);
	return hits;
}

/* On the second path a request has as many attempts as it had on the first. */
ROW("each path has all attempts")
{
	struct pair pair = armed();

	pair_control("fault", 0, "drop 100%%");
	pair_must_send(&pair, LENGTH, IBV_WC_RETRY_EXC_ERR);
	/* retry_cnt is 3. */
	must_be_on_path(pair.qa, IBV_MIG_MIGRATED, 2);
	must_eq(dropped(), 2 * (1 + 3));
	pair_control("fault", 0, "off");
	disconnect(&pair);
}

/*
 * The end that migrates gets the first packet on the old path. A program migrates back, with the
 * first ports as the alternate path.
 */
ROW("softhca ctl migrates a QP and a program migrates it back")
{
	struct pair pair = armed();
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	pair_control("migrate", 1, "%u", pair.qb->qp_num);
	must_both_migrate(&pair, 1);
	must_eq(load(pair.qa, pair.b->lid, 1), 0);
	must_eq(load(pair.qb, pair.a->lid, 1), 0);
	must_exchange(&pair);
	must_be_on_path(pair.qa, IBV_MIG_ARMED, 2);
	must_eq(ibv_modify_qp(pair.qb, &attr, IBV_QP_PATH_MIG_STATE), 0);
	must_hear(pair.b, IBV_EVENT_PATH_MIG);
	must_exchange(&pair);
	must_hear(pair.a, IBV_EVENT_PATH_MIG);
	disconnect(&pair);
}

/* A request under way, which waits for a buffer, arrives by the other path. */
ROW("a request under way arrives by the other path")
{
	struct pair pair = armed();
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, LENGTH);

	must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_be_quiet(pair.a->cq, 20);
	pair_control("port", 0, "1 down");
	must_eq(rig_post_recv(pair.b, pair.qb, LENGTH, LENGTH, 1), 0);
	rig_must_succeed(pair.a->cq);
	rig_must_succeed(pair.b->cq);
	must_hear(pair.a, IBV_EVENT_PATH_MIG);
	must_hear(pair.b, IBV_EVENT_PATH_MIG);
	disconnect(&pair);
}

ROW("an unreliable connection migrates")
{
	struct pair pair = connected(IBV_QPT_UC);

	load_both(&pair);
	must_exchange(&pair);
	pair_control("port", 0, "1 down");
	must_hear(pair.a, IBV_EVENT_PATH_MIG);
	must_exchange(&pair);
	must_hear(pair.b, IBV_EVENT_PATH_MIG);
	disconnect(&pair);
}

/*
 * Returns how many PATH_MIG_ERR events this context got. `softhca ctl` has returned, so all of them
 * can be read.
 */
static int migration_errors(struct host *host)
{
	int count = 0;

	while (rig_readable(host->ctx->async_fd, 0)) {
		struct ibv_async_event event = rig_must_get_event(host->ctx);

		count += event.event_type == IBV_EVENT_PATH_MIG_ERR;
		ibv_ack_async_event(&event);
	}
	return count;
}

static struct xrc_stage armed_target(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .timeout = 8 };
	struct xrc_stage s = xrc_stage();

	must_eq(ibv_modify_qp(s.target, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN), 0);
	must_eq(load(s.send, second_lid(s.one), 2), 0);
	must_eq(load(s.target, second_lid(s.sender), 2), 0);
	xrc_must_send(&s, s.srq1, s.one, IBV_WC_SUCCESS);
	must_be_on_path(s.target, IBV_MIG_ARMED, 1);
	return s;
}

/* An XRC target never sends. It migrates with the first packet of its sender's new path. */
ROW("an XRC target follows its sender")
{
	struct xrc_stage s = armed_target();

	pair_control("port", 0, "1 down");
	xrc_must_send(&s, s.srq1, s.one, IBV_WC_SUCCESS);
	must_eq(rig_attr(s.target).port_num, 2);
	must_hear(s.sender, IBV_EVENT_PATH_MIG);
	must_hear(s.one, IBV_EVENT_PATH_MIG);
	must_hear(s.two, IBV_EVENT_PATH_MIG);
	pair_control("port", 0, "1 up");
}

/*
 * A target that cannot migrate raises one event for each of its handles, whichever context has the
 * first handle.
 */
ROW("each handle gets one event")
{
	struct xrc_stage s = armed_target();

	MADE(xrc_open(s.two, s.xrcd2, s.target->qp_num));
	pair_control("port", 1, "2 down");
	pair_control("port", 1, "1 down");
	must_eq(migration_errors(s.one), 1);
	must_eq(migration_errors(s.two), 2);
	/*
	 * The new handle is the last in the target's list, but its context was opened before the
	 * others'.
	 */
	MADE(xrc_open(s.one, s.xrcd1, s.target->qp_num));
	must_eq(ibv_destroy_qp(s.target), 0);
	pair_control("port", 1, "1 up");
	pair_control("port", 1, "1 down");
	must_eq(migration_errors(s.one), 1);
	must_eq(migration_errors(s.two), 2);
	pair_control("port", 1, "1 up");
	pair_control("port", 1, "2 up");
}

/*
 * A connection does not migrate if it is not armed, or if its other port is down. Its retries run
 * out.
 */
ROW("a connection that is not armed stays")
{
	struct pair pair = armed();

	pair_control("port", 0, "2 down");
	pair_control("port", 0, "1 down");
	must_hear(pair.a, IBV_EVENT_PATH_MIG_ERR);
	must_be_on_path(pair.qa, IBV_MIG_ARMED, 1);
	pair_must_send(&pair, LENGTH, IBV_WC_RETRY_EXC_ERR);
	must_hear(pair.a, IBV_EVENT_PATH_MIG_ERR);
	disconnect(&pair);
	pair = connected(IBV_QPT_RC);
	must_eq(load(pair.qa, second_lid(pair.b), 2), 0);
	must_exchange(&pair);
	must_be_on_path(pair.qa, IBV_MIG_REARM, 1);
	pair_control("port", 0, "1 down");
	must_be_on_path(pair.qa, IBV_MIG_REARM, 1);
	disconnect(&pair);
}

ROW("an alternate path with a wrong port is refused")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_qp_attr attr = { .alt_ah_attr = { .dlid = 1, .port_num = 1 },
				    .alt_port_num = 2 };

	must_eq(load(pair.qa, 1, 3), EINVAL);
	must_eq(load(pair.qa, 1, 0), EINVAL);
	must_eq(ibv_modify_qp(pair.qa, &attr, IBV_QP_ALT_PATH), EINVAL);
	attr.alt_ah_attr.port_num = 2;
	must_eq(ibv_modify_qp(pair.qa, &attr, IBV_QP_ALT_PATH), 0);
}

static void must_move_while_drained(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .ah_attr = { .dlid = 1, .port_num = 1 }, .port_num = 2 };

	must_eq(rig_to_state(qp, IBV_QPS_SQD), 0);
	must_eq(ibv_modify_qp(qp, &attr, IBV_QP_PORT | IBV_QP_AV), EINVAL);
	attr.ah_attr.port_num = 2;
	must_eq(ibv_modify_qp(qp, &attr, IBV_QP_AV), 0);
	must_eq(rig_attr(qp).port_num, 2);
	attr.ah_attr.port_num = attr.port_num = 1;
	must_eq(ibv_modify_qp(qp, &attr, IBV_QP_PORT | IBV_QP_AV), 0);
	must_eq(rig_attr(qp).port_num, 1);
}

/* A program names the port of its primary path twice. uverbs refuses two different ones. */
ROW("a primary path with two ports is refused")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct rig_link link = rig_link_to(1, 1);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = 1,
		.ah_attr = { .dlid = 1 },
	};
	struct ibv_qp *qp = rig_qp(pair.a, IBV_QPT_RC, NULL);

	must_eq(rig_init(qp, &link), 0);
	must_eq(ibv_modify_qp(qp, &attr, MASK_RTR), EINVAL);
	attr.ah_attr.port_num = 2;
	must_eq(ibv_modify_qp(qp, &attr, MASK_RTR), EINVAL);
	attr.ah_attr.port_num = 1;
	must_eq(ibv_modify_qp(qp, &attr, MASK_RTR), 0);
	must_eq(ibv_destroy_qp(qp), 0);
	if (emulated_drains())
		must_move_while_drained(pair.qa);
	else
		must_eq(rig_to_state(pair.qa, IBV_QPS_SQD), EINVAL);
}
