/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which descriptors the process holds and how many it may. libc-only.
 */
#ifndef CORDON_PROXY_DESCRIPTORS_H
#define CORDON_PROXY_DESCRIPTORS_H

#include <stdint.h>

/* Closes every descriptor from `first` up but `spared` (-1: none). */
void cordon_descriptors_close_from(int first, int spared);

/* Raises the soft limit to the hard one and returns it, at most `most`. */
uint32_t cordon_descriptors_raise(uint32_t most);

#endif
