/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A libibverbs to link with that has no versions. */

#define X(verb) __attribute__((visibility("default"))) void verb(void); void verb(void) { }
X(ibv_get_device_list)
X(ibv_open_device) X(ibv_close_device) X(ibv_get_async_event) X(ibv_ack_async_event) X(ibv_alloc_pd)
X(ibv_create_cq) X(ibv_create_srq) X(ibv_modify_srq) X(ibv_query_srq) X(ibv_destroy_srq)
X(ibv_create_qp) X(ibv_modify_qp) X(ibv_query_qp) X(ibv_destroy_qp)
