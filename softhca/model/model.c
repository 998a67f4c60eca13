/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The list of models. */
#include "model.h"

#include <string.h>

const struct model *const models[] = { &connectx3, &connectx5, NULL };

const struct model *model_find(const char *name)
{
	for (size_t i = 0; models[i]; i++) {
		if (!strcmp(models[i]->name, name))
			return models[i];
	}
	return NULL;
}

uint32_t model_pow2(uint32_t value)
{
	uint32_t power = 1;

	while (power < value && power < 0x80000000u)
		power <<= 1;
	return power;
}
