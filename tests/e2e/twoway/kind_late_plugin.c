/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A plugin that looks up a function of receive QPs when the program calls the plugin. */

#include <dlfcn.h>

void *plugin_look(void *library);

__attribute__((visibility("default"))) void *plugin_look(void *library)
{
	return dlsym(library, "ibv_reg_xrc_rcv_qp");
}
