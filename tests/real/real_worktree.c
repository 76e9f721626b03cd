/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worktrees that cannot be turned against their owner: linked ones, what a writing phase leaves as
 * it is, and whose git data it is. Cases WG1 to WG5. Everything is set up by the host's git as
 * real.uid, and looked at there afterwards.
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "real.h"

/* Every repository here: two commits' worth of identity, one file, nothing from the host. */
#define NEW_REPOSITORY(name)                                                                       \
    "git init -q " name " && cd " name " && git config user.name Tester &&"                        \
    " git config user.email tester@example.com && echo one >file && git add file &&"               \
    " git commit -qm first"

/* ABSOLUTE: as git writes it. RELATIVE: as git 2.48 writes it with worktree.useRelativePaths. */
#define RELATIVE(main, tree)                                                                       \
    " && echo 'gitdir: ../" main "/.git/worktrees/" tree "' >../" tree "/.git"                     \
    " && echo ../../../../" tree "/.git >.git/worktrees/" tree "/gitdir"

static const char *git_image(void)
{
    static char name[48];
    (void)snprintf(name, sizeof name, "CORDON_TEST_%s_GIT_IMAGE",
                   strcmp(real.word, "docker") == 0   ? "DOCKER"
                   : strcmp(real.word, "podman") == 0 ? "PODMAN"
                                                      : "ROOTLESS");
    return real_variable(name);
}

/* A script on the host, as the worktrees' owner, in the folder of this program. */
static bool host_as(uid_t uid, const char *script, char *ret_out, size_t size)
{
    cordon_autofree char *line = NULL;
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "HOME=/nonexistent",
                                              "GIT_CONFIG_NOSYSTEM=1", NULL};
    cordon_auto(child) c = {.out_fd = -1, .err_fd = -1};
    if (asprintf(&line, "cd %s/trees && %s", real.folder, script) < 0)
        return false;
    const child_spec spec = {
        .argv = WORDS("sh", "-c", line), .environment = environment, .uid = uid};
    bool ok = child_start(&spec, &c) && child_finish(&c, REAL_PATIENCE_MS) && c.status == 0;
    TEST_RECORDF(ok, "on the host: %s: %.300s", script, cordon_buf_text(&c.err));
    if (ret_out)
        (void)snprintf(ret_out, size, "%s", cordon_buf_text(&c.out));
    return ok;
}

static bool host(const char *script)
{
    return host_as(real.uid, script, NULL, 0);
}

static const char *tree(const char *name)
{
    char path[160];
    (void)snprintf(path, sizeof path, "trees/%s", name);
    return real_path(path);
}

static bool is_there(const char *name)
{
    struct stat facts;
    return lstat(tree(name), &facts) == 0;
}

/* True if the folder holds an entry that begins so. */
static bool holds(const char *folder, const char *begin)
{
    DIR *stream = opendir(tree(folder));
    const struct dirent *entry;
    bool found = false;
    while (stream && (entry = readdir(stream)))
        found = found || strncmp(entry->d_name, begin, strlen(begin)) == 0;
    if (stream)
        (void)closedir(stream);
    return found;
}

static void the_folder_for_trees_is_there(void)
{
    CHECK(mkdir(real_path("trees"), 0755) == 0 &&
          chown(real_path("trees"), real.uid, real.uid) == 0);
}

/* --- WG1 ---------------------------------------------------------------------------------------
 */

#define LOOK                                                                                       \
    "pwd; git status --porcelain && c=$(git rev-parse --git-common-dir) && echo $c &&"             \
    " if touch $c/try 2>/dev/null; then rm $c/try; echo writable; else echo read-only; fi"

/* What LOOK must print: where, nothing changed, the common directory, and what it may do there. */
static void check_linked(const char *name, const char *mount, const char *common, bool relative)
{
    static const char *const phases[] = {"review", "execute"};
    char settings[128];
    char want[512];
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(outcome) o = {0};
        (void)snprintf(settings, sizeof settings, "worktree: { mount = \"%s\"; };\n", mount);
        (void)snprintf(want, sizeof want, "%s\n%s%s\n%s\n", mount, relative ? "" : tree(""), common,
                       i == 0 ? "read-only" : "writable");
        if (!cordon_call(&(call){.argv = SHELL(LOOK),
                                 .options = WORDS("--phase", phases[i], "--worktree", tree(name)),
                                 .settings = settings,
                                 .image = git_image()},
                         &o))
            return;
        EXPECT_EXITED(&o, 0);
        CHECK_STR(outcome_out(&o), want);
        CHECK_STR(outcome_err(&o), "");
        EXPECT_NOTHING_LEFT(&o);
    }
}

static void WG1_a_linked_worktree_with_an_absolute_pointer(void)
{
    REQUIRE(host(NEW_REPOSITORY("m1") " && git worktree add -q ../w1"));
    check_linked("w1", "/worktree", "m1/.git", false);
    check_linked("w1", "/src/project", "m1/.git", false);
}

static void WG1_a_linked_worktree_with_a_relative_pointer(void)
{
    REQUIRE(host(NEW_REPOSITORY("m2") " && git worktree add -q ../w2" RELATIVE("m2", "w2")));
    check_linked("w2", "/worktree", "/m2/.git", true);
    check_linked("w2", "/src/project", "/src/m2/.git", true);
}

/* --- WG2 ---------------------------------------------------------------------------------------
 */

/* Every write must fail; renaming what is in the way must, too; and the work itself must not. */
#define WRITE_ALL                                                                                  \
    "c=$(git rev-parse --git-common-dir); g=$(git rev-parse --git-dir);"                           \
    " for f in hooks/post-checkout config config.worktree info/attributes"                         \
    " objects/info/alternates commondir worktrees/x/commondir modules/x/config; do"                \
    "  (mkdir -p $(dirname $c/$f); echo x >>$c/$f) 2>/dev/null && echo wrote $c/$f; done;"         \
    " for f in config.worktree commondir; do"                                                      \
    "  (echo x >>$g/$f) 2>/dev/null && echo wrote $g/$f; done;"                                    \
    " for f in hooks info objects objects/info; do"                                                \
    "  mv $c/$f $c/moved 2>/dev/null && echo moved $c/$f; done;"                                   \
    " mv .git moved 2>/dev/null && echo moved .git; mv $c ${c}2 2>/dev/null && echo moved $c;"     \
    " git config core.fsmonitor ./x 2>/dev/null && echo configured;"                               \
    " echo two >>file && git add file && git commit -qm second && git log --oneline | wc -l"

static void check_writes(const char *name, const char *git_folder)
{
    char path[128];
    struct stat facts = {0};
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(WRITE_ALL),
                             .options = WORDS("--phase", "execute", "--worktree", tree(name)),
                             .image = git_image()},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "2\n");
    (void)snprintf(path, sizeof path, "%s/logs/HEAD", git_folder);
    CHECK(stat(tree(path), &facts) == 0);
    CHECK_INT(facts.st_uid, real.uid);
    CHECK_INT(facts.st_gid, real.uid);
    (void)snprintf(path, sizeof path, "%s/commondir", git_folder);
    CHECK(!is_there(path));
    (void)snprintf(path, sizeof path, "%s/config.worktree", git_folder);
    CHECK(!is_there(path));
    EXPECT_NOTHING_LEFT(&o);
}

static void WG2_what_turns_into_code_cannot_be_written(void)
{
    REQUIRE(host(NEW_REPOSITORY("g1")));
    check_writes("g1", "g1/.git");
    CHECK(host("cd g1 && git fsck --strict && test -z \"$(git status --porcelain)\""));
}

static void WG2_nor_from_a_linked_worktree(void)
{
    REQUIRE(host(NEW_REPOSITORY("m3") " && git worktree add -q ../w3"));
    check_writes("w3", "m3/.git");
    CHECK(is_there("m3/.git/worktrees/w3/commondir"));
    CHECK(host("cd w3 && git fsck --strict && test -z \"$(git status --porcelain)\""));
}

/* Submodules' and nested repositories' git data, wherever they are. */
static void WG2_nor_in_nested_repositories(void)
{
    REQUIRE(host(NEW_REPOSITORY("n1") " && mkdir -p a/b && cd a/b && " NEW_REPOSITORY(
        "deep") " && cd .. && git init -q --bare bare.git"));
    const char *script = "for f in a/b/deep/.git/config a/b/deep/.git/hooks/x a/b/bare.git/config;"
                         " do (echo x >>$f) 2>/dev/null && echo wrote $f; done;"
                         " mv a x 2>/dev/null && echo moved a; mv a/b a/x 2>/dev/null && echo b;"
                         " mv a/b/deep a/b/x 2>/dev/null && echo deep; echo two >a/b/deep/file;"
                         " echo new >a/b/new && echo fine";
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(script),
                             .options = WORDS("--phase", "fix", "--worktree", tree("n1"))},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "fine\n");
    EXPECT_NOTHING_LEFT(&o);
}

static void WG2_settings_that_are_there_stay_as_they_are(void)
{
    REQUIRE(host(NEW_REPOSITORY("s1") " && mkdir -p .vscode .github/workflows && echo {} >.vscode/t"
                                      " && echo on: >.github/workflows/w.yml && echo x >.envrc"));
    const char *script = "for f in .vscode/t .vscode/new .github/workflows/w.yml .envrc; do"
                         " (echo y >>$f) 2>/dev/null && echo wrote $f; done;"
                         " for f in .vscode .github .github/workflows .envrc; do"
                         " mv $f moved 2>/dev/null && echo moved $f; done;"
                         " rm -rf .envrc .vscode .github/workflows 2>/dev/null;"
                         " echo text >.github/ISSUES.md && cat .envrc .vscode/t";
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(script),
                             .options = WORDS("--phase", "execute", "--worktree", tree("s1"))},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "x\n{}\n");
    EXPECT_NOTHING_LEFT(&o);
}

/* What was absent cannot be mounted: it is found afterwards, put aside, and the run says so. */
static void WG2_what_appears_is_put_aside_and_told(void)
{
    REQUIRE(host(NEW_REPOSITORY("p1")));
    const char *script = "echo x >.envrc; mkdir .vscode sub; echo {} >.vscode/tasks.json;"
                         " git init -q sub; git -C sub config core.fsmonitor /bin/x;"
                         " git init -q --bare evil; ln -s /etc/passwd .git/COMMIT_EDITMSG2;"
                         " mkdir -p other/workflows; ln -s other .github; echo fine";
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(script),
                             .options = WORDS("--phase", "execute", "--worktree", tree("p1")),
                             .image = git_image()},
                     &o))
        return;
    EXPECT_KIND(&o, "tampered", 126);
    CHECK_STR(receipt_text(&o, "result.refusal.code"), "CORDON_REFUSED_WORKTREE");
    CHECK_STR(receipt_text(&o, "result.refusal.fact"), "worktree.protected");
    CHECK(!is_there("p1/.envrc") && holds("p1", ".envrc.cordon-"));
    CHECK(!is_there("p1/.vscode") && holds("p1", ".vscode.cordon-"));
    CHECK(!is_there("p1/sub/.git") && holds("p1/sub", ".git.cordon-"));
    CHECK(!is_there("p1/evil/HEAD") && holds("p1/evil", "HEAD.cordon-"));
    CHECK(!is_there("p1/.github") && holds("p1", ".github.cordon-"));
    CHECK(!is_there("p1/.git/COMMIT_EDITMSG2") && holds("p1/.git", "COMMIT_EDITMSG2.cordon-"));
    CHECK(is_there("p1/.git/HEAD"));
    EXPECT_NOTHING_LEFT(&o);
}

/* Where there is no repository, none can be made. */
static void WG2_a_folder_without_git_stays_without(void)
{
    REQUIRE(host("mkdir bare-folder"));
    cordon_auto(outcome) o = {0};
    if (!cordon_call(
            &(call){.argv = SHELL("git init -q . 2>/dev/null || echo no; echo x >file"),
                    .options = WORDS("--phase", "execute", "--worktree", tree("bare-folder")),
                    .image = git_image()},
            &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "no\n");
    CHECK(is_there("bare-folder/file") && !is_there("bare-folder/.git"));
    EXPECT_NOTHING_LEFT(&o);
}

/* --- WG3 ---------------------------------------------------------------------------------------
 */

/* Everything that git would execute while it looks at this tree writes a file. */
#define WITH_CANARIES                                                                              \
    " && for k in core.fsmonitor diff.external filter.x.clean filter.x.smudge filter.x.process"    \
    " core.pager core.sshCommand core.hooksPath diff.x.textconv; do"                               \
    "  git config $k \"$PWD/../canary.sh\"; done; echo '* filter=x diff=x' >.gitattributes"

static void WG3_nothing_that_the_worktree_configures_runs_here(void)
{
    REQUIRE(host("printf '#!/bin/sh\\ntouch %s\\n' $PWD/canary >canary.sh; chmod 755 canary.sh"));
    REQUIRE(host(NEW_REPOSITORY("d1") WITH_CANARIES
                 " && mkdir sub && echo b >sub/b &&"
                 " printf 'x\\000y' >binary && rm -f ../canary"));
    REQUIRE(host("mkdir before && cp -a d1/. before && rm -rf before/.git && chmod -R u+w before"));
    const char *script =
        "git config core.fsmonitor x 2>/dev/null && echo configured;"
        " echo two >>file; rm -r sub; mkdir 'new folder'; echo n >'new folder/f g';"
        " ln -s /etc/passwd link; chmod 755 .gitattributes; printf 'z\\000' >binary";
    const char *patch = real_path("patch");
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(script),
                             .options = WORDS("--phase", "execute", "--worktree", tree("d1"),
                                              "--diff", patch),
                             .image = git_image()},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "");
    CHECK(!is_there("canary"));
    CHECK_INT(receipt_number(&o, "worktree.diff.files"), 6);
    CHECK_INT(receipt_number(&o, "worktree.diff.hidden"), 1);
    /* What it says makes the tree of the copy, all but what it says it does not show. */
    CHECK(chown(patch, real.uid, real.uid) == 0);
    CHECK(host("grep -qx '# not shown, binary: binary (changed)' ../patch && cd before &&"
               " GIT_CEILING_DIRECTORIES=$PWD/.. git apply ../../patch && cp ../d1/binary . &&"
               " diff -r --no-dereference --exclude=.git . ../d1 &&"
               " test \"$(stat -c %a .gitattributes)\" = 755"));
    CHECK(!is_there("canary"));
    EXPECT_NOTHING_LEFT(&o);
    /* The trap is one. */
    CHECK(host("cd d1; git status >/dev/null 2>&1; true"));
    CHECK(is_there("canary"));
}

static void WG3_a_diff_is_of_a_writing_phase(void)
{
    static const char *const bad[][3] = {
        {"review", "review writes nothing", "patch-1"},
        {"execute", "is no plain file", "home"},
        {"execute", "cannot be opened", "no/such"},
    };
    REQUIRE(host("mkdir plain"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_auto(outcome) o = {0};
        if (!cordon_call(&(call){.argv = WORDS("true"),
                                 .options = WORDS("--phase", bad[i][0], "--worktree", tree("plain"),
                                                  "--diff", real_path(bad[i][2]))},
                         &o))
            return;
        EXPECT_KIND(&o, "error", 125);
        EXPECT_LINE(&o, "diff", bad[i][1]);
        EXPECT_NOTHING_LEFT(&o);
    }
}

/* --- WG4 ---------------------------------------------------------------------------------------
 */

/* Root's repository, read by a step that is never root. */
static void WG4_git_works_for_another_owner_and_trusts_one_folder(void)
{
    char folder[256];
    (void)snprintf(folder, sizeof folder, NEW_REPOSITORY("r1"));
    REQUIRE(host_as(0, folder, NULL, 0));
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL("git status --porcelain && git log --oneline | wc -l &&"
                                           " git config --get-all safe.directory; id -u"),
                             .options = WORDS("--phase", "review", "--worktree", tree("r1")),
                             .image = git_image()},
                     &o))
        return;
    char want[64];
    (void)snprintf(want, sizeof want, "1\n/worktree\n%u\n",
                   strcmp(real.word, "rootless") == 0 ? real.uid : 65532);
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), want);
    CHECK_STR(outcome_err(&o), "");
}

/* --- WG5 ---------------------------------------------------------------------------------------
 */

static void WG5_no_such_folder_is_ever_given_or_relabelled(void)
{
    REQUIRE(host("mkdir -p keys/.ssh"));
    const struct {
        const char *path;
        const char *why;
    } rows[] = {
        {"/", "is the whole file system"},
        {"/etc", "is the system folder /etc"},
        {real_path("home"), "is your home directory"},
        {tree("keys"), "holds .ssh"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(outcome) o = {0};
        if (!cordon_call(&(call){.argv = WORDS("true"),
                                 .options = WORDS("--phase", "review", "--worktree", rows[i].path)},
                         &o))
            return;
        EXPECT_KIND(&o, "refused", 126);
        EXPECT_LINE(&o, rows[i].why, "give the folder of one project");
        EXPECT_NOTHING_LEFT(&o);
    }
}

REAL_MAIN("worktree", TEST(the_folder_for_trees_is_there),
          TEST(WG1_a_linked_worktree_with_an_absolute_pointer),
          TEST(WG1_a_linked_worktree_with_a_relative_pointer),
          TEST(WG2_what_turns_into_code_cannot_be_written), TEST(WG2_nor_from_a_linked_worktree),
          TEST(WG2_nor_in_nested_repositories), TEST(WG2_settings_that_are_there_stay_as_they_are),
          TEST(WG2_what_appears_is_put_aside_and_told),
          TEST(WG2_a_folder_without_git_stays_without),
          TEST(WG3_nothing_that_the_worktree_configures_runs_here),
          TEST(WG3_a_diff_is_of_a_writing_phase),
          TEST(WG4_git_works_for_another_owner_and_trusts_one_folder),
          TEST(WG5_no_such_folder_is_ever_given_or_relabelled))
