/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What others find in a library or program here. */
#ifndef DOOR_VISIBLE_H
#define DOOR_VISIBLE_H

#define DOOR_VISIBLE __attribute__((visibility("default")))

#endif
