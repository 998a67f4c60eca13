/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibcm.so.1. Linux 5.3 removed the module that the old library opened, ib_ucm. Here
 * ib_cm_open_device() fails on every kernel, and Open MPI then connects by other means. So no
 * program has an object for the other functions.
 */
#include <errno.h>
#include <stddef.h>

void *ib_cm_open_device(void)
{
	errno = ENOSYS;
	return NULL;
}

void ib_cm_close_device(void)
{
}

/* Declared without parameters: these functions read no argument. */
#define REFUSE(name) \
	int name(void) \
	{ \
		errno = ENOSYS; \
		return -1; \
	}

REFUSE(ib_cm_get_event)
REFUSE(ib_cm_ack_event)
REFUSE(ib_cm_create_id)
REFUSE(ib_cm_destroy_id)
REFUSE(ib_cm_attr_id)
REFUSE(ib_cm_listen)
REFUSE(ib_cm_send_req)
REFUSE(ib_cm_send_rep)
REFUSE(ib_cm_send_rtu)
REFUSE(ib_cm_send_dreq)
REFUSE(ib_cm_send_drep)
REFUSE(ib_cm_notify)
REFUSE(ib_cm_send_rej)
REFUSE(ib_cm_send_mra)
REFUSE(ib_cm_send_lap)
REFUSE(ib_cm_send_apr)
REFUSE(ib_cm_send_sidr_req)
REFUSE(ib_cm_send_sidr_rep)
REFUSE(ib_cm_init_qp_attr)
