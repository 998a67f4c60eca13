/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Automatic path migration: connected QPs that change over to their alternate path (InfiniBand
 * specification 17.2.8).
 */
#ifndef SOFTHCA_PATH_H
#define SOFTHCA_PATH_H

#include <softhca/machine/hca.h>

/*
 * To the alternate path, with the event. False when the QP is not armed, and when the alternate
 * port is down, which is the other event.
 */
bool path_migrate(struct hca_qp *qp);

/* A port has gone down: QPs that are armed on it migrate. */
void path_leave(struct hca_device *device, uint8_t port);

/* What @qp sends arrives on the path that @peer uses, and is answered there. */
bool path_used(const struct hca_qp *peer, const struct hca_qp *qp);

/* @qp has migrated, and what it sends arrives on the alternate path of @peer, which is armed. */
bool path_offered(const struct hca_qp *peer, const struct hca_qp *qp);

/* A packet of @qp has reached @peer: the one follows the other, or both become armed. */
void path_met(struct hca_qp *peer, struct hca_qp *qp);

#endif
