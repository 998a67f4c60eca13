// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in debugfs, folder xrc_lab:
 *	objects	one line per object: device, kind, number, process that made it
 *	event	takes "DEVICE qp|srq NUMBER EVENT" and raises the event (its number in enum ibv_event_type) on that object
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "lab.h"

static struct dentry *folder;

static bool show_object(struct lab_object *object, void *argument)
{
	seq_printf(argument, "%s %s 0x%06x %d\n", dev_name(&object->device->ib.dev), lab_kind_names[object->kind],
		   object->number, object->pid);
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

static bool raise_here(struct lab_object *object, void *argument)
{
	const struct raise *raise = argument;
	struct ib_event event = { .device = &object->device->ib, .event = raise->event };

	if (object->device != raise->device || object->kind != raise->kind || object->number != raise->number)
		return false;
	if (object->kind == LAB_QP)
		raise_on_qp(container_of(object, struct lab_qp, object), &event);
	else
		raise_on_srq(container_of(object, struct lab_srq, object), &event);
	return true;
}

static int parse(char *text, struct raise *raise)
{
	char device[32], kind[8];
	unsigned int event;

	if (sscanf(text, "%31s %7s %i %u", device, kind, &raise->number, &event) != 4)
		return -EINVAL;
	raise->device = lab_device_named(device);
	raise->kind = strcmp(kind, "srq") ? LAB_QP : LAB_SRQ;
	raise->event = event;
	return raise->device ? 0 : -ENODEV;
}

static ssize_t event_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct raise raise;
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
	debugfs_create_file("event", 0222, folder, NULL, &event_fops);
	return 0;
}

void lab_control_stop(void)
{
	debugfs_remove_recursive(folder);
}
