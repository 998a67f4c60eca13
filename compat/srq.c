/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The SRQ image: an object with the layouts of OFED 1.x and MLNX_OFED 2-4 before the real SRQ. */
#include "srq.h"
#include "domain.h"

#include <base/handle.h>
#include <modern/modern.h>

#include <errno.h>
#include <stdlib.h>

/* Those of the old libmlx4 (contract 1.3). The kernel's differ from device to device. */
#define LEGACY_MAX_WR 65536
#define LEGACY_MAX_SGE 64

static PER_PROCESS struct handle_map images;	/* by the provider's SRQ */

static void image_fill(struct srq_image *image, struct ibv_pd *pd, struct legacy_xrc_domain *ldom,
		       struct ibv_cq *cq, void *srq_context, uint32_t srq_num)
{
	image->ofed.context = pd->context;
	image->ofed.srq_context = srq_context;
	image->ofed.pd = pd;
	image->ofed.handle = SRQ_IMAGE_HANDLE;
	image->ofed.xrc_srq_num = srq_num;
	image->ofed.xrc_domain = ldom;
	image->ofed.xrc_cq = cq;
	image->mlnx.xrc_srq_num = srq_num;
	image->mlnx.xrc_domain = ldom;
	image->mlnx.xrc_cq = cq;
	image->post_recv = ops_provider_post_srq_recv(pd->context);
}

static int create_in(struct domain *domain, struct ibv_pd *pd, struct ibv_cq *cq,
		     struct ibv_srq_init_attr *attr, struct srq_image *image)
{
	struct ibv_srq_init_attr wanted = *attr;
	uint32_t srq_num;
	int err;

	if (!wanted.attr.max_wr)	/* qperf's xrc_bw client; mlx4 rounds up */
		wanted.attr.max_wr = 1;
	wanted.attr.srq_limit = 0;
	err = modern_create_xrc_srq(pd, domain->xrcd, cq, &wanted, &image->srq, &srq_num);
	if (err)
		return err;
	image_fill(image, pd, &domain->legacy, cq, attr->srq_context, srq_num);
	state_lock();
	err = handle_set(&images, image->srq, image);
	if (!err) {
		image->device_domain = domain->device_domain;
		domain->device_domain->srqs++;
	}
	state_unlock();
	if (err) {
		modern_destroy_srq(image->srq);
		return err;
	}
	image->max_wr = attr->attr.max_wr = wanted.attr.max_wr;
	image->max_sge = attr->attr.max_sge = wanted.attr.max_sge;
	return 0;
}

int srq_create(struct ibv_pd *pd, struct legacy_xrc_domain *ldom, struct ibv_cq *cq,
	       struct ibv_srq_init_attr *attr, struct ibv_srq **lsrq)
{
	struct srq_image *image;
	struct domain *domain;
	int err;

	if (!cq || !attr || cq->context != pd->context)
		return -EINVAL;
	if (attr->attr.max_wr > LEGACY_MAX_WR || attr->attr.max_sge > LEGACY_MAX_SGE)
		return -EINVAL;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	domain = domain_hold(ldom, pd->context);
	err = domain ? create_in(domain, pd, cq, attr, image) : -EINVAL;
	domain_release(domain);
	if (err)
		free(image);
	else
		*lsrq = (struct ibv_srq *)image;
	return err;
}

int srq_query(const struct srq_image *image, struct ibv_srq_attr *attr)
{
	int err = modern_query_srq(image->srq, attr);

	if (err)
		return err;
	attr->max_wr = image->max_wr;
	attr->max_sge = image->max_sge;
	return 0;
}

int srq_destroy(struct srq_image *image)
{
	/* Until this returns, an event may look up the image. */
	int err = modern_destroy_srq(image->srq);

	if (err)
		return err;
	state_lock();
	handle_remove(&images, image->srq, image);
	image->device_domain->srqs--;
	state_unlock();
	free(image);
	return 0;
}

struct srq_image *srq_image_of_real(struct ibv_srq *srq)
{
	struct srq_image *image;

	state_lock();
	image = handle_find(&images, srq);
	state_unlock();
	return image;
}

void srq_forget_context(const struct ibv_context *context)
{
	HANDLE_EACH(mapping, &images) {
		struct srq_image *image = mapping->object;

		if (image->ofed.context != context)
			continue;
		handle_take(&images, mapping);
		free(image);
	}
}
