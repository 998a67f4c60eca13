/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Doubly linked lists whose links are members of what they link. */
#ifndef SOFTHCA_LIST_H
#define SOFTHCA_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define container_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
	list->next = list->prev = list;
}

static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_add(struct list *list, struct list *node)
{
	node->prev = list->prev;
	node->next = list;
	list->prev->next = node;
	list->prev = node;
}

/* Leaves @node as an empty list of itself, so that taking it off twice does no harm. */
static inline void list_del(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

#define list_for_each(node, head) \
	for (struct list *node = (head)->next; (node) != (head); (node) = (node)->next)

/* The body may take @node off the list. */
#define list_for_each_safe(node, after, head) \
	for (struct list *node = (head)->next, *after = node->next; (node) != (head); \
	     (node) = after, after = (node)->next)

#endif
