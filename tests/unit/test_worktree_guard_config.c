/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a repository's configuration makes code are kept like the configuration itself. */
#include <errno.h>
#include <stdarg.h>

#include "support/git_tree.h"
#include "support/test.h"
#include "worktree_guard.h"

static const cordon_worktree_rules rules = {.home = "/nonexistent/home", .max_entries = 100000};

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

typedef struct planned {
    test_folder folder;
    cordon_worktree worktree;
    cordon_worktree_link link;
    cordon_guard guard;
    cordon_err err;
} planned;

static void planned_clear(planned *p)
{
    cordon_guard_clear(&p->guard);
    cordon_worktree_link_clear(&p->link);
    cordon_worktree_clear(&p->worktree);
    test_folder_remove(&p->folder);
}
CORDON_DEFINE_AUTO(planned, planned_clear)

#define PLANNED_INIT                                                                               \
    {                                                                                              \
        .worktree = CORDON_WORKTREE_INIT, .link = CORDON_WORKTREE_LINK_INIT                        \
    }

static int plan(planned *p)
{
    static const cordon_text_list nothing = {0};
    if (cordon_worktree_open(test_path(&p->folder, "tree"), &rules, soon(), &p->worktree,
                             &p->err) != 0 ||
        cordon_worktree_link_open(&p->worktree, "/worktree", true, &rules, soon(), &p->link,
                                  &p->err) != 0)
        return -1;
    return cordon_guard_plan(&p->worktree, &p->link, "/worktree", &nothing, true, 100000, soon(),
                             &p->guard, &p->err);
}

static int kind_of(const planned *p, const char *path)
{
    for (size_t i = 0; i < p->guard.count; i++)
        if (test_same(p->guard.items[i].path, path))
            return (int)p->guard.items[i].kind;
    return 0;
}

static void what_configuration_names_is_kept(void)
{
    static const struct {
        const char *config;
        const char *path;
        cordon_guard_kind kind;
    } rows[] = {
        {"[core]\n\thooksPath = tools/hooks\n", "tools/hooks", CORDON_GUARD_READ_ONLY},
        {"[core]\n\thooksPath = ./tools/x/../hooks/\n", "tools/hooks", CORDON_GUARD_READ_ONLY},
        {"[core]\n\thooksPath = none/yet\n", "none/yet", CORDON_GUARD_ABSENT},
        {"[include]\n\tpath = ../shared.config\n", "shared.config", CORDON_GUARD_READ_ONLY},
        {"[include]\n\tpath = more\n", ".git/more", CORDON_GUARD_ABSENT},
        {"[includeIf \"onbranch:x\"]\n\tpath = ../shared.config\n", "tools/hooks",
         CORDON_GUARD_READ_ONLY}, /* shared.config names it */
        {"[core]\n\thooksPath = ~/hooks\n", "hooks", (cordon_guard_kind)0},
        {"[core]\n\thooksPath = /usr/share/hooks\n", "usr/share/hooks", (cordon_guard_kind)0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(planned) p = PLANNED_INIT;
        REQUIRE(test_folder_make(&p.folder) && git_directory(&p.folder, "tree/.git") &&
                git_folders(&p.folder, "tree/tools/hooks") &&
                git_file(&p.folder, "tree/shared.config", "[core]\n\thookspath = tools/hooks\n") &&
                git_file(&p.folder, "tree/.git/config", rows[i].config));
        REQUIRE_OK(plan(&p), p.err);
        CHECK_INT(kind_of(&p, rows[i].path), rows[i].kind);
    }
}

static void an_absolute_path_into_the_worktree_is_kept_too(void)
{
    cordon_auto(planned) p = PLANNED_INIT;
    REQUIRE(test_folder_make(&p.folder) && git_directory(&p.folder, "tree/.git") &&
            git_folders(&p.folder, "tree/tools/hooks"));
    REQUIRE(git_pointer(&p.folder, "tree/.git/config",
                        "[core]\n\thooksPath = %s/tree/tools/hooks\n", p.folder.path));
    REQUIRE_OK(plan(&p), p.err);
    CHECK_INT(kind_of(&p, "tools/hooks"), CORDON_GUARD_READ_ONLY);
    CHECK_INT(kind_of(&p, "tools"), CORDON_GUARD_ANCHOR);
}

static void what_links_among_the_hooks_lead_to_is_kept(void)
{
    cordon_auto(planned) p = PLANNED_INIT;
    REQUIRE(test_folder_make(&p.folder) && git_directory(&p.folder, "tree/.git") &&
            git_file(&p.folder, "tree/scripts/check", "#!/bin/sh\n"));
    REQUIRE(test_symlink(&p.folder, "../../scripts/check", "tree/.git/hooks/pre-commit"));
    REQUIRE(test_symlink(&p.folder, "/usr/bin/true", "tree/.git/hooks/pre-push"));
    REQUIRE_OK(plan(&p), p.err);
    CHECK_INT(kind_of(&p, "scripts/check"), CORDON_GUARD_READ_ONLY);
    CHECK_INT(kind_of(&p, "scripts"), CORDON_GUARD_ANCHOR);
}

static void what_links_among_configured_hooks_lead_to_is_kept(void)
{
    cordon_auto(planned) p = PLANNED_INIT;
    REQUIRE(test_folder_make(&p.folder) && git_directory(&p.folder, "tree/.git") &&
            git_file(&p.folder, "tree/.git/config", "[core]\n\thooksPath = tools/hooks\n") &&
            git_file(&p.folder, "tree/scripts/check", "#!/bin/sh\n") &&
            git_folders(&p.folder, "tree/tools/hooks"));
    REQUIRE(test_symlink(&p.folder, "../../scripts/check", "tree/tools/hooks/pre-commit"));
    REQUIRE_OK(plan(&p), p.err);
    CHECK_INT(kind_of(&p, "tools/hooks"), CORDON_GUARD_READ_ONLY);
    CHECK_INT(kind_of(&p, "scripts/check"), CORDON_GUARD_READ_ONLY);
}

static void the_shared_configuration_counts_in_a_linked_worktree(void)
{
    cordon_auto(planned) p = PLANNED_INIT;
    REQUIRE(test_folder_make(&p.folder) && git_linked(&p.folder));
    REQUIRE(git_file(&p.folder, "main/.git/config",
                     "[core]\n\thooksPath = .hooks\n[include]\n\tpath = extra\n"));
    REQUIRE(git_file(&p.folder, "tree/.hooks/pre-commit", "x\n") &&
            git_file(&p.folder, "main/.git/extra", "[a]\n"));
    REQUIRE_OK(plan(&p), p.err);
    CHECK_INT(kind_of(&p, ".hooks"), CORDON_GUARD_READ_ONLY);
    CHECK_INT(kind_of(&p, "extra"), CORDON_GUARD_READ_ONLY);
}

static void configuration_that_says_too_much_is_refused(void)
{
    static const struct {
        const char *config;
        const char *why;
    } rows[] = {
        {"[core]\n\thooksPath = .\n", "core.hooksPath is the worktree itself"},
        {"[core\n", ".git/config: line 2: a section's name does not end; nobody can say"},
        {"[include]\n\tpath = ../link\n", "link is a symbolic link"},
        {"[include]\n\tpath = config\n\tpath = config\n", "is one configuration of git too many"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(planned) p = PLANNED_INIT;
        REQUIRE(test_folder_make(&p.folder) && git_directory(&p.folder, "tree/.git") &&
                test_symlink(&p.folder, "x", "tree/link") &&
                git_file(&p.folder, "tree/.git/config", rows[i].config));
        CHECK_FAILS(plan(&p), p.err, CORDON_ERR_REFUSED, rows[i].why);
    }
}

/* A configuration that includes itself ends. */
static void a_circle_of_includes_ends(void)
{
    cordon_auto(planned) p = PLANNED_INIT;
    REQUIRE(test_folder_make(&p.folder) && git_directory(&p.folder, "tree/.git") &&
            git_file(&p.folder, "tree/a", "[include]\n\tpath = a\n") &&
            git_file(&p.folder, "tree/.git/config", "[include]\n\tpath = ../a\n"));
    REQUIRE_OK(plan(&p), p.err);
    CHECK_INT(kind_of(&p, "a"), CORDON_GUARD_READ_ONLY);
}

CORDON_TEST_MAIN("worktree_guard_config", TEST(what_configuration_names_is_kept),
                 TEST(an_absolute_path_into_the_worktree_is_kept_too),
                 TEST(what_links_among_the_hooks_lead_to_is_kept),
                 TEST(what_links_among_configured_hooks_lead_to_is_kept),
                 TEST(the_shared_configuration_counts_in_a_linked_worktree),
                 TEST(configuration_that_says_too_much_is_refused), TEST(a_circle_of_includes_ends))
