/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The SRQ image: what an old program holds in place of its XRC SRQ.
 *
 * Old programs read srq->xrc_srq_num in the struct: at offset 32 (i386: 20) with OFED 1.x, at 152
 * with MLNX_OFED 2-4. Today's struct ibv_srq has a mutex at the first offset and ends before the
 * second. The image has both old layouts at once, and a pointer to the real SRQ.
 */
#ifndef COMPAT_SRQ_H
#define COMPAT_SRQ_H

#include "ops.h"

#include <abi/legacy.h>
#include <base/state.h>

/*
 * The handle of an image. Kernel handles count from 0, so this value does not collide in practice.
 * Old programs never read the handle (contract 2.1).
 */
#define SRQ_IMAGE_HANDLE 0xfffffffeu

struct srq_image {
	union {
		struct legacy_srq ofed;
		struct legacy_mlnx_srq mlnx;
	};
	/* shim_post_srq_recv() reads these two in every call. They share a cache line. */
	struct ibv_srq *srq;
	post_srq_recv_fn post_recv;
	struct device_domain *device_domain;
	uint32_t max_wr, max_sge;	/* as create answered */
};

/* Returns srq as an image, or NULL. srq may be NULL, an image, or a provider's SRQ. */
static inline struct srq_image *srq_image_of(struct ibv_srq *srq)
{
	return srq && srq->handle == SRQ_IMAGE_HANDLE ? (struct srq_image *)srq : NULL;
}

/* Returns the provider's SRQ behind an image; srq itself if it is not an image, or NULL. */
static inline struct ibv_srq *srq_unwrap(struct ibv_srq *srq)
{
	struct srq_image *image = srq_image_of(srq);

	return image ? image->srq : srq;
}

/*
 * Creates an XRC SRQ of the domain, with completions on cq. attr->attr.max_wr (entries, 0 counts as
 * 1) and max_sge are updated with what was allocated; srq_limit is ignored, as it was (contract
 * 5.3). -EINVAL: attr is NULL, ldom or cq is NULL or of another device, or a size is beyond its
 * limit here.
 */
int srq_create(struct ibv_pd *pd, struct legacy_xrc_domain *ldom, struct ibv_cq *cq,
	       struct ibv_srq_init_attr *attr, struct ibv_srq **lsrq);

/*
 * Queries as the verb, but max_wr and max_sge are those of srq_create(). A program may post as many
 * receives as the query says, and libmlx5 asks the kernel for more than twice as many.
 */
int srq_query(const struct srq_image *image, struct ibv_srq_attr *attr);

/* Destroys the SRQ behind an image and frees the image. On failure both stay. */
int srq_destroy(struct srq_image *image);

/* Returns the image in front of a provider's SRQ, NULL if it has none. Takes the lock. */
struct srq_image *srq_image_of_real(struct ibv_srq *srq);

/* The device is being closed: frees its images. Lock held. */
void srq_forget_context(const struct ibv_context *context);

#endif
