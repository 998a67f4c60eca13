/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes JSON with one member per line, for people and for diff(1). */
#include "json.h"
#include "text.h"

/* Escapes control characters. U+FFFD stands for a byte that is of no printable character. */
static size_t quote_character(FILE *out, const char *text)
{
	size_t length = text_character(text);

	if (!length)
		fprintf(out, "\\u%04x", (*text & 0x80) ? 0xfffdU : (unsigned int)*text);
	else
		fprintf(out, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", (int)length, text);
	return length ? length : 1;
}

/* Writes plain characters at once: a trace has thousands of them for each call. */
static void quote(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	while (*text) {
		size_t length = 0;

		while (text[length] >= ' ' && text[length] < 0x7f && text[length] != '"' &&
		       text[length] != '\\')
			length++;
		fwrite_unlocked(text, 1, length, out);
		text += length;
		if (*text)
			text += quote_character(out, text);
	}
	putc_unlocked('"', out);
}

/* Begins a line, indented by the depth of the value. In one write: a trace has many lines. */
static void new_line(const struct json *json)
{
	static const char line[] = "\n                                ";
	size_t length = 1 + 2 * (size_t)json->depth;

	fwrite_unlocked(line, 1, length < sizeof(line) ? length : sizeof(line) - 1, json->out);
}

/* Writes what stands before a value. False if nothing is written at all. */
static bool begin_value(struct json *json, const char *key)
{
	if (!json->out)
		return false;
	if (json->depth && !json->first)
		putc_unlocked(',', json->out);
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
	putc_unlocked(bracket, json->out);
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
	putc_unlocked(bracket, json->out);
	json->first = false;
	if (!json->depth)
		putc_unlocked('\n', json->out);
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (!begin_value(json, key))
		return;
	if (value && value[0])
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

void json_microseconds(struct json *json, const char *key, uint64_t nanoseconds)
{
	if (begin_value(json, key))
		fprintf(json->out, "%llu.%03u", (unsigned long long)(nanoseconds / 1000),
			(unsigned int)(nanoseconds % 1000));
}
