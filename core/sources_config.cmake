# SPDX-License-Identifier: Apache-2.0
# Sources of the target cordon_config; config_read.c alone includes libconfig.
set(CORDON_CONFIG_SOURCES
    address.c
    config.c
    config_grammar.c
    config_read.c
    config_scan.c
    config_schema.c
    config_value.c
    diff_patch.c
    diff_text.c
    select.c
    text_list.c
    trust.c
    vendor.c
    vendor_check.c
    worktree.c
    worktree_guard.c
    worktree_guard_git.c
    worktree_label.c
    worktree_link.c
    worktree_rules.c
    worktree_scan.c
    worktree_settle.c
    worktree_snapshot.c
    worktree_walk.c)
