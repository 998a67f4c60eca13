/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asks the kernel, through libibverbs, for the states of receive QPs, in a process of its own. */
#include "qp_state.h"
#include "domain_path.h"
#include "tools/common/aside.h"
#include "tools/common/verbs.h"
#include "tools/program/needs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct answer {
	unsigned int qp;
	int state;
};

struct asking {
	const struct regtab_view *view;
	int *states;
};

/* Name and GUID must match: another device may have the name now. */
static bool is_device(const struct verbs *verbs, struct ibv_device *device,
		      const struct regtab_key *key)
{
	struct stat st;

	return !strcmp(device->name, key->device) && verbs->get_device_guid(device) == key->guid &&
	       !stat(device->ibdev_path, &st) && st.st_ino == key->instance;
}

static struct ibv_context *open_device(const struct verbs *verbs, const struct regtab_key *key)
{
	struct ibv_device **list = verbs->get_device_list(NULL);

	for (; list && *list; list++) {
		if (is_device(verbs, *list, key))
			return verbs->open_device(*list);
	}
	return NULL;
}

static int ask_one(const struct verbs *verbs, struct ibv_xrcd *xrcd, uint32_t qp_num)
{
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp_num,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *qp = ibv_open_qp(xrcd->context, &open_attr);
	struct ibv_qp_init_attr init_attr = { 0 };
	struct ibv_qp_attr attr = { 0 };
	int err;

	if (!qp)
		return QP_STATE_UNKNOWN;
	/*
	 * The handle ends with this process: libmlx5 would crash if it had to destroy it
	 * (modern/tgt_qp.h).
	 */
	err = verbs->query_qp(qp, &attr, IBV_QP_STATE, &init_attr);
	return err ? QP_STATE_UNKNOWN : (int)attr.qp_state;
}

static bool give(void *out, unsigned int qp, int state)
{
	struct answer answer = { .qp = qp, .state = state };

	return aside_give(*(int *)out, &answer, sizeof(answer));
}

static int ask_all(const struct verbs *verbs, struct ibv_xrcd *xrcd, const struct regtab_view *view,
		   int out)
{
	for (unsigned int i = 0; i < view->qp_count; i++) {
		if (view->qps[i].live && !give(&out, i, ask_one(verbs, xrcd, view->qps[i].qp_num)))
			return EIO;
	}
	return 0;
}

/* Without O_CREAT: `ps` must not create a domain. */
static int ask_in_domain(const struct verbs *verbs, struct ibv_context *context,
			 const struct regtab_view *view, int fd, int out)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &attr);

	return xrcd ? ask_all(verbs, xrcd, view, out) : errno;
}

static int ask(void *context, int out)
{
	const struct regtab_view *view = ((const struct asking *)context)->view;
	struct ibv_context *device;
	struct verbs verbs;
	int fd = domain_open(view);

	if (fd < 0)
		return ENOENT;
	device = verbs_load(libibverbs_for_tools(), &verbs) && verbs.get_device_guid
			 ? open_device(&verbs, &view->key)
			 : NULL;
	if (!device)
		return ENODEV;
	return ask_in_domain(&verbs, device, view, fd, out);
}

static bool take(void *context, const void *record)
{
	const struct asking *asking = context;
	struct answer answer;

	memcpy(&answer, record, sizeof(answer));
	if (answer.qp >= asking->view->qp_count)
		return false;
	asking->states[answer.qp] = answer.state;
	return true;
}

void qp_states_read(const struct regtab_view *view, int *states, int milliseconds)
{
	struct asking asking = { view, states };
	const struct aside aside = { ask, take, &asking, sizeof(struct answer) };
	bool any = false;

	for (unsigned int i = 0; i < view->qp_count; i++) {
		states[i] = QP_STATE_UNKNOWN;
		any |= view->qps[i].live;
	}
	if (any && view->condition == REGTAB_IN_USE && milliseconds > 0)
		aside_do(&aside, milliseconds);
}

const char *qp_state_name(int state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return state >= 0 && state < (int)(sizeof(names) / sizeof(names[0])) ? names[state] : "";
}
