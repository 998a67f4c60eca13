/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Opens libraries by their development names, as HP-MPI and Platform MPI do: opens them all, checks
 * the adapter, closes them all; later each rank opens them again and looks the XRC verbs up.
 *
 * usage: opened [NAME...]     only opens libraries; without a name it does all of the above
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRAM "opened"
#include "../../holds.h"

#define ROUNDS 3

static void *open_library(const char *name)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);

	if (handle)
		return handle;
	printf("%s\n", dlerror());
	exit(1);
}

static void *look_up(void *handle, const char *name)
{
	void *function = dlsym(handle, name);

	if (function)
		return function;
	printf("%s: %s\n", name, dlerror());
	exit(1);
}

#define LOOK_UP(handle, name) \
	__typeof__(name) *name##_fn = (__typeof__(name) *)look_up(handle, #name)

static void check_card(void)
{
	void *handle = open_library("libibverbs.so");
	LOOK_UP(handle, ibv_get_device_list);
	int count = 0;
	struct ibv_device **list = ibv_get_device_list_fn(&count);

	HOLDS(list && count > 0);
	HOLDS(list[0]->transport_type == IBV_TRANSPORT_IB);
	dlclose(handle);
}

static void use_xrc(void)
{
	void *handle = open_library("libibverbs.so");
	LOOK_UP(handle, ibv_get_device_list);
	LOOK_UP(handle, ibv_open_device);
	LOOK_UP(handle, ibv_close_device);
	LOOK_UP(handle, ibv_open_xrc_domain);
	LOOK_UP(handle, ibv_create_xrc_rcv_qp);
	LOOK_UP(handle, ibv_unreg_xrc_rcv_qp);
	LOOK_UP(handle, ibv_close_xrc_domain);
	struct ibv_context *context = ibv_open_device_fn(ibv_get_device_list_fn(NULL)[0]);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_XRC };
	uint32_t number = 0;

	HOLDS(context);
	attr.xrc_domain = ibv_open_xrc_domain_fn(context, -1, O_CREAT);
	HOLDS(attr.xrc_domain);
	HOLDS(!ibv_create_xrc_rcv_qp_fn(&attr, &number) && number > 1);
	HOLDS(!ibv_unreg_xrc_rcv_qp_fn(attr.xrc_domain, number));
	HOLDS(!ibv_close_xrc_domain_fn(attr.xrc_domain));
	HOLDS(!ibv_close_device_fn(context));
	dlclose(handle);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		dlclose(open_library(argv[i]));
	for (int i = 0; argc == 1 && i < ROUNDS; i++) {
		check_card();
		use_xrc();
	}
	puts("all right");
	return 0;
}
