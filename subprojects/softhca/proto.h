/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The messages between the preload in a program and the daemon that plays kernel and HCA. */
#ifndef SOFTHCA_PROTO_H
#define SOFTHCA_PROTO_H

#include <stdint.h>

/*
 * One SOCK_SEQPACKET connection per opened device context, so that a message is a system call and
 * the connection's end is the context's end. After the greeting every message of the client is the
 * very bytes of one write() on the uverbs file. That of DESTROY_CQ is too short in rdma-core 18 and
 * 19, and the message is whole (client/dev_calls.c). The daemon writes the response into the
 * client's memory itself, as the kernel's copy_to_user() does.
 */
#define SOFTHCA_MAGIC	0x53484341u /* "SHCA" */
/*
 * The daemon refuses a client of another version with EPROTO. Daemons of two machines meet only if
 * theirs are the same (fabric/introduce.c).
 */
#define SOFTHCA_VERSION 7u

/* Of a machine: uverbs0 to uverbs15. */
#define SOFTHCA_MAX_DEVICES 16

/* Longest write() that is carried. The longest known command is rdma_cm's ACCEPT, of 304 bytes. */
#define SOFTHCA_MAX_COMMAND 4096u
#define SOFTHCA_MIN_COMMAND 8u /* the headers of both interfaces */

enum softhca_kind {
	SOFTHCA_CONTEXT = 1, /* an opened device */
	SOFTHCA_CONTROL = 2, /* one `softhca ctl` command */
	SOFTHCA_CM = 3, /* an opened /dev/infiniband/rdma_cm */
	SOFTHCA_NETLINK = 4, /* one netlink request; answered like a control command */
	SOFTHCA_CAPTURE = 5, /* the process that writes a capture's file, which it brings */
	SOFTHCA_RUN = 6, /* a run that shares the daemon; its settings as text follow */
};

/*
 * Client's first message; carries the arena's memfd when arena_pages is not 0,
 * and that of SOFTHCA_CAPTURE the file.
 */
struct softhca_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t kind;
	union {
		uint32_t device; /* N of uverbsN */
		uint32_t host; /* for SOFTHCA_CM: the program's, or SOFTHCA_EVERY_HOST */
		uint32_t snap; /* for SOFTHCA_CAPTURE: the most bytes to keep of each packet */
	};
	uint64_t arena_pages; /* 0 = the client has no arena */
	uint64_t probe;	     /* address of a word in the client that holds SOFTHCA_MAGIC */
};

#define SOFTHCA_EVERY_HOST UINT32_MAX

/*
 * The answer. That of SOFTHCA_CONTEXT carries the memfd of the doorbell page.
 * That of SOFTHCA_CM carries a socket that is readable while events wait.
 * Those of SOFTHCA_CONTROL and SOFTHCA_NETLINK carry a memfd: the text to print, or messages.
 * That of SOFTHCA_CAPTURE carries the memfd of the ring (capture/ring.h).
 */
struct softhca_welcome {
	/*
	 * 0 or -errno; of SOFTHCA_CONTROL and SOFTHCA_NETLINK that of the command or request.
	 * -EPROTO: the greeting is of another version, or malformed.
	 * -EPERM: the client is another user's.
	 * -EACCES: the daemon may not read the client's memory.
	 * -EOVERFLOW: the client's addresses are too long for the daemon.
	 * -ENOENT, -ENODEV: there is no such device, or no such host.
	 * -EINPROGRESS: the machines have not met yet, or the capture's file is not complete; ask
	 * again.
	 * -EEXIST: the daemon has other settings than the run.
	 * -EBUSY: a capture runs already.
	 * -EINVAL: the capture has no regular file, or its number of bytes is out of range.
	 */
	int32_t status;
	uint32_t arena; /* 1 = rings may be placed in the arena */
	/* 1 = bits 8 and up of the page number of an mmap() offset are a command, as of libmlx5 */
	uint32_t mmap_commands;
};

/*
 * Follows the welcome of SOFTHCA_CONTEXT. Carries the memfd of a page that all programs share with
 * the daemon, and that begins with struct softhca_wake.
 */
struct softhca_wake_message {
	uint32_t reserved;
};

/*
 * Before it sleeps, the daemon sets the futex to 1 and looks at the doorbells once more. A program
 * that has rung a doorbell wakes it by setting the futex to 0 and FUTEX_WAKE.
 */
struct softhca_wake {
	_Atomic uint32_t asleep;
	_Atomic uint32_t processor; /* on which the program ran that woke it last */
};

/*
 * Answer to one command. If a descriptor comes with it, its number belongs at fd_address of the
 * client; else that is 0.
 */
struct softhca_reply {
	int32_t status; /* 0 or -errno */
	uint32_t reserved;
	uint64_t fd_address;
};

/*
 * The arena: pages for the provider's rings and doorbell records, in a memfd that client and daemon
 * map. The kernel chooses the addresses in the client. The page at address A is page
 * A / SOFTHCA_PAGE % pages of the arena. Of two pages with the same number, only one can be in the
 * arena at a time. The memfd begins with a table of a uint32_t for each page:
 * softhca_arena_owner(A), or 0.
 */
#define SOFTHCA_PAGE 4096u

static inline uint64_t softhca_arena_page(uint64_t address, uint64_t pages)
{
	return address / SOFTHCA_PAGE % pages;
}

static inline uint32_t softhca_arena_owner(uint64_t address, uint64_t pages)
{
	return (uint32_t)(address / SOFTHCA_PAGE / pages) + 1;
}

/* Bytes of the table, in whole pages. */
static inline uint64_t softhca_arena_table(uint64_t pages)
{
	return (pages * sizeof(uint32_t) + SOFTHCA_PAGE - 1) / SOFTHCA_PAGE * SOFTHCA_PAGE;
}

/*
 * The address of the host of an adapter, by its number. Launchers take a name with an address of an
 * interface, as 127.0.0.1, for the host on which they run.
 */
#define SOFTHCA_HOST_NET    (127 << 8 | 18)
#define SOFTHCA_HOST_FORMAT "127.18.%d.1"

/* The doorbell page of a context. */
#define SOFTHCA_UAR_LEN 4096
/* Pages of its memfd: all that libmlx5 can name. Only the first is looked at. */
#define SOFTHCA_UAR_PAGES 256

#endif
