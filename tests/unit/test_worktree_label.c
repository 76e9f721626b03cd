/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels let a confined container use a folder, and that none is ever changed. */
#include "worktree_label.h"

#include "support/folder.h"
#include "support/test.h"

static void WG5_a_label_lets_containers_in_or_refuses_with_advice(void)
{
    static const struct {
        const char *label;
        bool reads;
        bool writes;
    } rows[] = {
        {"system_u:object_r:container_file_t:s0", true, true},
        {"unconfined_u:object_r:svirt_sandbox_file_t:s0", true, true},
        {"system_u:object_r:container_file_t", true, true},
        {"system_u:object_r:container_ro_file_t:s0", true, false},
        {"system_u:object_r:container_share_t:s0", true, false},
        {"system_u:object_r:container_file_t:s0:c12,c34", false, false},
        {"unconfined_u:object_r:user_home_t:s0", false, false},
        {"system_u:object_r:etc_t:s0", false, false},
        {"system_u:object_r:container_file_tx:s0", false, false},
        {"container_file_t", false, false},
        {"", false, false},
        {NULL, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int writable = 0; writable < 2; writable++) {
            cordon_err err = CORDON_ERR_INIT;
            int rc = cordon_label_check("/srv/p", rows[i].label, writable != 0, &err);
            bool fits = writable ? rows[i].writes : rows[i].reads;
            TEST_RECORDF(rc == (fits ? 0 : -1), "%s, writable %d: %d %s",
                         rows[i].label ? rows[i].label : "none", writable, rc, err.message);
            if (fits)
                continue;
            CHECK_INT(err.code, CORDON_ERR_REFUSED);
            CHECK_CONTAINS(err.message, "worktree /srv/p: SELinux confines");
            CHECK_CONTAINS(err.message, "Cordon changes no labels");
            CHECK_CONTAINS(err.message, "chcon -R -t container_file_t");
        }
    }
}

/* A folder of a machine without SELinux has no label at all. */
static void WG5_only_where_the_engine_confines_a_label_counts(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    cordon_autofree char *label = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE_OK(cordon_worktree_resolve(folder.path, "/nonexistent", &worktree, &err), err);
    CHECK_OK(cordon_worktree_check_label(&worktree, false, true, &label, &err), err);
    CHECK(label == NULL);
    CHECK_FAILS(cordon_worktree_check_label(&worktree, true, false, &label, &err), err,
                CORDON_ERR_REFUSED, "is none that they may read");
}

CORDON_TEST_MAIN("worktree_label", TEST(WG5_a_label_lets_containers_in_or_refuses_with_advice),
                 TEST(WG5_only_where_the_engine_confines_a_label_counts))
