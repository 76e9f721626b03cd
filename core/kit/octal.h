/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's spelling of paths in mount tables (proc_pid_mountinfo(5)): blank, tab, newline and
 * backslash as three octal digits. libc-only.
 */
#ifndef CORDON_KIT_OCTAL_H
#define CORDON_KIT_OCTAL_H

/* Undoes "\\040" and the like, in place. What is no such escape stays as it is. */
void cordon_octal_decode(char *text);

#endif
