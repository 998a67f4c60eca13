/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands of the uverbs write() interface. */
#ifndef SOFTHCA_CMD_H
#define SOFTHCA_CMD_H

#include <softhca/machine/hca.h>

#include <stddef.h>

/* One command that has passed the checks of its headers. */
struct cmd {
	struct hca_context *ctx;
	const void *in;	     /* request; at least the size in the table */
	size_t in_size;
	const void *driver_in; /* what the provider appended to it */
	size_t driver_in_size;
	uint64_t response; /* in the client; 0 = none */
	size_t out_size, driver_out_size;
	enum hca_type destroys; /* of a command that only destroys an object */
	int fd;	    /* descriptor that the client attached, or -1; stays the caller's */
	/* descriptor for the client, or -1: the command sets it, the caller sends and closes it */
	int give;
};

/*
 * Executes the @size bytes of one write(). @fd as in struct cmd. 0 or -errno as the kernel's
 * write() has it; then *give is a descriptor whose number belongs into the first word of the
 * response at *give_at, or -1.
 */
int cmd_execute(struct hca_context *ctx, const void *bytes, size_t size, int fd, int *give,
		uint64_t *give_at);

/* Name of a command, for people. */
const char *cmd_name(uint32_t command);

/* The number behind such a name. 0 or -ENOENT. */
int cmd_number(const char *name, uint32_t *command);

/*
 * Writes the response: @out, then the driver's part after it. As the kernel, no more than the
 * client has room for, and what it has more is zeroed. 0 or -EFAULT.
 */
int cmd_respond(const struct cmd *cmd, const void *out, size_t size, const void *driver,
		size_t driver_size);

/*
 * The response of a command that has made @object; if it cannot be written, the object goes again.
 * The driver's part of a PD, CQ or SRQ is its number.
 */
int cmd_introduce(const struct cmd *cmd, struct hca_object *object, const void *out, size_t size,
		  const void *driver, size_t driver_size);

/* device_cap_flags */
uint32_t device_capabilities(const struct settings *settings);

int cmd_get_context(struct cmd *cmd);
int cmd_query_device(struct cmd *cmd);
int cmd_ex_query_device(struct cmd *cmd);
int cmd_query_port(struct cmd *cmd);

int cmd_alloc_pd(struct cmd *cmd);
int cmd_reg_mr(struct cmd *cmd);
int cmd_rereg_mr(struct cmd *cmd);

int cmd_create_ah(struct cmd *cmd);

int cmd_create_comp_channel(struct cmd *cmd);
int cmd_create_cq(struct cmd *cmd);
int cmd_ex_create_cq(struct cmd *cmd);
int cmd_resize_cq(struct cmd *cmd);
int cmd_destroy_cq(struct cmd *cmd);

int cmd_create_srq(struct cmd *cmd);
int cmd_create_xsrq(struct cmd *cmd);
int cmd_modify_srq(struct cmd *cmd);
int cmd_query_srq(struct cmd *cmd);
int cmd_destroy_srq(struct cmd *cmd);

int cmd_open_xrcd(struct cmd *cmd);

int cmd_create_qp(struct cmd *cmd);
int cmd_ex_create_qp(struct cmd *cmd);
int cmd_open_qp(struct cmd *cmd);
int cmd_modify_qp(struct cmd *cmd);
int cmd_query_qp(struct cmd *cmd);
int cmd_destroy_qp(struct cmd *cmd);

int cmd_attach_mcast(struct cmd *cmd);
int cmd_detach_mcast(struct cmd *cmd);

#endif
