/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The life of a context. */
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define HANDLES		(1u << 18)
#define MAX_ARENA	((uint64_t)1 << 32)

/* The doorbell page. Sealed: a client that cut it short would kill the daemon with SIGBUS. */
static int map_uar(struct hca_context *ctx, int *fd)
{
	*fd = memfd_create("softhca-uar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, (off_t)SOFTHCA_UAR_LEN * SOFTHCA_UAR_PAGES) ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto out;
	ctx->uar = mmap(NULL, SOFTHCA_UAR_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (ctx->uar != MAP_FAILED)
		return 0;
out:
	close(*fd);
	return -ENOMEM;
}

/* Whether @fd is memory that cannot shrink, or run out: that would kill us with SIGBUS. */
static bool is_solid(int fd, uint64_t size)
{
	struct statfs fs;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
		return false;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= size;
}

/* An arena that is not what the client says is not used; everything works without. */
static void map_arena(struct hca_context *ctx, const struct softhca_hello *hello, int fd)
{
	void *base;

	if (fd < 0 || !hello->arena_size || hello->arena_size > MAX_ARENA ||
	    !ctx->device->machine->settings.arena)
		return;
	if (!is_solid(fd, hello->arena_size))
		return;
	base = mmap(NULL, (size_t)hello->arena_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED)
		return;
	ctx->arena = base;
	ctx->arena_base = hello->arena_base;
	ctx->arena_size = hello->arena_size;
}

static void init_context(struct hca_context *ctx, struct hca_device *device)
{
	ctx->device = device;
	list_init(&ctx->channels);
	list_init(&ctx->qps);
	for (int type = 0; type < HCA_TYPES; type++)
		list_init(&ctx->objects[type]);
}

int context_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, int arena_fd, struct hca_context **result, int *uar_fd)
{
	struct hca_context *ctx;
	int err;

	if (hello->device >= (uint32_t)machine->settings.devices)
		return -ENOENT;
	/* A 32-bit daemon could not even name the places in such a program. */
	if ((uintptr_t)hello->probe != hello->probe)
		return -EOVERFLOW;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	init_context(ctx, &machine->device[hello->device]);
	err = numtab_init(&ctx->handles, 0, HANDLES, 0, HANDLES);
	if (err)
		goto out_context;
	err = map_uar(ctx, uar_fd);
	if (err)
		goto out_numbers;
	err = client_open(&ctx->client, &machine->clients, sock, pid, hello->probe);
	if (err)
		goto out_uar;
	map_arena(ctx, hello, arena_fd);
	list_add(&ctx->device->contexts, &ctx->link);
	*result = ctx;
	return 0;

out_uar:
	munmap(ctx->uar, SOFTHCA_UAR_LEN);
	close(*uar_fd);
out_numbers:
	numtab_free(&ctx->handles);
out_context:
	free(ctx);
	return err;
}

void context_destroy(struct hca_context *ctx)
{
	object_destroy_all(ctx);
	ctx->async = NULL;
	list_for_each_safe(struct hca_channel, channel, &ctx->channels, link)
		channel_free(channel);
	client_close(&ctx->client);
	munmap(ctx->uar, SOFTHCA_UAR_LEN);
	if (ctx->arena)
		munmap(ctx->arena, (size_t)ctx->arena_size);
	numtab_free(&ctx->handles);
	list_del(&ctx->link);
	free(ctx);
}
