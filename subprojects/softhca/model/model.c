/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The list of models, and what they have in common. */
#include "model.h"

#include <endian.h>
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

uint8_t model_vendor_err(uint8_t syndrome)
{
	static const uint8_t codes[] = {
		[SYNDROME_LOCAL_LENGTH] = 0x69, [SYNDROME_LOCAL_QP_OP] = 0x68,
		[SYNDROME_LOCAL_PROT] = 0x51,
		[SYNDROME_REMOTE_INVALID] = 0x8a, [SYNDROME_REMOTE_ACCESS] = 0x88,
		[SYNDROME_REMOTE_OP] = 0x89,
		[SYNDROME_RETRY_EXCEEDED] = 0x81, [SYNDROME_RNR_EXCEEDED] = 0x87,
	};

	return syndrome < sizeof(codes) ? codes[syndrome] : 0;
}

uint32_t model_pow2(uint32_t value)
{
	uint32_t power = 1;

	while (power < value && power < 0x80000000u)
		power <<= 1;
	return power;
}

/* sequence << 28 | command << 24 | consumer index */
struct arm_request model_arm(const struct model *model, uint32_t word)
{
	uint32_t host = be32toh(word);

	return (struct arm_request){ model->arm[host >> 24 & 15], (int)(host >> 28 & 3),
				     host & 0xffffff };
}

void model_put_part(struct driver_part *out, const void *part, size_t size)
{
	memcpy(out->bytes, part, size);
	out->size = size;
}
