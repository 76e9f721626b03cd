/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine can do, remembered between runs: asking costs Podman half a second (it runs other
 * programs to tell their versions), more than anything else in a run. The memory holds for one
 * life of one daemon: same socket (device, inode, change time), same versions, same boot.
 *
 * SECURITY: these facts choose mechanisms, they waive nothing. A limit that an engine is wrongly
 * remembered to enforce shows up as a create warning or a differing fact and refuses the run; one
 * that it is wrongly remembered not to enforce could only come from a file that the caller alone
 * may write.
 */
#ifndef CORDON_ENGINE_CACHE_H
#define CORDON_ENGINE_CACHE_H

#include "engine.h"

/*
 * Fills facts from the file for this endpoint, if there is one that still holds.
 * @param folder    the caller's private state folder, or NULL: nothing is remembered
 * @param identity  what the daemon said when it was opened: version and API
 * @return true if *ret_facts was filled
 */
bool cordon_engine_cache_load(const char *folder, const char *socket_path, const char *identity,
                              cordon_engine_facts *ret_facts);

/* Remembers facts; failing to do so is no failure of anything else. */
void cordon_engine_cache_save(const char *folder, const char *socket_path, const char *identity,
                              const cordon_engine_facts *facts);

#endif
