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

/* Inserts @node before @list: at the end of the list whose head that is. */
static inline void list_add(struct list *list, struct list *node)
{
	node->prev = list->prev;
	node->next = list;
	list->prev->next = node;
	list->prev = node;
}

static inline unsigned int list_length(const struct list *list)
{
	unsigned int length = 0;

	for (const struct list *node = list->next; node != list; node = node->next)
		length++;
	return length;
}

/* Leaves @node as an empty list of itself, so that taking it off twice does no harm. */
static inline void list_del(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* Declares @var, which points to each structure in turn whose @member is in the list. */
#define list_for_each(type, var, head, member) \
	for (type *var = container_of((head)->next, type, member); &(var)->member != (head); \
	     (var) = container_of((var)->member.next, type, member))

/* The body may take @var off the list. */
#define list_for_each_safe(type, var, head, member) \
	for (type *var = container_of((head)->next, type, member), \
		  *after_##var = container_of((var)->member.next, type, member); \
	     &(var)->member != (head); \
	     (var) = after_##var, after_##var = container_of((var)->member.next, type, member))

#endif
