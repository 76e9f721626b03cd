/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of our own for the time of a session, behind a socket in a private folder: a daemon, or
 * the ssh that forwards to one; see session.h.
 */
#include "session.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "address.h"
#include "kit/cleanup.h"
#include "ssh.h"

/* The head of a private folder's name. */
#define SERVICE_FOLDER "cordon-service-"
/* How often a socket that is about to appear is looked for, and how long an end may take. */
#define SERVICE_POLL_MS       10
#define SERVICE_STOP_GRACE_MS 5000
/* What is kept of what the program says, from its first byte on, and what of it a message shows. */
#define SERVICE_SAID_MAX  16384
#define SERVICE_SHOWN_MAX 300

static void argv_free(char ***argv)
{
    cordon_ssh_argv_free(*argv);
    *argv = NULL;
}

/*
 * Where the program writes its errors: a file in memory that cannot grow. Beyond its size a write
 * fails; it never waits for us to read, as it would with a pipe, and never fills a disk.
 */
static int service_said_new(int *ret_fd, cordon_err *err)
{
    cordon_autoclose int fd = memfd_create("cordon-service", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, SERVICE_SAID_MAX) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot make a file in memory");
    *ret_fd = cordon_take_fd(&fd);
    return 0;
}

/*
 * In the child, between fork and exec: only async-signal-safe calls. The program is asked to end
 * with us, gets no descriptor of ours, and has signals as a fresh program has them.
 */
static void service_exec(char **argv, pid_t parent, int said)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
    }
    (void)dup2(said, STDERR_FILENO);
    /* Not all libraries of the program open theirs with CLOEXEC. */
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    (void)execv(argv[0], argv);
    _exit(127);
}

static int service_folder(const char *runtime_dir, cordon_service *service, cordon_err *err)
{
    if (asprintf(&service->folder, "%s/" SERVICE_FOLDER "XXXXXX",
                 runtime_dir != NULL ? runtime_dir : "/tmp") < 0) {
        service->folder = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    if (mkdtemp(service->folder) == NULL) {
        int errnum = errno;

        (void)CORDON_FAIL_ERRNO(err, errnum,
                                "cannot make a private folder for the engine's socket, %s",
                                CORDON_QUOTE(service->folder));
        free(service->folder);
        service->folder = NULL;
        return -1;
    }
    if (asprintf(&service->socket_path, "%s/engine.sock", service->folder) < 0) {
        service->socket_path = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    return 0;
}

static int service_spawn(cordon_service *service, char **argv, cordon_err *err)
{
    cordon_autoclose int said = -1;
    pid_t parent = getpid();

    if (service_said_new(&said, err) != 0)
        return -1;
    service->pid = fork();
    if (service->pid < 0) {
        service->pid = 0;
        return CORDON_FAIL_ERRNO(err, errno, "cannot start %s", CORDON_QUOTE(argv[0]));
    }
    if (service->pid == 0)
        service_exec(argv, parent, said);
    /* Also here: whoever is first, the group exists before anything is sent to it. */
    (void)setpgid(service->pid, service->pid);
    service->said_fd = cordon_take_fd(&said);
    return 0;
}

int cordon_service_start(const cordon_engine_ops *ops, const char *program, const char *runtime_dir,
                         cordon_service *ret_service, cordon_err *err)
{
    cordon_cleanup(cordon_service_stop) cordon_service service = {0};
    cordon_cleanup(argv_free) char **argv = NULL;

    if (cordon_fact_text_set(&service.program, program, err) != 0 ||
        service_folder(runtime_dir, &service, err) != 0 ||
        ops->serve(program, service.socket_path, &argv, err) != 0 ||
        service_spawn(&service, argv, err) != 0)
        return -1;
    *ret_service = service;
    service = (cordon_service){0};
    return 0;
}

int cordon_service_forward(const cordon_service_route *route, const char *runtime_dir,
                           cordon_service *ret_service, cordon_err *err)
{
    cordon_cleanup(cordon_service_stop) cordon_service service = {0};
    cordon_cleanup(argv_free) char **argv = NULL;

    if (service_folder(runtime_dir, &service, err) != 0 ||
        cordon_ssh_argv(route->program, route->endpoint, route->kind, route->identity,
                        service.socket_path, &argv, err) != 0 ||
        service_spawn(&service, argv, err) != 0)
        return -1;
    *ret_service = service;
    service = (cordon_service){0};
    return 0;
}

/* The last of text[length] that a message has room for, its lines in one. */
static void service_last_words(char *text, size_t length, char ret_words[SERVICE_SHOWN_MAX + 1])
{
    size_t from = 0;

    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    if (length > SERVICE_SHOWN_MAX)
        from = length - SERVICE_SHOWN_MAX;
    for (size_t i = from; i < length; i++) {
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
    }
    (void)cordon_err_printable(ret_words, SERVICE_SHOWN_MAX + 1, text + from, length - from);
}

void cordon_service_explain(const cordon_service *service, cordon_err *err)
{
    char text[SERVICE_SAID_MAX];
    char words[SERVICE_SHOWN_MAX + 1];
    ssize_t length = service->pid > 0 ? pread(service->said_fd, text, sizeof(text), 0) : 0;
    cordon_err told;

    if (err == NULL || length <= 0)
        return;
    /* What was never written is NUL. */
    service_last_words(text, strnlen(text, (size_t)length), words);
    if (words[0] == '\0')
        return;
    told = *err;
    cordon_err_clear(err);
    cordon_err_set(err, told.code, told.http, "%.300s; it said: %s", told.message, words);
    err->errnum = told.errnum;
    err->refusal = told.refusal;
}

/*
 * True once somebody accepts there. That the socket exists says too little: between bind(2) and
 * listen(2) a connection is refused.
 */
static bool service_listens(const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(socket_path);
    cordon_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || length >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, socket_path, length);
    /* EAGAIN: it listens, and has more to do than it asked for. */
    return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN;
}

int cordon_service_await(cordon_service *service, cordon_deadline dl, cordon_err *err)
{
    for (;;) {
        int status;

        if (service_listens(service->socket_path))
            return 0;
        if (waitpid(service->pid, &status, WNOHANG) == service->pid) {
            (void)CORDON_FAIL(err, CORDON_ERR_UNREACHABLE,
                              service->program != NULL
                                  ? "the engine that was started for this run ended at once; run "
                                    "`podman system service` by hand to see why"
                                  : "ssh ended before it forwarded the engine's socket");
            cordon_service_explain(service, err);
            return -1;
        }
        if (cordon_deadline_check(dl, "waiting for the engine to come up", err) != 0)
            return -1;
        (void)usleep(SERVICE_POLL_MS * 1000);
    }
}

/*
 * Waits until nobody of the group is left: rootless Podman serves from a child of the process that
 * was started, which may outlive it.
 */
static bool service_group_gone(pid_t group, cordon_deadline until)
{
    int status;

    for (;;) {
        (void)waitpid(group, &status, WNOHANG);
        if (kill(-group, 0) != 0 && errno == ESRCH)
            return true;
        if (cordon_deadline_passed(until))
            return false;
        (void)usleep(SERVICE_POLL_MS * 1000);
    }
}

static void service_reap(pid_t group)
{
    (void)kill(-group, SIGTERM);
    if (service_group_gone(group, cordon_deadline_in_ms(SERVICE_STOP_GRACE_MS, -1)))
        return;
    (void)kill(-group, SIGKILL);
    (void)service_group_gone(group, cordon_deadline_in_ms(SERVICE_STOP_GRACE_MS, -1));
}

static void free_text(char **text)
{
    free(*text);
    *text = NULL;
}

void cordon_service_stop(cordon_service *service)
{
    if (service->pid > 0) {
        service_reap(service->pid);
        (void)close(service->said_fd);
    }
    if (service->socket_path != NULL)
        (void)unlink(service->socket_path);
    if (service->folder != NULL)
        (void)rmdir(service->folder);
    free_text(&service->program);
    free_text(&service->socket_path);
    free_text(&service->folder);
    *service = (cordon_service){0};
}

void cordon_service_forget(const char *endpoint)
{
    const char *socket = cordon_address_socket_path(endpoint);
    cordon_autofree char *folder = socket != NULL ? strdup(socket) : NULL;
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    const char *name;

    if (slash == NULL)
        return;
    *slash = '\0';
    name = strrchr(folder, '/');
    if (name == NULL || strncmp(name + 1, SERVICE_FOLDER, strlen(SERVICE_FOLDER)) != 0)
        return;
    (void)unlink(socket);
    (void)rmdir(folder);
}
