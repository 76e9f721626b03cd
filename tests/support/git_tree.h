/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repositories for tests, written file by file, so that no git is needed: what git itself looks at
 * to call a folder a git directory, and the three pointers of a linked worktree.
 */
#ifndef CORDON_TESTS_SUPPORT_GIT_TREE_H
#define CORDON_TESTS_SUPPORT_GIT_TREE_H

#include "support/folder.h"

/* All folders of a path below the test's folder, as far as they are not there. */
static inline bool git_folders(test_folder *folder, const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path, '/');; slash = strchr(slash + 1, '/')) {
        (void)snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - path) : (int)strlen(path),
                       path);
        if (!test_subfolder(folder, part, 0755) && errno != EEXIST)
            return false;
        if (!slash)
            return true;
    }
}

/* FOLDER/path with text in it, and the folders above. */
static inline bool git_file(test_folder *folder, const char *path, const char *text)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    (void)snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) : 0, path);
    return (!slash || git_folders(folder, parent)) && test_file(folder, path, text, 0644);
}

/* A git directory at `path`, such as "main/.git": what `git init` leaves, without samples. */
static inline bool git_directory(test_folder *folder, const char *path)
{
    static const char *const folders[] = {"hooks", "info", "objects/info", "objects/pack",
                                          "refs/heads"};
    char at[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)snprintf(at, sizeof at, "%s/%s", path, folders[i]);
        if (!git_folders(folder, at))
            return false;
    }
    (void)snprintf(at, sizeof at, "%s/HEAD", path);
    if (!git_file(folder, at, "ref: refs/heads/main\n"))
        return false;
    (void)snprintf(at, sizeof at, "%s/config", path);
    return git_file(folder, at, "[core]\n\trepositoryformatversion = 0\n");
}

/* Writes one of the pointers; a format for what stands in the file. */
__attribute__((format(printf, 3, 4))) static inline bool
git_pointer(test_folder *folder, const char *path, const char *format, ...)
{
    char text[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return git_file(folder, path, text);
}

/* "main" with a linked worktree "tree" named "tree", by absolute pointers. */
static inline bool git_linked(test_folder *folder)
{
    return git_directory(folder, "main/.git") && git_folders(folder, "tree") &&
           git_pointer(folder, "tree/.git", "gitdir: %s/main/.git/worktrees/tree\n",
                       folder->path) &&
           git_file(folder, "main/.git/worktrees/tree/HEAD", "ref: refs/heads/tree\n") &&
           git_file(folder, "main/.git/worktrees/tree/commondir", "../..\n") &&
           git_pointer(folder, "main/.git/worktrees/tree/gitdir", "%s/tree/.git\n", folder->path);
}

#endif
