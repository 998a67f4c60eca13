// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in debugfs, folder xrc_lab:
 *	objects		one line per object: device, kind, number, process that made it
 *	DEVICE/event	takes "qp|srq|cq NUMBER EVENT" and raises the event (its number in enum ibv_event_type) on that object
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "lab.h"

static struct dentry *folder;

static bool show_object(struct lab_object *object, void *argument)
{
	const char *kind = lab_kind_names[object->kind];

	if (object->kind == LAB_QP && container_of(object, struct lab_qp, object)->ib.qp_type == IB_QPT_XRC_TGT)
		kind = "target";
	seq_printf(argument, "%s %s 0x%06x %d\n", dev_name(&object->device->ib.dev), kind, object->number, object->pid);
	return false;
}

static int objects_show(struct seq_file *file, void *unused)
{
	lab_objects(show_object, file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

struct raise {
	struct lab_device *device;
	enum lab_kind kind;
	u32 number;
	enum ib_event_type event;
};

static void raise_on_qp(struct lab_qp *qp, struct ib_event *event)
{
	event->element.qp = &qp->ib;
	if (qp->ib.event_handler)
		qp->ib.event_handler(event, qp->ib.qp_context);
}

static void raise_on_srq(struct lab_srq *srq, struct ib_event *event)
{
	event->element.srq = &srq->ib;
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		srq->limit = 0;
	if (srq->ib.event_handler)
		srq->ib.event_handler(event, srq->ib.srq_context);
}

static void raise_on_cq(struct lab_cq *cq, struct ib_event *event)
{
	event->element.cq = &cq->ib;
	if (cq->ib.event_handler)
		cq->ib.event_handler(event, cq->ib.cq_context);
}

static bool raise_here(struct lab_object *object, void *argument)
{
	const struct raise *raise = argument;
	struct ib_event event = { .device = &object->device->ib, .event = raise->event };

	if (object->device != raise->device || object->kind != raise->kind || object->number != raise->number)
		return false;
	if (object->kind == LAB_QP)
		raise_on_qp(container_of(object, struct lab_qp, object), &event);
	else if (object->kind == LAB_SRQ)
		raise_on_srq(container_of(object, struct lab_srq, object), &event);
	else
		raise_on_cq(container_of(object, struct lab_cq, object), &event);
	return true;
}

static int parse(const char *text, struct raise *raise)
{
	static const enum lab_kind kinds[] = { LAB_QP, LAB_SRQ, LAB_CQ };
	char kind[8];
	unsigned int event, i;

	if (sscanf(text, "%7s %i %u", kind, &raise->number, &event) != 3)
		return -EINVAL;
	raise->event = event;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kind, lab_kind_names[kinds[i]])) {
			raise->kind = kinds[i];
			return 0;
		}
	}
	return -EINVAL;
}

static ssize_t event_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct raise raise = { .device = file->private_data };
	char text[80];
	int error;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = '\0';
	error = parse(text, &raise);
	if (error)
		return error;
	return lab_objects(raise_here, &raise) ? size : -ENOENT;
}

static const struct file_operations event_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = event_write,
};

int lab_control_start(void)
{
	folder = debugfs_create_dir("xrc_lab", NULL);
	debugfs_create_file("objects", 0444, folder, NULL, &objects_fops);
	return 0;
}

void lab_control_add(struct lab_device *device)
{
	device->control = debugfs_create_dir(dev_name(&device->ib.dev), folder);
	debugfs_create_file("event", 0222, device->control, device, &event_fops);
}

void lab_control_stop(void)
{
	debugfs_remove_recursive(folder);
}
