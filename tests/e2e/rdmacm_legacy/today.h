/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The half of the program that is ported already, behind functions: the two halves cannot include
 * each other's verbs.h. Those that can fail return 0 or an errno.
 */
#ifndef TESTS_E2E_RDMACM_LEGACY_TODAY_H
#define TESTS_E2E_RDMACM_LEGACY_TODAY_H

#include <stdint.h>

struct ibv_srq;
struct ibv_xrc_domain;
struct rdma_cm_id;

#define TODAY_LENGTH 32

/* Creates an XRC SRQ of the id in the domain, with librdmacm's CQ. Sets its number. */
int today_create_srq(struct rdma_cm_id *id, struct ibv_xrc_domain *domain, uint32_t *srq_num);
void today_destroy_srq(struct rdma_cm_id *id);

/* today_get_recv() waits on the channel that librdmacm made. */
int today_post_recv(struct rdma_cm_id *id, char *buffer);
int today_get_recv(struct rdma_cm_id *id, uint32_t *from_qpn);

#endif
