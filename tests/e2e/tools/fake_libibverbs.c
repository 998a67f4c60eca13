/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A libibverbs with six devices for the tests of `xrc-compat check` and others: with XRC and
 * open_qp, with XRC only, one that cannot be opened, one that does not answer, without XRC, and one
 * that udev has renamed.
 * FAKE_DEVICES names those that are there; with "crash" the library aborts, and with "refused" it
 * cannot list any. FAKE_PORT is the state, physical state, LID and link layer of two ports, but
 * port 1 is DOWN; unset, they have none. FAKE_NAME is the name of all devices. FAKE_ERRNO is why
 * the third cannot be opened; by default EACCES. FAKE_XRCD_ERRNO is why no XRC domain can be
 * opened.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

/* A macro of the same name would expand in the definition. */
#undef ibv_query_port

struct fake {
	struct ibv_device device; /* first: it is handed out */
	const char *name;
	bool openable;
	bool xrc;
	bool open_qp;
};

static struct fake fakes[] = {
	{ .name = "mlx4_0", .openable = true, .xrc = true, .open_qp = true },
	{ .name = "qedr0", .openable = true, .xrc = true },
	{ .name = "mlx5_9" },
	{ .name = "mlx5_8", .openable = true },
	{ .name = "rxe0", .openable = true },
	{ .name = "ibp3s0", .openable = true, .xrc = true, .open_qp = true },
};

static struct ibv_device *list[7];

struct ibv_device **ibv_get_device_list(int *count)
{
	const char *chosen = getenv("FAKE_DEVICES");
	int found = 0;

	puts("some drivers print");
	fflush(stdout);
	if (chosen && !strcmp(chosen, "crash"))
		abort();
	if (chosen && !strcmp(chosen, "refused")) {
		errno = ENOENT;
		return NULL;
	}
	for (size_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++) {
		if (!chosen || strstr(chosen, fakes[i].name))
			list[found++] = &fakes[i].device;
	}
	if (count)
		*count = found;
	return list;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	const char *name = getenv("FAKE_NAME");

	return name ? name : ((struct fake *)device)->name;
}

/* The library of this function is the device's driver. */
static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	return cq && count && wc ? -1 : 0;
}

/* As libibverbs': without a handle the library gives no command to open a QP. */
struct xrcd {
	struct ibv_xrcd xrcd;
	uint32_t has_handle, handle;
};

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct xrcd *xrcd = getenv("FAKE_XRCD_ERRNO") ? NULL : calloc(1, sizeof(*xrcd));

	(void)attr;
	if (!xrcd) {
		errno = atoi(getenv("FAKE_XRCD_ERRNO"));
		return NULL;
	}
	xrcd->xrcd.context = context;
	xrcd->has_handle = ((struct fake *)context->device)->open_qp;
	return &xrcd->xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	free(xrcd);
	return 0;
}

/* Functions that only have to be there. */
#define STUB(name)							\
	int stub_##name(void) __asm__("ibv_" #name);			\
	int stub_##name(void)						\
	{								\
		return ENOSYS;						\
	}

STUB(create_qp)
STUB(modify_qp)
STUB(query_qp)
STUB(destroy_qp)
STUB(modify_srq)
STUB(query_srq)
STUB(destroy_srq)
STUB(get_async_event)
STUB(ack_async_event)
STUB(get_device_guid)

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *verbs = calloc(1, sizeof(*verbs));

	if (!((struct fake *)device)->openable || !verbs) {
		free(verbs);
		errno = getenv("FAKE_ERRNO") ? atoi(getenv("FAKE_ERRNO")) : EACCES;
		return NULL;
	}
	verbs->sz = sizeof(*verbs);
	verbs->open_xrcd = open_xrcd;
	verbs->close_xrcd = close_xrcd;
	verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs->context.device = device;
	/* A write fails with EINVAL, as a command with a QP number that does not exist. */
	verbs->context.cmd_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	verbs->context.ops.poll_cq = poll_cq;
	return &verbs->context;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	if (!strcmp(((struct fake *)context->device)->name, "mlx5_8"))
		return EIO;
	strcpy(attr->fw_ver, "2.42.5000");
	attr->device_cap_flags = ((struct fake *)context->device)->xrc ? IBV_DEVICE_XRC : 0;
	attr->phys_port_cnt = getenv("FAKE_PORT") ? 2 : 0;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *result)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)result;
	unsigned int state, physical, lid, layer;

	(void)context;
	if (sscanf(getenv("FAKE_PORT"), "%u,%u,%u,%u", &state, &physical, &lid, &layer) != 4)
		return EINVAL;
	attr->state = port == 1 ? IBV_PORT_DOWN : (enum ibv_port_state)state;
	attr->phys_state = (uint8_t)physical;
	attr->lid = (uint16_t)lid;
	attr->link_layer = (uint8_t)layer;
	return 0;
}

int ibv_close_device(struct ibv_context *context)
{
	free(verbs_get_ctx(context));
	return 0;
}
