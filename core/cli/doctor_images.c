/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of the lock file of images, which every run is held to. */
#include <string.h>

#include "doctor.h"

#define CHECK_LOCK "images.lock"
#define RUNNER     "runner"

/* How the library begins what it says of that file. */
#define LOCK_WORDS "image lock "

bool cordon_cli_doctor_is_lock(const cordon_err *failure)
{
    return strncmp(failure->message, LOCK_WORDS, strlen(LOCK_WORDS)) == 0;
}

const char *cordon_cli_doctor_lock_next(const cordon_err *failure)
{
    if (failure->code == CORDON_ERR_REFUSED)
        return "look at what is in it, then make it yours alone: chown, chmod go-w, for its "
               "folders, "
               "too; or move it out of the worktree";
    if (failure->code == CORDON_ERR_SYSTEM)
        return "make it readable for you, or name another by images_lock in the configuration";
    return "mend it, or move it away and pin anew: cordon image pin NAME";
}

void cordon_cli_doctor_lock(cordon_cli_doctor *doctor, const cordon_image_lock_info *info)
{
    if (info->present)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, CHECK_LOCK, "",
                              "%s: read, trusted, %zu pins for all engines", info->path,
                              info->entries);
    else if (info->required)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, CHECK_LOCK,
                              "make it: cordon image pin NAME; or take images_lock out of the "
                              "configuration",
                              "%s is named by images_lock and is not there: every run with an "
                              "image is refused",
                              info->path);
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, CHECK_LOCK, "",
                              "%s: none; the pins of the configuration count", info->path);
}

/* What nobody asked for is missed by those alone who use it. */
static void lock_lacks(cordon_cli_doctor *doctor, const char *name, bool pinned)
{
    if (pinned)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, CHECK_LOCK,
                              "cordon image pin NAME takes the configuration's pin into the lock",
                              "%s: the configuration pins it, the lock has none for this engine, "
                              "so its runs are refused",
                              name);
    else if (strcmp(name, RUNNER) == 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, CHECK_LOCK,
                              "cordon image pin runner=IMAGE",
                              "%s: no pin for this engine; commands are refused", name);
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, CHECK_LOCK, "",
                              "%s: no pin for this engine; only that agent needs one", name);
}

void cordon_cli_doctor_locked(cordon_cli_doctor *doctor, const char *name, const cordon_image *row,
                              bool pinned)
{
    if (!row)
        lock_lacks(doctor, name, pinned);
    else if (row->present)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, CHECK_LOCK, "", "%s: %s%s%s", name,
                              row->id, row->version[0] ? ", version " : "", row->version);
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, CHECK_LOCK,
                              "cordon image build NAME makes an agent's again; load another into "
                              "the engine, or pin one that is there: cordon image pin NAME=IMAGE",
                              "%s: %s is not on this engine", name,
                              row->pin[0] ? row->pin : row->id);
}
