/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which descriptors the process holds and how many it may. libc-only.
 */
#ifndef CORDON_PROXY_DESCRIPTORS_H
#define CORDON_PROXY_DESCRIPTORS_H

#include <stdint.h>

/* Closes every descriptor from `first` up but `spared` (-1: none). */
void cordon_descriptors_close_from(int first, int spared);

/* The lowest open descriptor from `first` up, as far as a sane process could have any; -1: none. */
int cordon_descriptors_first_from(int first);

/* Raises the soft limit to the hard one and returns it, at most `most`. */
uint32_t cordon_descriptors_raise(uint32_t most);

#endif
