/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeds the file CORDON_GUARD_FILE. The build names it as a dependency of this source.
 */
#include "gate/blob.h"

#if __SIZEOF_SIZE_T__ == 8
#define SIZE_DIRECTIVE ".quad"
#else
#define SIZE_DIRECTIVE ".long"
#endif

/* Hidden: part of the library, not of its interface. */
__asm__(".pushsection .rodata.cordon_guard, \"a\"\n"
        ".balign 16\n"
        ".globl cordon_guard_bytes\n"
        ".hidden cordon_guard_bytes\n"
        ".type cordon_guard_bytes, %object\n"
        "cordon_guard_bytes:\n"
        ".incbin \"" CORDON_GUARD_FILE "\"\n"
        ".Lcordon_guard_end:\n"
        ".size cordon_guard_bytes, .Lcordon_guard_end - cordon_guard_bytes\n"
        ".balign 8\n"
        ".globl cordon_guard_size\n"
        ".hidden cordon_guard_size\n"
        ".type cordon_guard_size, %object\n"
        ".size cordon_guard_size, 8\n"
        "cordon_guard_size:\n" SIZE_DIRECTIVE " .Lcordon_guard_end - cordon_guard_bytes\n"
        ".popsection\n");
