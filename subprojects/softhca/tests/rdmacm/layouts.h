/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where the commands of the connection manager have their fields, by their numbers. */
#ifndef TEST_RDMACM_LAYOUTS_H
#define TEST_RDMACM_LAYOUTS_H

#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <stdint.h>

/*
 * @size: of the request. @late: bytes at its end that older programs lack. @out: the shortest
 * response. The others: offsets of fields plus one, or 0 if the command lacks the field.
 */
struct layout {
	const char *name;
	uint16_t size, late, out, id, response, address[2], uid, valid;
};

#define COMMAND(number, type, ...) \
	[RDMA_USER_CM_CMD_##number] = { .name = #number, .size = sizeof(struct rdma_ucm_##type), \
					__VA_ARGS__ }
#define AT(type, member)   (offsetof(struct rdma_ucm_##type, member) + 1)
#define ID(type)	   .id = AT(type, id)
#define RESPONSE(type)	   .response = AT(type, response)
#define UP_TO(type, end)   .out = offsetof(struct rdma_ucm_##type##_resp, end)
#define ADDRESS(type)	   .address = { AT(type, addr) }
#define ADDRESSES(type)	   .address = { AT(type, src_addr), AT(type, dst_addr) }

static const struct layout layouts[] = {
	COMMAND(CREATE_ID, create_id, RESPONSE(create_id), .out = 4, .uid = AT(create_id, uid)),
	COMMAND(DESTROY_ID, destroy_id, ID(destroy_id), RESPONSE(destroy_id), .late = 4, .out = 4),
	COMMAND(BIND_IP, bind_ip, ID(bind_ip), ADDRESS(bind_ip)),
	COMMAND(RESOLVE_IP, resolve_ip, ID(resolve_ip), ADDRESSES(resolve_ip)),
	COMMAND(RESOLVE_ROUTE, resolve_route, ID(resolve_route)),
	COMMAND(QUERY_ROUTE, query, ID(query), RESPONSE(query), .late = 4,
		UP_TO(query_route, ibdev_index)),
	COMMAND(CONNECT, connect, ID(connect), .late = 8, .valid = AT(connect, conn_param.valid)),
	COMMAND(LISTEN, listen, ID(listen)),
	COMMAND(ACCEPT, accept, ID(accept), .late = 8, .uid = AT(accept, uid)),
	COMMAND(REJECT, reject, ID(reject)),
	COMMAND(DISCONNECT, disconnect, ID(disconnect)),
	COMMAND(INIT_QP_ATTR, init_qp_attr, ID(init_qp_attr), RESPONSE(init_qp_attr), .out = 144),
	COMMAND(GET_EVENT, get_event, RESPONSE(get_event), .out = 304),
	COMMAND(GET_OPTION, get_event),
	COMMAND(SET_OPTION, set_option, ID(set_option), .response = AT(set_option, optval)),
	COMMAND(NOTIFY, notify, ID(notify)),
	COMMAND(JOIN_IP_MCAST, join_ip_mcast, ID(join_ip_mcast), RESPONSE(join_ip_mcast), .out = 4,
		ADDRESS(join_ip_mcast), .uid = AT(join_ip_mcast, uid)),
	COMMAND(LEAVE_MCAST, destroy_id, ID(destroy_id), RESPONSE(destroy_id), .late = 4, .out = 4),
	COMMAND(MIGRATE_ID, migrate_id, ID(migrate_id), RESPONSE(migrate_id), .out = 4),
	COMMAND(QUERY, query, ID(query), RESPONSE(query), UP_TO(query_addr, ibdev_index)),
	COMMAND(BIND, bind, ID(bind), ADDRESS(bind)),
	COMMAND(RESOLVE_ADDR, resolve_addr, ID(resolve_addr), ADDRESSES(resolve_addr)),
	COMMAND(JOIN_MCAST, join_mcast, ID(join_mcast), RESPONSE(join_mcast), .out = 4,
		ADDRESS(join_mcast), .uid = AT(join_mcast, uid)),
};

#define COMMANDS (sizeof(layouts) / sizeof(layouts[0]))

#endif
