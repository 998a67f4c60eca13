/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca stop` and `status`, and all questions to the running daemon. */
#include "cli.h"

#include <dir.h>
#include <message.h>
#include <proto.h>
#include <server/server.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds in which the daemon must answer, and must end after `stop`. */
#define ANSWER_SECONDS 10

int cli_connect(char directory[DIR_MAX + 1])
{
	int err = dir_find(directory);
	int sock;

	if (err)
		return err;
	sock = message_connect(directory, 1);
	return sock == -EAGAIN ? -ETIMEDOUT : sock;
}

static int send_words(int sock, int count, char **words)
{
	char text[SOFTHCA_MAX_COMMAND];
	size_t at = 0;

	for (int i = 0; i < count; i++) {
		size_t length = strlen(words[i]) + 1;

		if (length > sizeof(text) - at)
			return -EMSGSIZE;
		memcpy(text + at, words[i], length);
		at += length;
	}
	return message_ask(sock, SOFTHCA_CONTROL, text, at);
}

/* A daemon that rejects the greeting answers without a text. */
int cli_receive(int sock, struct softhca_welcome *reply, int *fd)
{
	ssize_t got = -EAGAIN;

	for (int i = 0; got == -EAGAIN && i < ANSWER_SECONDS; i++) {
		got = message_receive(sock, reply, sizeof(*reply), fd, 0);
		if (got == -EAGAIN && home_daemon_is_stopped(sock))
			break;
	}
	if (got < 0)
		return got == -EAGAIN ? -ETIMEDOUT : (int)got;
	return (size_t)got == sizeof(*reply) ? 0 : -EPROTO;
}

int cli_daemon_is_silent(int status, const char *directory)
{
	return cli_refuse(status, "the daemon in %s does not answer; is it stopped?", directory);
}

int cli_daemon_refuses(const char *directory, int err)
{
	return cli_refuse(CLI_FAILED, "the daemon in %s refuses: %s", directory, strerror(-err));
}

static void print_text(int fd, FILE *out)
{
	char block[4096];
	ssize_t got;

	lseek(fd, 0, SEEK_SET);
	while ((got = read(fd, block, sizeof(block))) > 0)
		fwrite(block, 1, (size_t)got, out);
	close(fd);
}

int cli_ask(int count, char **words)
{
	struct softhca_welcome reply = { 0 };
	char directory[DIR_MAX + 1];
	int text = -1;
	int sock = cli_connect(directory);
	int err;

	if (sock < 0)
		return sock;
	err = send_words(sock, count, words);
	if (err == -EMSGSIZE)
		err = cli_refuse(ASK_REFUSED, "the words are too long for the daemon");
	if (!err)
		err = cli_receive(sock, &reply, &text);
	close(sock);
	if (err)
		return err;
	if (reply.status == -EINPROGRESS) {
		close(text);
		return -EINPROGRESS;
	}
	if (text >= 0 && reply.status)
		fputs("softhca: ", stderr);
	if (text >= 0)
		print_text(text, reply.status ? stderr : stdout);
	else if (reply.status)
		cli_daemon_refuses(directory, reply.status);
	return reply.status ? ASK_REFUSED : 0;
}

int cli_report(int err)
{
	char directory[DIR_MAX + 1];

	if (!err)
		return CLI_OK;
	if (err == ASK_REFUSED)
		return CLI_FAILED;
	if (dir_default(directory))
		return cli_refuse(CLI_FAILED,
				  "%s: the daemon's directory is an absolute path of at most %d bytes, since its socket has a short name",
				  dir_variable(), DIR_MAX);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return cli_refuse(CLI_FAILED, "no daemon in %s; 'softhca start' starts one",
				  directory);
	if (err == -ETIMEDOUT)
		return cli_daemon_is_silent(CLI_FAILED, directory);
	if (err == -EPERM)
		return cli_refuse(
			CLI_FAILED,
			"%s is another user's, or open to others; name another directory with SOFTHCA_DIR",
			directory);
	return cli_refuse(CLI_FAILED, "%s: %s", directory, strerror(-err));
}

int cli_status(int argc, char **argv)
{
	int status = cli_options(argc, argv, NULL, NULL);

	return status == CLI_GO_ON ? cli_report(cli_ask(1, argv)) : status;
}

int cli_stop(int argc, char **argv)
{
	char directory[DIR_MAX + 1];
	int err, status = cli_options(argc, argv, NULL, NULL);

	if (status != CLI_GO_ON)
		return status;
	err = dir_default(directory);
	if (!err)
		err = cli_ask(1, argv);
	if (err)
		return cli_report(err);
	/* Return only when a new `start` would succeed. */
	for (int i = 0; i < ANSWER_SECONDS * 100 && !home_is_free(directory); i++)
		usleep(10000);
	return home_is_free(directory)
		       ? CLI_OK
		       : cli_refuse(CLI_FAILED, "%s: the daemon does not end", directory);
}
