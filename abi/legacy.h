/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The frozen layouts of OFED 1.3-1.5.x (and MLNX_OFED 2-4 where it differs), beside today's
 * <infiniband/verbs.h>.
 *
 * Only what differs has a type of its own; members whose type has not changed use today's. Offsets:
 * contract 2.
 */
#ifndef ABI_LEGACY_H
#define ABI_LEGACY_H

#include <pthread.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define LEGACY_QPT_XRC 5
#define LEGACY_QPT_RAW_ETH 8
#define LEGACY_XRC_QP_EVENT_FLAG 0x80000000u
#define LEGACY_DEVICE_XRC (1u << 20)

/*
 * Slots of ibv_context.ops, each one pointer wide; the ones that old headers called without a
 * symbol (contract 3).
 */
#define LEGACY_OPS_SLOTS 32
#define LEGACY_OPS_QUERY_PORT 1
#define LEGACY_OPS_POLL_CQ 11
#define LEGACY_OPS_REQ_NOTIFY_CQ 12
#define LEGACY_OPS_POST_SRQ_RECV 20
#define LEGACY_OPS_POST_SEND 25
#define LEGACY_OPS_POST_RECV 26

/* Old programs read context. No known program reads handle. */
struct legacy_xrc_domain {
	struct ibv_context *context;
	uint32_t handle;
};

/*
 * OFED moved mutex and cond behind the plain members, so events_completed and later members are not
 * where they are today.
 */
struct legacy_srq {
	struct ibv_context *context;
	void *srq_context;
	struct ibv_pd *pd;
	uint32_t handle;
	uint32_t events_completed;
	uint32_t xrc_srq_num;
	struct legacy_xrc_domain *xrc_domain;
	struct ibv_cq *xrc_cq;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

/* MLNX_OFED 2.x-4.x: today's order, and xrc_srq_num far behind (contract 2.6). */
struct legacy_mlnx_srq {
	struct ibv_context *context;
	void *srq_context;
	struct ibv_pd *pd;
	uint32_t handle;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
	uint32_t padding_num;
	void *padding[3];
	uint32_t xrc_srq_num;
	struct legacy_xrc_domain *xrc_domain;
	struct ibv_cq *xrc_cq;
};

struct legacy_qp {
	struct ibv_context *context;
	void *qp_context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	uint32_t handle;
	uint32_t qp_num;
	uint32_t state;
	uint32_t qp_type;
	uint32_t events_completed;
	struct legacy_xrc_domain *xrc_domain;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

struct legacy_cq {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	void *cq_context;
	uint32_t handle;
	int cqe;
	uint32_t comp_events_completed;
	uint32_t async_events_completed;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

/*
 * Today's struct with xrc_domain appended. The struct of a caller that was built without XRC ends
 * before it. So read xrc_domain only for type 5 and in ibv_create_xrc_rcv_qp, and write it only in
 * queries of XRC QPs and of receive QPs.
 */
struct legacy_qp_init_attr {
	void *qp_context;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	uint32_t qp_type;
	int sq_sig_all;
	struct legacy_xrc_domain *xrc_domain;
};

/*
 * 136 bytes. Today's struct is longer, so never copy sizeof(struct ibv_qp_attr) from or to a
 * caller's.
 */
struct legacy_qp_attr {
	uint32_t qp_state;
	uint32_t cur_qp_state;
	uint32_t path_mtu;
	uint32_t path_mig_state;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qp_num;
	uint32_t qp_access_flags;
	struct ibv_qp_cap cap;
	struct ibv_ah_attr ah_attr;
	struct ibv_ah_attr alt_ah_attr;
	uint16_t pkey_index;
	uint16_t alt_pkey_index;
	uint8_t en_sqd_async_notify;
	uint8_t sq_draining;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t port_num;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t alt_port_num;
	uint8_t alt_timeout;
};

/*
 * The first 80 bytes (i386: 64) of today's struct. xrc_remote_srq_num is where
 * qp_type.xrc.remote_srqn is now.
 */
struct legacy_send_wr {
	uint64_t wr_id;
	struct legacy_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
	uint32_t opcode;
	uint32_t send_flags;
	uint32_t imm_data;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_ah *ah;
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
	} wr;
	uint32_t xrc_remote_srq_num;
};

/*
 * As today, but if the type has LEGACY_XRC_QP_EVENT_FLAG, the union contains a QP number, and its
 * upper half is zero.
 */
struct legacy_async_event {
	union {
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct ibv_srq *srq;
		int port_num;
		uint32_t xrc_qp_num;
	} element;
	uint32_t event_type;
};

/* Identical today, except for the name of ops. */
struct legacy_device {
	void *ops[2];
	int node_type;
	int transport_type;
	char name[64];
	char dev_name[64];
	char dev_path[256];
	char ibdev_path[256];
};

/*
 * Only the old library read more_ops. Today providers keep their own data there, so nothing may
 * read it.
 */
struct legacy_context {
	struct ibv_device *device;
	void *ops[LEGACY_OPS_SLOTS];
	int cmd_fd;
	int async_fd;
	int num_comp_vectors;
	pthread_mutex_t mutex;
	void *abi_compat;
	void *more_ops;
};

#endif
