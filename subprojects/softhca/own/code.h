/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tells in which library's code an address is. */
#ifndef SOFTHCA_CODE_H
#define SOFTHCA_CODE_H

#include <stdbool.h>

/* Whether this address is in a library of libnl. Takes the loader's lock. */
bool is_in_libnl(const void *address);

enum provider { PROVIDER_MLX4, PROVIDER_MLX5 };

/* Looks where the providers have their code. */
void find_providers(void);
/* Whether this address was in the provider's at the last find_providers(). Takes no lock. */
bool is_in_provider(enum provider provider, const void *caller);

#endif
