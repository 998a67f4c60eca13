/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Address handles. */
#include "ah.h"
#include "object.h"

#include <stdlib.h>

struct hca_ah *ah_create(struct hca_pd *pd)
{
	struct hca_ah *ah = calloc(1, sizeof(*ah));

	if (!ah || object_add(pd->obj.ctx, &ah->obj, HCA_AH)) {
		free(ah);
		return NULL;
	}
	ah->pd = pd;
	pd->obj.uses++;
	return ah;
}

void ah_destroy(struct hca_ah *ah)
{
	ah->pd->obj.uses--;
	object_remove(&ah->obj);
	free(ah);
}
