/* SPDX-License-Identifier: Apache-2.0 */
/* See fake_run.h. */
#include "support/fake_run.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const cordon_engine_ops *const cordon_engine_registry[] = {&fake_engine_docker, &fake_engine_podman,
                                                           NULL};

#define RUN_OPEN_MS     30000
#define RUN_DEADLINE_MS 120000

static cordon_host run_host(fake_run *run)
{
    return (cordon_host){
        .uid = getuid(),
        .gid = getgid(),
        .home = test_path(&run->folder, "home"),
        .state_dir = test_path(&run->folder, "state"),
        .system_config = "/nonexistent/cordon.conf",
    };
}

static bool run_config_file(fake_run *run)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "engine = \"fake\";\n"
                   "engines = ( { name = \"fake\"; kind = \"%s\"; endpoint = \"%s\"; } );\n"
                   "%s%s%s"
                   "runner: { approved = ( [\"make\", \"check\"] ); network = \"vendor\"; };\n"
                   "limits: { grace = \"%s\"; output = \"%s\"; };\n",
                   run->options.podman ? "podman" : "docker", fake_engine_endpoint(run->fake),
                   run->options.unpinned ? "" : "images: { runner = \"" FAKE_IMAGE_PIN "\"; };\n",
                   run->options.lock ? "images_lock = \"images.lock\";\n" : "",
                   run->options.settings ? run->options.settings : "",
                   run->options.grace ? run->options.grace : "10s",
                   run->options.output ? run->options.output : "1MiB");
    if (run->options.lock && run->options.lock[0] &&
        !test_file(&run->folder, "images.lock", run->options.lock, 0600))
        return false;
    return test_file(&run->folder, "cordon.conf", text, 0600);
}

/* Owned by somebody else than root, so that a run as root has a writer, too. */
static bool run_worktree(fake_run *run)
{
    if (!test_subfolder(&run->folder, "home", 0755) || !test_subfolder(&run->folder, "tree", 0755))
        return false;
    return getuid() != 0 || (chown(test_path(&run->folder, "tree"), 65532, 65532) == 0 &&
                             chmod(run->folder.path, 0755) == 0);
}

bool fake_run_prepare(fake_run *run, const fake_run_options *options)
{
    *run = (fake_run){.options = *options, .cancel = {-1, -1}, .out_fd = -1, .err_fd = -1};
    run->words = cordon_buf_make(4096);
    if (!test_folder_make(&run->folder))
        return false;
    run->fake = fake_engine_new();
    run->out_fd = memfd_create("stdout", MFD_CLOEXEC);
    run->err_fd = memfd_create("stderr", MFD_CLOEXEC);
    if (!run->fake || run->out_fd < 0 || run->err_fd < 0 || pipe2(run->cancel, O_CLOEXEC) != 0 ||
        !run_worktree(run) || !run_config_file(run))
        return false;
    cordon_host host = run_host(run);
    return cordon_configure(&host, test_path(&run->folder, "cordon.conf"),
                            options->worktree ? test_path(&run->folder, "tree") : NULL,
                            &run->config, &run->err) == 0;
}

bool fake_run_connect(fake_run *run)
{
    cordon_host host = run_host(run);
    return cordon_engine_open(run->config, &host, NULL, RUN_OPEN_MS, -1, &run->engine, &run->err) ==
           0;
}

static bool run_command(fake_run *run)
{
    static const char *const argv[] = {"make", "check"};
    int rc = run->options.probe
                 ? cordon_command_probe(run->policy, NULL, &run->command, &run->err)
                 : cordon_command_runner(run->policy, argv, 2, &run->command, &run->err);
    return rc == 0;
}

bool fake_run_invoke(fake_run *run)
{
    cordon_host host = run_host(run);
    cordon_invocation_options options = {
        .worktree = run->options.worktree ? test_path(&run->folder, "tree") : NULL,
        .image = run->options.image,
        .deadline_ms = run->options.deadline_ms ? run->options.deadline_ms : RUN_DEADLINE_MS,
    };
    return cordon_policy_new(run->config, "claude", run->options.worktree ? "execute" : "review",
                             &run->policy, &run->err) == 0 &&
           run_command(run) &&
           cordon_invocation_new(run->engine, run->config, &host, run->policy, &options,
                                 &run->invocation, &run->err) == 0;
}

bool fake_run_open(fake_run *run, const fake_run_options *options)
{
    return fake_run_prepare(run, options) && fake_run_connect(run) && fake_run_invoke(run);
}

static void run_progress(void *context, const char *word, const char *text)
{
    fake_run *run = context;
    cordon_err ignored = CORDON_ERR_INIT;
    (void)text;
    (void)!cordon_buf_append(&run->words, word, strlen(word), &ignored);
    (void)!cordon_buf_append_char(&run->words, ' ', &ignored);
    if (run->at_word)
        run->at_word(run->at_context, run, word);
}

bool fake_run_go(fake_run *run)
{
    cordon_io io = {.stdout_fd = run->out_fd,
                    .stderr_fd = run->err_fd,
                    .cancel_fd = run->cancel[0],
                    .progress = run_progress,
                    .progress_context = run};
    const cordon_command *commands[CORDON_STEPS_MAX + 1];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        commands[i] = run->command;
    if ((run->options.steps == 0
             ? cordon_invocation_run(run->invocation, run->command, &io, &run->receipt, &run->err)
             : cordon_invocation_run_steps(run->invocation, commands, run->options.steps, &io,
                                           &run->receipt, &run->err)) != 0)
        return false;
    cordon_receipt_result(run->receipt, &run->result);
    return true;
}

void fake_run_clear(fake_run *run)
{
    cordon_receipt_free(run->receipt);
    cordon_invocation_free(run->invocation);
    cordon_command_free(run->command);
    cordon_policy_free(run->policy);
    cordon_engine_free(run->engine);
    cordon_config_free(run->config);
    fake_engine_free(run->fake);
    cordon_cleanup_close(&run->out_fd);
    cordon_cleanup_close(&run->err_fd);
    cordon_cleanup_close(&run->cancel[0]);
    cordon_cleanup_close(&run->cancel[1]);
    cordon_buf_clear(&run->words);
    test_folder_remove(&run->folder);
}

const char *fake_run_output(int fd, char *text, size_t size)
{
    ssize_t length = pread(fd, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

size_t fake_run_journals(fake_run *run)
{
    size_t count = 0;
    DIR *folder = opendir(test_path(&run->folder, "state"));
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        count += strstr(entry->d_name, ".jsonl") != NULL;
    if (folder)
        (void)closedir(folder);
    return count;
}

static bool is_call(const fake_call *call, fake_op op, const char *role)
{
    return call->op == op && (!role || strcmp(call->object, role) == 0);
}

long fake_run_first(fake_run *run, fake_op op, const char *role)
{
    size_t count = fake_engine_call_count(run->fake);
    for (size_t i = 0; i < count; i++) {
        fake_call call = fake_engine_call(run->fake, i);
        if (is_call(&call, op, role))
            return (long)i;
    }
    return -1;
}

long fake_run_last(fake_run *run, fake_op op, const char *role)
{
    for (size_t i = fake_engine_call_count(run->fake); i-- > 0;) {
        fake_call call = fake_engine_call(run->fake, i);
        if (is_call(&call, op, role))
            return (long)i;
    }
    return -1;
}
