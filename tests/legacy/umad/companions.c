/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Calls functions of libibcm, and those of libibcommon on the files lid, guid and gid of a
 * directory. Prints a line for each function: its name, its result, and what it wrote.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void *ib_cm_open_device(void *context);
int ib_cm_listen(void);

int sys_read_uint(char *directory, char *name, unsigned int *value);
int sys_read_guid(char *directory, char *name, uint64_t *guid);
int sys_read_gid(char *directory, char *name, uint8_t *gid);
int sys_read_string(char *directory, char *name, char *text, int size);
void xdump(FILE *file, char *message, void *data, int size);
uint32_t fhash(uint8_t *data, int size, uint32_t start);
void ibwarn(const char *function, char *format, ...);
void ibpanic(const char *function, char *format, ...);

static void use_cm(void)
{
	int result;

	if (!ib_cm_open_device(NULL))
		printf("ib_cm_open_device: %s\n", strerror(errno));
	errno = 0;
	result = ib_cm_listen();
	printf("ib_cm_listen: %d %s\n", result, strerror(errno));
}

static void read_strings(char *folder)
{
	char cut[4], whole[8], name[256] = { 0 };
	int result = sys_read_string(folder, "guid", cut, sizeof(cut));

	printf("sys_read_string with too little room: %d %s\n", result, cut);
	result = sys_read_string(folder, "lid", whole, sizeof(whole));
	printf("sys_read_string: %d %s.\n", result, whole);
	memset(name, 'n', sizeof(name) - 1);
	result = sys_read_string(folder, name, whole, sizeof(whole));
	printf("sys_read_string of a path that is too long: %d\n", result);
}

static void read_numbers(char *folder)
{
	unsigned int number = 0;
	int result = sys_read_uint(folder, "lid", &number);

	printf("sys_read_uint: %d %u\n", result, number);
	printf("sys_read_uint of a missing file: %d\n", sys_read_uint(folder, "no", &number));
}

static void read_addresses(char *folder)
{
	uint8_t gid[16];
	uint64_t guid;

	printf("sys_read_guid: %d ", sys_read_guid(folder, "guid", &guid));
	xdump(stdout, "xdump ", &guid, sizeof(guid));
	printf("sys_read_guid of a number: %d\n", sys_read_guid(folder, "lid", &guid));
	printf("sys_read_gid: %d ", sys_read_gid(folder, "gid", gid));
	xdump(stdout, "", gid, sizeof(gid));
	printf("fhash of other bytes: %s\n",
	       fhash(gid, 16, 0) != fhash(gid, 15, 0) ? "differs" : "is the same");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	use_cm();
	read_strings(argv[1]);
	read_numbers(argv[1]);
	read_addresses(argv[1]);
	ibwarn("main", "%d", 7);
	ibpanic("main", "end");
	return 0;
}
