/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes JSON with one member per line, for people and for diff(1). */
#include "common.h"

/* U+FFFD stands for a byte that is no UTF-8, so that the document stays valid. */
static void quote(FILE *out, const char *text)
{
	fputc('"', out);
	for (size_t length; *text; text += length ? length : 1) {
		length = text_character(text);
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if (length == 1)	/* most are, and a trace has thousands for each call */
			putc_unlocked(*text, out);
		else if (length)
			fwrite(text, 1, length, out);
		else
			fprintf(out, "\\u%04x", (*text & 0x80) ? 0xfffdU : (unsigned int)*text);
	}
	fputc('"', out);
}

/* Begins a line, indented by the depth of the value. */
static void new_line(const struct json *json)
{
	fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

/* Writes what stands before a value. False if nothing is written at all. */
static bool begin_value(struct json *json, const char *key)
{
	if (!json->out)
		return false;
	if (json->depth && !json->first)
		fputc(',', json->out);
	if (json->depth)
		new_line(json);
	json->first = false;
	if (key) {
		quote(json->out, key);
		fputs(": ", json->out);
	}
	return true;
}

void json_open(struct json *json, const char *key, char bracket)
{
	if (!begin_value(json, key))
		return;
	fputc(bracket, json->out);
	json->depth++;
	json->first = true;
}

void json_close(struct json *json, char bracket)
{
	if (!json->out)
		return;
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
	if (!begin_value(json, key))
		return;
	if (value)
		quote(json->out, value);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	if (begin_value(json, key))
		fputs(value ? "true" : "false", json->out);
}

void json_number(struct json *json, const char *key, long long value)
{
	if (begin_value(json, key))
		fprintf(json->out, "%lld", value);
}
