/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibumad.so.1 and .so.2: the functions that today's libibumad.so.3 has with the same arguments.
 */
#include "umad_now.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The size of the header before a MAD. Programs allocate a MAD with it before they know whether
 * there is a device.
 */
#define MAD_HEADER_SIZE 64

/*
 * Calls the function of the same name in libibumad.so.3; returns @missing if the machine has no
 * libibumad.so.3.
 */
#define FORWARD(type, name, parameters, arguments, missing) \
	type name parameters \
	{ \
		type (*now) parameters = (type (*) parameters)umad_now(#name); \
\
		return now ? now arguments : (missing); \
	}

#define FORWARD_VOID(name, parameters, arguments) \
	void name parameters \
	{ \
		void (*now) parameters = (void (*) parameters)umad_now(#name); \
\
		if (now) \
			now arguments; \
	}

/* As on a machine without the ib_umad module: MVAPICH then goes on without libibumad. */
FORWARD(int, umad_init, (void), (), -1)
FORWARD(int, umad_done, (void), (), 0)

FORWARD(int, umad_get_cas_names, (char names[][20], int max), (names, max), -ENODEV)
FORWARD(int, umad_get_ca_portguids, (const char *ca, uint64_t *guids, int max), (ca, guids, max),
	-ENODEV)
FORWARD(int, umad_get_issm_path, (const char *ca, int port, char *path, int max),
	(ca, port, path, max), -ENODEV)
FORWARD(int, umad_open_port, (const char *ca, int port), (ca, port), -ENODEV)
FORWARD(int, umad_close_port, (int fd), (fd), -ENODEV)
FORWARD(int, umad_get_fd, (int fd), (fd), -ENODEV)

FORWARD(size_t, umad_size, (void), (), MAD_HEADER_SIZE)
FORWARD(void *, umad_get_mad, (void *umad), (umad), (char *)umad + MAD_HEADER_SIZE)
FORWARD(void *, umad_get_mad_addr, (void *umad), (umad), NULL)
FORWARD(int, umad_status, (void *umad), (umad), -ENODEV)
FORWARD(int, umad_set_grh, (void *umad, void *grh), (umad, grh), -ENODEV)
FORWARD(int, umad_set_pkey, (void *umad, int index), (umad, index), -ENODEV)
FORWARD(int, umad_get_pkey, (void *umad), (umad), 0)
FORWARD(int, umad_send, (int fd, int agent, void *umad, int length, int milliseconds, int retries),
	(fd, agent, umad, length, milliseconds, retries), -ENODEV)
FORWARD(int, umad_recv, (int fd, void *umad, int *length, int milliseconds),
	(fd, umad, length, milliseconds), -ENODEV)
FORWARD(int, umad_poll, (int fd, int milliseconds), (fd, milliseconds), -ENODEV)
FORWARD(int, umad_register, (int fd, int class, int version, uint8_t rmpp, long *methods),
	(fd, class, version, rmpp, methods), -ENODEV)
FORWARD(int, umad_register_oui, (int fd, int class, uint8_t rmpp, uint8_t *oui, long *methods),
	(fd, class, rmpp, oui, methods), -ENODEV)
FORWARD(int, umad_unregister, (int fd, int agent), (fd, agent), -ENODEV)
FORWARD(int, umad_debug, (int level), (level), 0)
FORWARD_VOID(umad_addr_dump, (void *address), (address))
FORWARD_VOID(umad_dump, (void *umad), (umad))

/*
 * Old headers declare int. Today's umad_set_addr_net declares 16 and 32 bits: it takes the lower
 * bits of each argument.
 */
FORWARD(int, umad_set_addr, (void *umad, int lid, int qpn, int sl, int qkey),
	(umad, lid, qpn, sl, qkey), -ENODEV)
FORWARD(int, umad_set_addr_net, (void *umad, int lid, int qpn, int sl, int qkey),
	(umad, lid, qpn, sl, qkey), -ENODEV)
