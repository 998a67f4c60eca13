/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A libfabric whose first provider has no descriptors to wait for, as opx and efa have none. It is
 * the first provider of the libfabric that REAL_LIBFABRIC names. All of that come behind it. When a
 * program asks the first provider for a CQ, the file that DEAF_FABRIC_MARK names is made.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <unistd.h>

#define REAL(function) ((__typeof__(function) *)find(#function))

static void *find(const char *name)
{
	return dlsym(dlopen(getenv("REAL_LIBFABRIC"), RTLD_NOW), name);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
	return REAL(fi_dupinfo)(info);
}

void fi_freeinfo(struct fi_info *info)
{
	REAL(fi_freeinfo)(info);
}

uint32_t fi_version(void)
{
	return REAL(fi_version)();
}

const char *fi_strerror(int err)
{
	return REAL(fi_strerror)(err);
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	int err = REAL(fi_getinfo)(version, node, service, flags, hints, info);
	struct fi_info *first = err ? NULL : fi_dupinfo(*info);

	if (!first)
		return err;
	first->next = *info;
	*info = first;
	return 0;
}

static int have_none(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		     void *context)
{
	(void)domain;
	(void)attr;
	(void)cq;
	(void)context;
	close(creat(getenv("DEAF_FABRIC_MARK"), 0600));
	return -FI_ENOSYS;
}

static const struct fi_ops_fabric *real_ops;

static int open_deaf_domain(struct fid_fabric *fabric, struct fi_info *info,
			    struct fid_domain **domain, void *context)
{
	static struct fi_ops_domain ops;
	int err = real_ops->domain(fabric, info, domain, context);

	if (err)
		return err;
	ops = *(*domain)->ops;
	ops.cq_open = have_none;
	(*domain)->ops = &ops;
	return 0;
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	static struct fi_ops_fabric ops;
	int err = REAL(fi_fabric)(attr, fabric, context);

	if (err || real_ops)
		return err;
	real_ops = (*fabric)->ops;
	ops = *real_ops;
	ops.domain = open_deaf_domain;
	(*fabric)->ops = &ops;
	return 0;
}
