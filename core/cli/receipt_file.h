/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the receipt where --receipt says, and the diff where --diff says: checked before a run
 * begins, written whole after it ended, or not at all.
 */
#ifndef CORDON_CLI_RECEIPT_FILE_H
#define CORDON_CLI_RECEIPT_FILE_H

#include "kit/cleanup.h"
#include "kit/error.h"

typedef struct cordon_cli_receipt_file cordon_cli_receipt_file;

/*
 * Opens the folder and looks at what is there. Nothing is created.
 * @param path  "-" is standard error
 * @return 0, or -1 with CONFIG: no such folder, not writable, or something that is no plain file
 *         stands at that name (a link, a device, a folder)
 */
int cordon_cli_receipt_file_open(const char *path, cordon_cli_receipt_file **ret_file,
                                 cordon_err *err) __attribute__((warn_unused_result));
void cordon_cli_receipt_file_free(cordon_cli_receipt_file *file);
CORDON_DEFINE_AUTO_PTR(cordon_cli_receipt_file, cordon_cli_receipt_file_free)

/* The same for what another option says; its name is for messages. The bytes, and no newline. */
int cordon_cli_out_file_open(const char *path, const char *option,
                             cordon_cli_receipt_file **ret_file, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_cli_out_file_write(const cordon_cli_receipt_file *file, const char *bytes, size_t length,
                              cordon_err *err) __attribute__((warn_unused_result));

/*
 * Writes json and a newline into a new file of mode 0600 and moves it to the name, both inside
 * the folder that open found.
 */
int cordon_cli_receipt_file_write(const cordon_cli_receipt_file *file, const char *json,
                                  cordon_err *err) __attribute__((warn_unused_result));

#endif
