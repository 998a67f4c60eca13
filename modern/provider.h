/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The provider of a device, that is its user-space driver library. */
#ifndef MODERN_PROVIDER_H
#define MODERN_PROVIDER_H

#define PROVIDER_NAME_SIZE 16

/** provider_name - "mlx5", of the library libmlx5 that a function of the provider is in; "" if its file name does not tell. */
void provider_name(const void *function, char name[PROVIDER_NAME_SIZE]);

#endif
