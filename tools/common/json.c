/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes JSON with one member per line, for people and for diff(1). */
#include "common.h"

/* The length of the characters that need no escape. */
static size_t plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	return length;
}

/* The length of what was quoted. */
static size_t quote_special(FILE *out, const char *text)
{
	unsigned char byte = (unsigned char)*text;
	size_t length = text_character(text);

	if (byte == '"' || byte == '\\')
		fprintf(out, "\\%c", byte);
	else if (length)
		fwrite(text, 1, length, out);
	else /* replace bytes that are no UTF-8 by U+FFFD, so that the document stays valid */
		fprintf(out, "\\u%04x", byte < 0x80 ? byte : 0xfffdU);
	return length ? length : 1;
}

static void quote(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		size_t plain = plain_length(text);

		fwrite(text, 1, plain, out);
		text += plain;
		if (*text)
			text += quote_special(out, text);
	}
	fputc('"', out);
}

/* Begins a line, indented by the depth of the value. */
static void new_line(const struct json *json)
{
	static const char line[] = "\n                                ";
	size_t length = 1 + 2 * (size_t)json->depth;

	fwrite(line, 1, length < sizeof(line) ? length : sizeof(line) - 1, json->out);
}

/* Writes the separator between two values. */
static void separate(struct json *json, const char *key)
{
	if (json->depth && !json->first)
		fputc(',', json->out);
	if (json->depth)
		new_line(json);
	json->first = false;
	if (key) {
		quote(json->out, key);
		fputs(": ", json->out);
	}
}

void json_open(struct json *json, const char *key, char bracket)
{
	separate(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->first = true;
}

void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (!json->first)
		new_line(json);
	fputc(bracket, json->out);
	json->first = false;
	if (!json->depth)
		fputc('\n', json->out);
}

void json_string(struct json *json, const char *key, const char *value)
{
	separate(json, key);
	if (value)
		quote(json->out, value);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	separate(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_number(struct json *json, const char *key, long long value)
{
	separate(json, key);
	fprintf(json->out, "%lld", value);
}
