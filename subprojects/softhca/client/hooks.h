/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For the files with the functions that the preload interposes. Calls that are not ours go to the
 * next definition.
 */
#ifndef SOFTHCA_CLIENT_HOOKS_H
#define SOFTHCA_CLIENT_HOOKS_H

#include "client.h"

#include <lookup/lookup.h>
#include <own/real.h>

#define HOOK __attribute__((visibility("default")))

/* The path as it is in the emulated machine; valid until the block ends. */
#define REDIRECTED(path) place_redirect(path, (char[512]){ 0 }, 512)

#endif
