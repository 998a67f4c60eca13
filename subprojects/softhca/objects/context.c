/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The life of a context. */
#include "objects.h"

#include <base/memfd.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The largest max_mr is smaller. An unused part of the table takes no memory. */
#define HANDLES (1u << 20)

/*
 * The doorbell page. The file's offset is at its end: a write() to a duplicate of the descriptor,
 * which the preload does not know, would make the file longer, and fails with EPERM.
 */
static int map_uar(struct hca_context *ctx, int *result)
{
	int fd = memfd_sealed("softhca-uar", (off_t)SOFTHCA_UAR_LEN * SOFTHCA_UAR_PAGES);
	int err;

	if (fd < 0)
		return fd;
	ctx->uar = mmap(NULL, SOFTHCA_UAR_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ctx->uar == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	lseek(fd, 0, SEEK_END);
	*result = fd;
	return 0;
}

static void init_context(struct hca_context *ctx, struct hca_device *device)
{
	ctx->device = device;
	ctx->processor = -1;
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
	if (machine->settings.arena)
		arena_map(&ctx->arena, arena_fd, hello->arena_pages);
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
	if (ctx->device->machine->reached == ctx)
		ctx->device->machine->reached = NULL;
	client_close(&ctx->client);
	munmap(ctx->uar, SOFTHCA_UAR_LEN);
	arena_unmap(&ctx->arena);
	numtab_free(&ctx->handles);
	list_del(&ctx->link);
	free(ctx);
}
