/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live gate on pipes, from its report to its last word; each story over the gate of this build
 * (with its sanitizers) and over the static binary. Those about other processes run it as PID 1
 * of a namespace, which takes root or user namespaces.
 */
#include "support/gate_rig.h"

#define PATH_ENV "PATH=/usr/bin:/bin"

/* Two tests of one story. */
#define STORY(name, modes)                                                                         \
    static void name##_story(int mode);                                                            \
    static void name##_parts(void)                                                                 \
    {                                                                                              \
        name##_story((modes) | RIG_PARTS);                                                         \
    }                                                                                              \
    static void name##_binary(void)                                                                \
    {                                                                                              \
        name##_story((modes) | RIG_BINARY);                                                        \
    }                                                                                              \
    static void name##_story(int mode)

#define BOTH(name) TEST(name##_parts), TEST(name##_binary)

STORY(a_released_command_runs_and_its_exit_is_told, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(
        &r, mode,
        &(rig_release){.argv = {"sh", "-c", "echo out; echo err >&2; exit 7"}, .env = {PATH_ENV}}));
    CHECK_INT(r.started, 0);
    CHECK_INT(r.code, 7);
    CHECK_INT(r.signal, -1);
    CHECK_INT(r.status, 7);
    CHECK(rig_output_is(&r, "out\n"));
    CHECK_STR(cordon_buf_text(&r.err), "err\n");
}

STORY(a_signal_that_ends_the_command_is_told, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(
        rig_run(&r, mode, &(rig_release){.argv = {"sh", "-c", "kill -9 $$"}, .env = {PATH_ENV}}));
    CHECK_INT(r.code, -1);
    CHECK_INT(r.signal, SIGKILL);
    CHECK_INT(r.status, 128 + SIGKILL);
}

/* Read once, then the end; no other descriptor is open (the fourth is the folder that ls reads). */
STORY(a_secret_comes_by_a_descriptor_that_its_variable_names, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"/bin/sh", "-c",
                                            "echo $FIRST $SECOND; cat <&3; cat <&3; echo; cat <&4;"
                                            "echo; ls /proc/self/fd | wc -l"},
                                   .env = {PATH_ENV},
                                   .secrets = {"FIRST=one = 1", "SECOND=two"}}));
    CHECK_INT(r.code, 0);
    CHECK(rig_output_is(&r, "3 4\none = 1\ntwo\n6\n"));
}

STORY(the_command_gets_exactly_the_released_environment_and_folder, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(
        rig_run(&r, mode,
                &(rig_release){.argv = {"/usr/bin/env"}, .env = {"B=2", "A= x=y"}, .cwd = "/usr"}));
    CHECK(rig_output_is(&r, "B=2\nA= x=y\n"));
    cordon_auto(rig) s = {0};
    REQUIRE(rig_run(&s, mode, &(rig_release){.argv = {"/bin/pwd"}, .cwd = "/usr"}));
    CHECK(rig_output_is(&s, "/usr\n"));
}

STORY(standard_input_is_empty_without_bytes, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode, &(rig_release){.argv = {"/bin/cat"}}));
    CHECK(rig_output_is(&r, ""));
    CHECK_INT(r.code, 0);
}

#define LARGE_INPUT (3U << 20)

STORY(large_standard_input_arrives_whole_and_ends, 0)
{
    cordon_auto(rig) r = {0};
    char *input = malloc(LARGE_INPUT);
    REQUIRE(input != NULL);
    for (size_t i = 0; i < LARGE_INPUT; i++)
        input[i] = (char)(i * 7 + i / 4096);
    bool ran =
        rig_run(&r, mode,
                &(rig_release){.argv = {"/bin/cat"}, .input = input, .input_length = LARGE_INPUT});
    bool same = ran && r.output_length == LARGE_INPUT &&
                memcmp(r.out.data + r.output, input, LARGE_INPUT) == 0;
    free(input);
    CHECK(same);
    CHECK_INT(r.code, 0);
}

STORY(input_that_nobody_reads_holds_nothing_up, 0)
{
    cordon_auto(rig) r = {0};
    char *input = calloc(1, LARGE_INPUT);
    REQUIRE(input != NULL);
    bool ran =
        rig_run(&r, mode,
                &(rig_release){.argv = {"/bin/true"}, .input = input, .input_length = LARGE_INPUT});
    free(input);
    REQUIRE(ran);
    CHECK_INT(r.code, 0);
}

/* A forged exit note, another key's, in the middle and at the end of the output. */
STORY(a_forged_exit_note_is_output, 0)
{
    cordon_auto(rig) r = {0};
    const uint8_t foreign[CORDON_FRAME_KEY_BYTES] = {5};
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_frame) forged = {0};
    REQUIRE_OK(cordon_frame_init(&forged, CORDON_GATE_MAGIC_EXIT, 256, &err), err);
    REQUIRE_OK(cordon_frame_add_u64(&forged, CORDON_GATE_EXIT_CODE, 0, &err), err);
    REQUIRE_OK(cordon_frame_seal(&forged, foreign, &err), err);
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"sh", "-c", "cat; exit 5"},
                                   .env = {PATH_ENV},
                                   .input = forged.bytes.data,
                                   .input_length = forged.bytes.length}));
    CHECK(r.output_length == forged.bytes.length &&
          memcmp(r.out.data + r.output, forged.bytes.data, forged.bytes.length) == 0);
    CHECK_INT(r.code, 5);
}

/* The command fills the pipe and makes it non-blocking; the last word still comes. */
STORY(a_full_pipe_does_not_lose_the_exit_note, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_start(&r, mode, "20000") && rig_report(&r));
    REQUIRE(rig_send_release(
        &r, &(rig_release){.argv = {"sh", "-c",
                                    "dd if=/dev/zero bs=1024 count=64 oflag=nonblock 2>/dev/null;"
                                    "exit 3"},
                           .env = {PATH_ENV}}));
    (void)poll(NULL, 0, 300);
    rig_finish(&r);
    CHECK_INT(r.code, 3);
}

/* --- what must not release ------------------------------------------------------------------ */

static void refused(int mode, const char *part, void (*feed)(rig *))
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_start(&r, mode, "20000") && rig_report(&r));
    feed(&r);
    rig_finish(&r);
    CHECK_INT(r.status, CORDON_GATE_STATUS_NOT_RELEASED);
    CHECK_INT(r.started, -1);
    CHECK(rig_output_is(&r, ""));
    CHECK_CONTAINS(cordon_buf_text(&r.err), part);
}

static const rig_release touch = {.argv = {"/bin/echo", "released"}};

static void feed_nothing(rig *r)
{
    rig_hang_up(r);
}

static void feed_half(rig *r)
{
    cordon_auto(cordon_frame) frame = {0};
    if (rig_build(r, &touch, &frame))
        (void)rig_send(r, frame.bytes.data, frame.bytes.length - 1);
    rig_hang_up(r);
}

static void feed_foreign(rig *r)
{
    r->nonce[31] = (uint8_t)(r->nonce[31] ^ 1);
    (void)rig_send_release(r, &touch);
}

static void feed_damaged(rig *r)
{
    cordon_auto(cordon_frame) frame = {0};
    if (!rig_build(r, &touch, &frame))
        return;
    frame.bytes.data[30] = (char)(frame.bytes.data[30] ^ 1);
    (void)rig_send(r, frame.bytes.data, frame.bytes.length);
}

static void feed_trailing(rig *r)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_frame) frame = {0};
    if (rig_build(r, &touch, &frame) &&
        CHECK_OK(cordon_buf_append(&frame.bytes, "x", 1, &err), err))
        (void)rig_send(r, frame.bytes.data, frame.bytes.length);
}

static void feed_text(rig *r)
{
    (void)rig_send(r, "go\n", 3);
}

static void feed_huge(rig *r)
{
    (void)rig_send(r, CORDON_GATE_MAGIC_RELEASE "\xff\xff\xff\xff", 12);
}

static void feed_term(rig *r)
{
    (void)kill(r->gate, SIGTERM);
}

STORY(end_of_file_releases_nothing, 0)
{
    refused(mode, "ended after 0 bytes", feed_nothing);
}

STORY(a_cut_frame_releases_nothing, 0)
{
    refused(mode, "the stream ended after", feed_half);
}

STORY(a_frame_for_another_nonce_releases_nothing, 0)
{
    refused(mode, "not authentic", feed_foreign);
}

STORY(a_damaged_frame_releases_nothing, 0)
{
    refused(mode, "not authentic", feed_damaged);
}

STORY(bytes_behind_the_frame_release_nothing, 0)
{
    refused(mode, "bytes behind the frame", feed_trailing);
}

STORY(text_releases_nothing, 0)
{
    refused(mode, "not a record", feed_text);
}

STORY(a_huge_frame_is_refused_by_its_head, 0)
{
    refused(mode, "over the limit", feed_huge);
}

STORY(a_signal_ends_the_wait, 0)
{
    refused(mode, "not released", feed_term);
}

STORY(a_late_release_releases_nothing, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_start(&r, mode, "50") && rig_report(&r));
    rig_finish(&r);
    CHECK_INT(r.status, CORDON_GATE_STATUS_NOT_RELEASED);
    CHECK_CONTAINS(cordon_buf_text(&r.err), "not released");
}

/* --- commands that cannot run --------------------------------------------------------------- */

/* Not found is told in the start note, not executable in the exit note; neither in words. */
static void not_run(int mode, const rig_release *what, int64_t started, int64_t executed,
                    int status)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode, what));
    CHECK_INT(r.started, started);
    CHECK_INT(r.status, status);
    CHECK_INT(r.code, -1);
    CHECK_INT(r.errnum, executed);
    CHECK(rig_output_is(&r, ""));
    CHECK_STR(cordon_buf_text(&r.err), "");
}

/* What the gate itself cannot do comes in words, and without a note. */
static void failed(int mode, const rig_release *what, const char *part)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode, what));
    CHECK_INT(r.started, -1);
    CHECK_INT(r.status, CORDON_GATE_STATUS_FAILED);
    CHECK_INT(r.code, -1);
    CHECK(rig_output_is(&r, ""));
    CHECK_CONTAINS(cordon_buf_text(&r.err), part);
}

STORY(a_command_that_is_not_there_is_told, 0)
{
    not_run(mode, &(rig_release){.argv = {"/no/such/file"}}, ENOENT, -1, 127);
    not_run(mode, &(rig_release){.argv = {"no-such-command"}, .env = {PATH_ENV}}, ENOENT, -1, 127);
    not_run(mode, &(rig_release){.argv = {"sh"}}, ENOENT, -1, 127);
    not_run(mode, &(rig_release){.argv = {"sh"}, .env = {"PATH=:bin:."}}, ENOENT, -1, 127);
}

STORY(a_file_that_is_no_program_is_told, 0)
{
    not_run(mode, &(rig_release){.argv = {"/etc/passwd"}}, EACCES, -1, 126);
    not_run(mode, &(rig_release){.argv = {"/usr"}}, EACCES, -1, 126);
    char path[] = "/tmp/cordon-gate-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    CHECK(write(fd,
                "\x7f"
                "ELF",
                4) == 4 &&
          fchmod(fd, 0755) == 0);
    (void)close(fd);
    not_run(mode, &(rig_release){.argv = {path}}, 0, ENOEXEC, 126);
    (void)unlink(path);
}

STORY(a_missing_folder_is_a_failure, 0)
{
    failed(mode, &(rig_release){.argv = {"/bin/true"}, .cwd = "/no/such/folder"},
           "/no/such/folder");
}

STORY(a_landlock_that_the_kernel_lacks_is_a_failure, 0)
{
    failed(mode, &(rig_release){.argv = {"/bin/true"}, .landlock = 99},
           "Landlock ABI 99 is required");
}

/* --- signals and other processes ------------------------------------------------------------ */

STORY(signals_reach_the_command, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_start(&r, mode, "20000") && rig_report(&r));
    REQUIRE(rig_send_release(&r, &(rig_release){.argv = {"sh", "-c",
                                                         "trap 'echo got usr1' USR1;"
                                                         "trap 'exit 9' TERM; echo ready;"
                                                         "while :; do sleep 0.05; done"},
                                                .env = {PATH_ENV}}));
    while (!(r.out.length > 0 && memmem(r.out.data, r.out.length, "ready\n", 6)))
        REQUIRE(rig_read(&r, r.from, &r.out));
    CHECK(kill(r.gate, SIGUSR1) == 0);
    while (!memmem(r.out.data, r.out.length, "usr1\n", 5))
        REQUIRE(rig_read(&r, r.from, &r.out));
    CHECK(kill(r.gate, SIGTERM) == 0);
    rig_finish(&r);
    CHECK_INT(r.code, 9);
    CHECK(rig_output_is(&r, "ready\ngot usr1\n"));
}

/* The exit note tells of it, also when the command makes an end of its own out of it. */
STORY(a_signal_from_outside_is_told, RIG_NAMESPACE)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_start(&r, mode, "20000") && rig_report(&r));
    REQUIRE(rig_send_release(&r, &(rig_release){.argv = {"sh", "-c",
                                                         "trap 'exit 9' TERM; echo ready;"
                                                         "while :; do sleep 0.05; done"},
                                                .env = {PATH_ENV}}));
    while (!(r.out.length > 0 && memmem(r.out.data, r.out.length, "ready\n", 6)))
        REQUIRE(rig_read(&r, r.from, &r.out));
    CHECK(kill(r.gate, SIGTERM) == 0);
    rig_finish(&r);
    CHECK_INT(r.code, 9);
    CHECK_INT(r.outside, SIGTERM);
}

/* What a command sends to its own init is nobody else's doing. */
STORY(a_signal_of_the_commands_own_is_not_told_as_anothers, RIG_NAMESPACE)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"sh", "-c",
                                            "trap 'exit 9' TERM; kill -TERM 1;"
                                            "while :; do sleep 0.05; done"},
                                   .env = {PATH_ENV}}));
    CHECK_INT(r.code, 9);
    CHECK_INT(r.outside, -1);
}

/* Orphans that hold stdout open, one of them deaf to TERM: the stream ends all the same. */
STORY(as_init_it_leaves_no_process_behind, RIG_NAMESPACE)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"sh", "-c",
                                            "(trap '' TERM; setsid sleep 1000 & sleep 1000) &"
                                            "(sleep 1000 &) ; (sleep 0 &); echo $$; exit 4"},
                                   .env = {PATH_ENV}}));
    CHECK_INT(r.code, 4);
    CHECK_INT(r.status, 4);
    /* 1 is the gate; 2 was the one that tried what the engine's profile refuses. */
    CHECK(rig_output_is(&r, "3\n"));
}

STORY(as_init_it_survives_the_command, RIG_NAMESPACE)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"sh", "-c", "kill -KILL 1; kill -STOP 1; echo here"},
                                   .env = {PATH_ENV}}));
    CHECK_INT(r.code, 0);
    CHECK(rig_output_is(&r, "here\n"));
}

STORY(the_command_cannot_look_into_the_gate, RIG_NOBODY)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"sh", "-c",
                                            "cat /proc/$PPID/environ /proc/$PPID/maps || "
                                            "ls /proc/$PPID/fd || echo refused"},
                                   .env = {PATH_ENV}}));
    CHECK(rig_output_is(&r, "refused\n"));
}

STORY(a_leaked_descriptor_is_reported_and_not_passed_on, RIG_LEAK)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"sh", "-c", "ls /proc/self/fd"}, .env = {PATH_ENV}}));
    CHECK(rig_has_fact(&r, "fd=9 pipe:"));
    CHECK(rig_output_is(&r, "0\n1\n2\n3\n"));
}

STORY(the_report_tells_of_itself, 0)
{
    static const char *const facts[] = {
        "fd=0 pipe:",
        "fd=1 pipe:",
        "fd=2 pipe:",
        "uid=",
        "cap.effective=",
        "mount=/",
        "interface=lo ",
        "address=lo 127.0.0.1/8",
        "limit=nofile ",
        "ns=pid:[",
        "cgroup=",
        "argv=",
        "hostname=",
        "working_dir=",
        "uid_map=",
        "sysctl=net.ipv4.ip_forward ",
        "masked=/proc/kcore ",
        "device=null c 1:3",
        "landlock.abi=",
        "denied=kcmp ",
        "no_new_privs=",
        "pid=",
    };
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode, &(rig_release){.argv = {"/bin/true"}}));
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        TEST_RECORDF(rig_has_fact(&r, facts[i]), "no fact %s", facts[i]);
    CHECK(!rig_has_fact(&r, "fd=3"));
    CHECK(!rig_has_fact(&r, "truncated="));
}

/* --- the fence ------------------------------------------------------------------------------ */

/* Where the kernel has no Landlock (or valgrind hides it), asking for it must fail: fail closed. */
static bool has_no_landlock(const rig *r)
{
    return rig_has_fact(r, "landlock.abi=0");
}

/* The shell and what it needs are allowed; another program of the same folder is not. */
STORY(the_fence_lets_only_its_own_program_run, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"/bin/sh", "-c",
                                            "echo in; /bin/ls / || echo no ls;"
                                            "echo x > /tmp/cordon-fence || echo no write"},
                                   .rules = {"execute /bin/sh", "execute /lib64", "read /usr",
                                             "execute /lib", "execute /no/such/file"},
                                   .landlock = 1}));
    if (has_no_landlock(&r)) {
        CHECK_INT(r.status, CORDON_GATE_STATUS_FAILED);
        return;
    }
    CHECK(rig_output_is(&r, "in\nno ls\nno write\n"));
    CHECK_INT(r.code, 0);
}

STORY(a_command_outside_the_fence_is_not_executed, 0)
{
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(&r, mode,
                    &(rig_release){.argv = {"/bin/true"}, .rules = {"read /"}, .landlock = 1}));
    CHECK_INT(r.code, -1);
    CHECK_INT(r.status,
              has_no_landlock(&r) ? CORDON_GATE_STATUS_FAILED : CORDON_GATE_STATUS_NOT_EXECUTABLE);
}

/*
 * The probe as the command: what the fence alone stops is stopped on a bare host, too. As nobody,
 * for it tries everything it can think of.
 */
STORY(the_probe_finds_the_fence_up, RIG_NOBODY | RIG_NAMESPACE)
{
    static const char *const lines[] = {
        "{\"name\":\"exec.memory\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"exec.other-programs\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"kernel.io-uring\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"kernel.keyctl\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"kernel.log\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"namespace.user\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"namespace.clone-user\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"socket.vsock\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"tcp.listen\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"gate.memory\",\"want\":\"refused\",\"got\":\"refused\",\"ok\":true",
        "{\"name\":\"proxy.other-host\",\"want\":\"403\",\"got\":\"no-proxy\",\"ok\":false",
        "{\"probe\":1,\"done\":true,\"checks\":",
    };
    cordon_auto(rig) r = {0};
    REQUIRE(rig_run(
        &r, mode,
        &(rig_release){.argv = {CORDON_GUARD_FILE, "probe", "--proxy", "127.0.0.1:1", "--pinned",
                                "pinned.example", "--gateway", "127.0.0.9", "--worktree", "/usr",
                                "--writable", "no", "--fenced", "yes"},
                       .rules = {"execute " CORDON_GUARD_FILE, "read /", "write /tmp", "connect 1"},
                       .landlock = 4}));
    if (has_no_landlock(&r)) {
        CHECK_INT(r.status, CORDON_GATE_STATUS_FAILED);
        return;
    }
    CHECK_INT(r.code, 1);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        TEST_RECORDF(memmem(r.out.data, r.out.length, lines[i], strlen(lines[i])) != NULL,
                     "no line %s", lines[i]);
}

static void bad_options_are_a_usage_error(void)
{
    static const char *const bad[] = {"0", "-1", "x", "3600001", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_auto(rig) r = {0};
        REQUIRE(rig_start(&r, RIG_BINARY, bad[i]));
        rig_finish(&r);
        CHECK_INT(r.status, CORDON_GUARD_EXIT_USAGE);
        CHECK(r.out.length == 0);
    }
}

CORDON_TEST_MAIN("gate_live", BOTH(a_released_command_runs_and_its_exit_is_told),
                 BOTH(a_signal_that_ends_the_command_is_told),
                 BOTH(a_secret_comes_by_a_descriptor_that_its_variable_names),
                 BOTH(the_command_gets_exactly_the_released_environment_and_folder),
                 BOTH(standard_input_is_empty_without_bytes),
                 BOTH(large_standard_input_arrives_whole_and_ends),
                 BOTH(input_that_nobody_reads_holds_nothing_up), BOTH(a_forged_exit_note_is_output),
                 BOTH(a_full_pipe_does_not_lose_the_exit_note), BOTH(end_of_file_releases_nothing),
                 BOTH(a_cut_frame_releases_nothing),
                 BOTH(a_frame_for_another_nonce_releases_nothing),
                 BOTH(a_damaged_frame_releases_nothing),
                 BOTH(bytes_behind_the_frame_release_nothing), BOTH(text_releases_nothing),
                 BOTH(a_huge_frame_is_refused_by_its_head), BOTH(a_signal_ends_the_wait),
                 BOTH(a_late_release_releases_nothing), BOTH(a_command_that_is_not_there_is_told),
                 BOTH(a_file_that_is_no_program_is_told), BOTH(a_missing_folder_is_a_failure),
                 BOTH(a_landlock_that_the_kernel_lacks_is_a_failure),
                 BOTH(signals_reach_the_command), BOTH(a_signal_from_outside_is_told),
                 BOTH(a_signal_of_the_commands_own_is_not_told_as_anothers),
                 BOTH(as_init_it_leaves_no_process_behind), BOTH(as_init_it_survives_the_command),
                 BOTH(the_command_cannot_look_into_the_gate),
                 BOTH(a_leaked_descriptor_is_reported_and_not_passed_on),
                 BOTH(the_report_tells_of_itself), BOTH(the_fence_lets_only_its_own_program_run),
                 BOTH(a_command_outside_the_fence_is_not_executed),
                 BOTH(the_probe_finds_the_fence_up), TEST(bad_options_are_a_usage_error))
