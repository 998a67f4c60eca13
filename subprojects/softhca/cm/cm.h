/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The connection manager: files of /dev/infiniband/rdma_cm, ids, and their addresses. */
#ifndef SOFTHCA_CM_H
#define SOFTHCA_CM_H

#include <machine/hca.h>
#include <proto.h>

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <sys/socket.h>

/* AF_IB and its address: <infiniband/ib.h> has them, but belongs to librdmacm. */
#define CM_AF_IB 27

struct cm_sockaddr_ib {
	uint16_t family;
	uint16_t pkey;
	uint32_t flow_info;
	uint8_t gid[16];
	uint64_t sid, sid_mask; /* big endian */
	uint64_t scope_id;
};

union cm_address {
	uint16_t family;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct cm_sockaddr_ib ib;
	struct __kernel_sockaddr_storage storage;
};

/* Of every path. */
#define CM_PKEY		 0xffffu
#define CM_PATH_MTU	 IBV_MTU_4096
#define CM_PATH_LIFETIME 14 /* 4.096 us * 2^14 = 67 ms */
#define CM_ACK_TIMEOUT	 (CM_PATH_LIFETIME + 1) /* there and back */

/* The state of an id in rdma_cm. */
enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDR_QUERY, /* no adapter has the address: the query fails at the timeout */
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_CONNECT,
	CM_DISCONNECT,
	CM_LISTEN,
};

/* The state of the id's connection in ib_cm. */
enum cm_link {
	CM_NO_LINK, /* no connection was requested */
	CM_OVER,    /* the connection failed, or has ended */
	CM_REQ_SENT,
	CM_REQ_RCVD,
	CM_REP_SENT,
	CM_REP_RCVD,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RCVD,
	CM_TIMEWAIT,
	CM_SIDR_SENT,
	CM_SIDR_RCVD,
};

#define CM_MAD_BYTES 256

/* An id. Two that are connected, or about to be, point to each other. */
struct cm_id {
	uint32_t number;
	struct cm_file *file;
	struct list member; /* file->ids */
	struct list known; /* machine->cm->ids */
	uint64_t uid;	    /* the program's name for the id; 0 = not told yet */
	uint16_t ps;
	uint8_t qp_type;
	enum cm_state state;
	enum cm_link link;
	struct cm_id *peer;
	uint32_t peer_number; /* also when the peer has gone; 0 = there was none */
	bool far; /* its peer is on another machine, and there is no pointer to it */
	uint32_t incarnation; /* of a far peer's daemon; 0 = not known */
	struct timer again; /* until what was sent there last, and has no answer, is repeated */
	uint8_t unanswered[CM_MAD_BYTES];
	/* the CONNECT_REQUEST that the program has not fetched yet; NULL = the id has none */
	struct cm_event *request;
	struct timer timer;
	union cm_address src, dst;
	uint64_t service; /* port space and port that it is bound to; 0 = not bound */
	struct hca_device *device, *dst_device;
	uint8_t port, dst_port;
	bool reuse, family_only;
	int ack_timeout;      /* -1 = not set */
	uint32_t reported;    /* events that the program has fetched */
	unsigned int backlog; /* connection requests that may yet wait to be fetched */
	uint32_t qkey;
	struct list joins;

	/* the connection */
	uint32_t qpn, remote_qpn, psn;
	uint32_t remote_psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry;
};

/* A multicast group that an id has joined. */
struct cm_join {
	struct list link; /* id->joins */
	struct cm_id *id;
	struct cm_group *group;
	uint32_t number;
	uint64_t uid;	   /* the program's name for the join */
	uint32_t reported; /* events that the program has fetched */
};

/* One open() of /dev/infiniband/rdma_cm. */
struct cm_file {
	struct hca_machine *machine;
	struct list link; /* machine->cm->files */
	struct client client;
	int host; /* the device on whose host the program is; -1 = on all */
	struct list ids;
	struct list events;
	unsigned int waiting; /* events */
	unsigned int rung;    /* bytes that make the program's descriptor readable */
	int wake_fd;	      /* our end of the socket that has them */
	int wake_peer_fd;     /* the program's end, to take bytes back */
};

/* The connection manager of a machine. */
struct hca_cm {
	struct list files;
	struct list ids; /* of all files */
	struct numtab numbers;
	struct list groups; /* for multicast */
	struct numtab group_lids, joins;
	uint32_t psn; /* the last that was given out */
	uint16_t port; /* the last one that was chosen for a program */
	uint32_t incarnation; /* of this daemon, among those that the machine has had */
};

/* 0 or -ENOMEM. */
int cm_init(struct hca_machine *machine);
void cm_free(struct hca_machine *machine);

/* ---- addresses of the emulated ports (addr.c) ---- */

/* An address of this family that says nothing: "all of mine". */
union cm_address cm_addr_none(uint16_t family);

/* Size of an address of this family, 0 when the family is unknown. */
size_t cm_addr_size(const union cm_address *address);

/* An address out of an older request, which has room for IP. False: of no known family. */
bool cm_addr_take_ip(union cm_address *address, const struct sockaddr_in6 *in);
/* An address out of a newer request, which says the size. */
bool cm_addr_take_storage(union cm_address *address, const struct __kernel_sockaddr_storage *in,
			  size_t size);

/* Whether it is the address of a group. */
bool cm_addr_multicast(const union cm_address *address);

/* Whether it is the address that means "all of mine". */
bool cm_addr_any(const union cm_address *address);

/* The port that has this address. False if none has. */
bool cm_addr_find(const struct cm_file *file, const union cm_address *address,
		  struct hca_device **device, uint8_t *port);

/* True when programs of this file are on the host of @device. */
bool cm_addr_local(const struct cm_file *file, const struct hca_device *device);

/* The address of a port, of the family of @address, into it; what else it holds stays. */
void cm_addr_set(union cm_address *address, const struct hca_device *device, uint8_t port);

/* The GID by which an id knows a port: on Ethernet that of the IP address. */
void cm_addr_gid(const struct cm_id *id, const struct hca_device *device, uint8_t port,
		 uint8_t gid[16]);

/* An address vector to @dgid; to the id's peer, with a GRH on Ethernet only. */
void cm_addr_vector(const struct cm_id *id, const uint8_t dgid[16], struct ib_uverbs_ah_attr *attr);
void cm_addr_vector_to_peer(const struct cm_id *id, struct ib_uverbs_ah_attr *attr);

/* The private data for which a request of the id with @room bytes has room. */
size_t cm_addr_room(const struct cm_id *id, size_t room);

/* The number after the address, as programs give it; of AF_IB the lower bits of the service id. */
uint16_t cm_addr_port(const union cm_address *address);
void cm_addr_set_port(union cm_address *address, uint16_t port);

/* Port space and port that an address means for @id. 0: another port space's address. */
uint64_t cm_addr_service(const struct cm_id *id, const union cm_address *address);

/* ---- events (event.c) ---- */

/* The numbers of <rdma/rdma_cma.h>, which belongs to librdmacm. */
enum cm_event_kind {
	CM_EVENT_ADDR_RESOLVED,
	CM_EVENT_ADDR_ERROR,
	CM_EVENT_ROUTE_RESOLVED,
	CM_EVENT_ROUTE_ERROR,
	CM_EVENT_CONNECT_REQUEST,
	CM_EVENT_CONNECT_RESPONSE,
	CM_EVENT_CONNECT_ERROR,
	CM_EVENT_UNREACHABLE,
	CM_EVENT_REJECTED,
	CM_EVENT_ESTABLISHED,
	CM_EVENT_DISCONNECTED,
	CM_EVENT_DEVICE_REMOVAL,
	CM_EVENT_MULTICAST_JOIN,
	CM_EVENT_MULTICAST_ERROR,
	CM_EVENT_ADDR_CHANGE,
	CM_EVENT_TIMEWAIT_EXIT,
};

/* An event that waits to be fetched. */
struct cm_event {
	struct list link; /* file->events */
	struct cm_id *id;    /* the id that gets the event */
	struct cm_id *child; /* of a connection request: the new id */
	struct cm_join *join; /* of an event about a group */
	struct rdma_ucm_event_resp resp;
};

/* An event to be filled in and raised. NULL: no memory, or an id that the program lacks. */
struct cm_event *cm_event_new(struct cm_id *id, enum cm_event_kind kind, int status);
void cm_event_raise(struct cm_event *event);

/* Raises an event in which nothing else is to be filled in. */
void cm_event_plain(struct cm_id *id, enum cm_event_kind kind, int status);

/* Removes an event that the program has not fetched. */
void cm_event_withdraw(struct cm_event *event);

/* The oldest event of the id that waits, or NULL; with @join of those that tell of it. */
struct cm_event *cm_event_of(const struct cm_id *id, const struct cm_join *join);

/* The event waits in another file now. The caller wakes the readers of both files. */
void cm_event_move(struct cm_event *event, struct cm_file *file);

/* Writes an answer to the client's memory. 0 or -EFAULT. */
int cm_file_write(const struct cm_file *file, uint64_t to, const void *from, size_t length);

/* Makes the program's descriptor readable, as long as events wait. */
void cm_file_ring(struct cm_file *file);

/* ---- ids (id.c) ---- */

/* An id of the file. NULL with *err: no memory, or no number is left. */
struct cm_id *cm_id_new(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *err);

/* -ENOENT when there is none of this number, -EINVAL when it is another file's. */
int cm_id_find(const struct cm_file *file, uint32_t number, struct cm_id **id);

/* Id and peer know nothing of each other any more. */
void cm_id_part(struct cm_id *id);

/* The ports on both sides of the connection are up. */
bool cm_id_is_wired(const struct cm_id *id);

/* Calls @expired with id->timer if nothing happens to the id in this time. */
void cm_wait(struct cm_id *id, unsigned int milliseconds, void (*expired)(struct timer *timer));

/* ---- port spaces: bound and listening ids (port.c) ---- */

/*
 * A connection request for the listener at the destination, with its child, an id of @qp_type: to
 * be filled in and raised. NULL: it is refused; *heard = whether there is a listener.
 */
struct cm_event *cm_id_request(struct cm_id *id, uint8_t qp_type, bool *heard);

/* ---- connections: what ib_cm does with messages on the wire, done directly (conn.c) ---- */

/* Ends the connection of an id that is destroyed, and tells its peer. */
void cm_abandon(struct cm_id *id);

/* ---- unreliable ids: one asks for the number of a QP, the other one tells it (sidr.c) ---- */

/* These do for unreliable ids what their namesakes in conn.c do for the others. */
int cm_sidr_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_sidr_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_sidr_reject(struct cm_id *id, const void *data, uint8_t length);

/* The Q_Key that an id has, or gets now. */
uint32_t cm_sidr_qkey(struct cm_id *id);

/* What an id hears of its peer, whose fields are those of @from (conn.c, sidr.c). */
void cm_hear_request(struct cm_id *from, const struct rdma_ucm_conn_param *param);
void cm_hear_reply(struct cm_id *id, const struct cm_id *from,
		   const struct rdma_ucm_conn_param *param);
void cm_hear_ready(struct cm_id *id);
void cm_hear_reject(struct cm_id *id, uint8_t reason, const void *data, size_t length);
void cm_hear_disconnect(struct cm_id *id);
void cm_hear_disconnected(struct cm_id *id);
void cm_sidr_hear_request(struct cm_id *from, const struct rdma_ucm_conn_param *param);
void cm_sidr_hear_reply(struct cm_id *id, uint8_t status, const struct cm_id *from,
			const void *data, size_t length);

/* ---- ids whose peers are on another machine ---- */

/* Of messages. */
enum cm_attribute {
	CM_REQ = 0x10,
	CM_REJ = 0x12,
	CM_REP,
	CM_RTU,
	CM_DREQ,
	CM_DREP,
	CM_SIDR_REQ,
	CM_SIDR_REP
};

/* A message between the ports of two machines. */
struct cm_far {
	uint16_t slid, dlid;
	uint16_t family, ps; /* of the addresses of a request; its port space */
	uint8_t qp_type; /* of the id that has sent it */
	uint8_t unused[3];
	uint32_t from, to; /* incarnations of both daemons; 0 = not known */
	uint8_t unused2[4];
	uint8_t mad[CM_MAD_BYTES];
};

/*
 * Carries the message to the machine of the id's peer (carry.c). A message that needs an answer is
 * repeated until the id's state says that it has come.
 */
void cm_far_send(struct cm_id *id, const uint8_t mad[CM_MAD_BYTES]);

/* The function for fabric_open() (far.c). */
void cm_far_take(int machine, const void *body, size_t length);
void cm_far_init(struct hca_machine *machine);

/* ---- the messages on the wire: for captures, and for other machines (mad.c) ---- */

/* Each is sent by @id to its destination. */
void cm_mad_req(struct cm_id *id, const struct rdma_ucm_conn_param *param);
void cm_mad_rep(struct cm_id *id, const struct rdma_ucm_conn_param *param);
void cm_mad_rtu(struct cm_id *id);
void cm_mad_rej(struct cm_id *id, uint8_t reason, const void *content, size_t length);
void cm_mad_dreq(struct cm_id *id);
void cm_mad_drep(struct cm_id *id);
void cm_mad_sidr_req(struct cm_id *id, const struct rdma_ucm_conn_param *param);
void cm_mad_sidr_rep(struct cm_id *id, uint8_t status, uint32_t qpn, const void *content,
		     size_t length);

/* Sent for the destination of @id when no id there has the request, or none any more. */
void cm_mad_refused(const struct cm_id *id, uint8_t reason);
void cm_mad_sidr_refused(const struct cm_id *id, uint8_t status);
void cm_mad_gone(const struct cm_id *id);

/* ---- multicast groups, as the subnet manager has them (mcast.c) ---- */

/* Leaves all groups of an id that is destroyed. */
void cm_leave_all(struct cm_id *id);

/* ---- files, and the ids that they have (file.c) ---- */

/* A file for the client @pid on @sock, which becomes the file's. 0 or -errno. */
int cm_file_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, struct cm_file **file);

/* Ends everything that belongs to the file. */
void cm_file_destroy(struct cm_file *file);

/* ---- commands of the write() interface (cmd.c) ---- */

/* A command that has passed the checks of its header. */
struct cm_cmd {
	struct cm_file *file;
	struct cm_id *id; /* of the request, and of this file; NULL where it names none */
	/* request, with zeroes for what the client left out */
	const void *in;
	size_t out_size; /* room for the response */
	int fd;		 /* descriptor that the client attached, or -1; stays the caller's */
};

/* Executes one write(). 0 or -errno as of the kernel's; -EAGAIN = there is no event yet. */
int cm_execute(struct cm_file *file, const void *bytes, size_t size, int fd);

/* Each is in the file of what it is about. */
typedef int cm_command(struct cm_cmd *cmd);
cm_command cm_cmd_create_id, cm_cmd_destroy_id, cm_cmd_set_option, cm_cmd_migrate_id;
cm_command cm_cmd_bind_ip, cm_cmd_bind, cm_cmd_listen;
cm_command cm_cmd_resolve_ip, cm_cmd_resolve_addr, cm_cmd_resolve_route;
cm_command cm_cmd_query_route, cm_cmd_query, cm_cmd_init_qp_attr;
cm_command cm_cmd_connect, cm_cmd_accept, cm_cmd_reject, cm_cmd_disconnect, cm_cmd_notify;
cm_command cm_cmd_join_ip_mcast, cm_cmd_join_mcast, cm_cmd_leave_mcast;
cm_command cm_cmd_get_event;

#endif
