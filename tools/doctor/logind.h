/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What systemd-logind does to the shared memory of users who have logged out. */
#ifndef XRC_COMPAT_TOOLS_LOGIND_H
#define XRC_COMPAT_TOOLS_LOGIND_H

#include <stdbool.h>

/* Whether it is to remove it (RemoveIPC), by its configuration files. */
bool logind_removes_ipc(void);

#endif
