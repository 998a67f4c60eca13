/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Maps from the objects of a program to the library's own. */

#include <errno.h>
#include <stdbool.h>

#include <base/handle.h>

#include <harness/unit.h>

/* The map calls this malloc() (--wrap), or calloc(): gcc 16 makes that of malloc() and zeroes. */
static bool no_memory;
static struct handle_map *growing;
static const void *new_key;
static int allocations;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	if (growing)
		assert_null(handle_find(growing, new_key));
	return no_memory ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
	return __wrap_calloc(1, size);
}

static const void *key(uintptr_t number)
{
	return (const void *)number;
}

/* malloc() may be the program's own, and call a verb. It must find the map whole. */
TEST(a_map_has_no_new_key_while_it_allocates)
{
	struct handle_map map = { 0 };
	int object = 0;

	growing = &map;
	new_key = key(5);
	allocations = 0;
	assert_int_equal(handle_set(&map, key(5), &object), 0);
	growing = NULL;
	assert_int_equal(allocations, 1);
	handle_remove(&map, key(5), &object);
}

/*
 * A provider may reuse the address of a destroyed object before the thread that destroyed it has
 * removed it from the map.
 */
TEST(removing_the_old_object_of_a_key_keeps_the_new_one)
{
	struct handle_map map = { 0 };
	int old = 0, young = 0;

	assert_int_equal(handle_set(&map, key(5), &old), 0);
	assert_int_equal(handle_set(&map, key(5), &young), 0);
	handle_remove(&map, key(5), &old);
	assert_ptr_equal(handle_find(&map, key(5)), &young);
	handle_remove(&map, key(5), &young);
	assert_null(map.root);
}

/* The old object has been freed by then. If the call failed, the map would still lead to it. */
TEST(giving_a_key_a_new_object_needs_no_memory)
{
	struct handle_map map = { 0 };
	int old = 0, young = 0;

	assert_int_equal(handle_set(&map, key(5), &old), 0);
	no_memory = true;
	assert_int_equal(handle_set(&map, key(5), &young), 0);
	assert_int_equal(handle_set(&map, key(6), &young), -ENOMEM);
	no_memory = false;
	assert_ptr_equal(handle_find(&map, key(5)), &young);
	assert_null(handle_find(&map, key(6)));
	handle_remove(&map, key(5), &young);
	assert_null(map.root);
}

UNIT_MAIN(NULL, NULL)
