/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A process of the other word size. It enters two QPs, prints a line, and waits:
 * writer DIRECTORY DOMAIN.
 */

#include <stdlib.h>
#include <unistd.h>

#include <compat/regtab.h>

int main(int argc, char **argv)
{
	struct regtab_key key = { .device = "mlx4_0", .guid = 1, .st_dev = 1 };
	struct regtab_entry *entry;
	struct regtab_news news;

	if (argc != 3)
		return 2;
	key.st_ino = strtoul(argv[2], NULL, 10);
	entry = regtab_new(argv[1], &key, "writer");
	if (!regtab_refresh(entry, &news) || regtab_enter(entry, 7, true) ||
	    regtab_enter(entry, 0xffffff, false))
		return 1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
