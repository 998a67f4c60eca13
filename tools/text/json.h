/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* JSON, written value by value. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;	/* NULL: the command prints text, and nothing is written here */
	int depth;
	bool first; /* nothing has been written in the innermost object or array yet */
};

/* @key is NULL for the outermost value and inside arrays. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* NULL and "" become null. */
void json_string(struct json *json, const char *key, const char *value);
void json_bool(struct json *json, const char *key, bool value);
void json_number(struct json *json, const char *key, long long value);
void json_microseconds(struct json *json, const char *key, uint64_t nanoseconds);

#endif
