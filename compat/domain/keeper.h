/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The door of owner/: what becomes of receive QPs on devices whose kernel does not share them (qedr). There the process
 * that made a QP keeps it until nobody is registered, and does for the others what needs a handle.
 */
#ifndef COMPAT_KEEPER_H
#define COMPAT_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct domain;
struct ibv_context;
struct rcv_qp;
struct rcv_qp_request;

/** keeper_add - a QP that this device has just made: without being in the table nobody can register with it. */
int keeper_add(struct core *core, uint32_t qp_num);

/** keeper_register - with a QP that another process, or device, keeps. -EINVAL: there is none, or its owner has ended. */
int keeper_register(struct core *core, uint32_t qp_num);

/**
 * keeper_register_again - what this device is registered with may have gone with its owner, and the number be another
 * QP's by now.
 */
int keeper_register_again(struct core *core, uint32_t qp_num);

/**
 * keeper_unregister - a QP that this device has made is kept for the others until nobody is registered with it. A
 * -errno leaves it registered.
 */
int keeper_unregister(struct core *core, const struct rcv_qp *rcv_qp);

/** keeper_find - a QP that is kept for others though this device is not registered with it. Lock held. */
struct rcv_qp *keeper_find(const struct core *core, uint32_t qp_num);

/** keeper_ask - have the owner of a QP modify or query it; the answer is in request->attr. */
int keeper_ask(struct core *core, uint32_t qp_num, struct rcv_qp_request *request);

/** keeper_abandon - the application is done with a domain in which something is kept: it ends after that. Lock held. */
void keeper_abandon(struct domain *domain);

/**
 * keeper_keep_device - the application has closed a device with abandoned domains: it is closed after them. False: no
 * memory, close it now. Lock held.
 */
bool keeper_keep_device(struct ibv_context *context);

/** keeper_forked - in a forked child: no other thread uses what is kept. Lock held. */
void keeper_forked(struct core *core);

/** keeper_close - answer no more; before the table is left. */
void keeper_close(struct core *core);

#endif
