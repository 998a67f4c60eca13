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

#include <alloca.h>

#define HOOK __attribute__((visibility("default")))

/*
 * The path as it is in the emulated machine; valid until the function returns. An array here would
 * have to be initialized, which costs more than the test of most paths.
 */
#define REDIRECTED(path) place_redirect(path, alloca(512), 512)

#endif
