/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases SL1 and SL2: what goes to a command by the release alone - its arguments, and a variable of
 * the vendor's definition, as a secret will - stands nowhere where others could read it: not in a
 * command line, a name or a label, an inspection, an event, a log, an image or a file of Cordon's.
 */
#include "real.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (16U << 20)

/* Hex of the process, so that no other text has it by chance. */
static const char *in_environment(void)
{
    static char text[40];
    (void)snprintf(text, sizeof text, "marker-env-%08x", (unsigned)getpid());
    return text;
}

static const char *in_arguments(void)
{
    static char text[40];
    (void)snprintf(text, sizeof text, "marker-arg-%08x", (unsigned)getpid());
    return text;
}

/* A run whose command has both: it says how long they are and whether they are the same. */
static bool start_with_markers(running *r)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "name = \"marked\"; adapter = \"claude\"; hosts = [ \"llm.corp.test\" ];\n"
                   "env = ( \"MARKED_VALUE=%s\" );\n",
                   in_environment());
    *r = (running){.process = {.out_fd = -1, .err_fd = -1}};
    return real_file("vendors.d/marked.conf", text) &&
           cordon_start(
               &(call){.argv = SHELL("echo \"$MARKED_VALUE $1\" | tr a-z A-Z; read x; sleep $0",
                                     real_marker(), in_arguments()),
                       .options = WORDS("--vendor", "marked")},
               r);
}

static bool hear_markers(running *r)
{
    char want[96];
    (void)snprintf(want, sizeof want, "%s %s", in_environment(), in_arguments());
    for (char *c = want; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    return TEST_RECORDF(child_hear(&r->process, want, REAL_PATIENCE_MS),
                        "\"%s\" was not heard: %s %s", want, cordon_buf_text(&r->process.out),
                        cordon_buf_text(&r->process.err));
}

/* --- Where it could be ------------------------------------------------------------------------ */

static void expect_absent(const char *where, const char *bytes, size_t length)
{
    const char *const markers[] = {in_environment(), in_arguments()};
    for (size_t i = 0; i < 2; i++)
        TEST_RECORDF(!memmem(bytes, length, markers[i], strlen(markers[i])), "%s has %s", where,
                     markers[i]);
}

/* An answer of the engine's as it is, without a word of the decoders. */
static size_t look(const char *path)
{
    char whole[512];
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(whole, sizeof whole, "%s%s", real_is_docker() ? "/v1.41" : "/v4.0.0/libpod",
                   path);
    const cordon_httpc_request request = {
        .method = "GET", .path = whole, .response_max_bytes = ANSWER_MAX};
    if (!CHECK_OK(cordon_httpc_call(real.rest, &request, real_soon(), &answer, &err), err))
        return 0;
    TEST_RECORDF(answer.status == 200, "%s: %d", path, answer.status);
    expect_absent(path, cordon_buf_text(&answer.body), answer.body.length);
    return answer.body.length;
}

/* At least `least` bytes of HEAD + ID + TAIL: an answer that is empty would show nothing. */
static void look_at(size_t least, const char *head, const char *id, const char *tail)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s%s", head, id, tail);
    TEST_RECORDF(look(path) >= least, "%s: almost nothing was told", path);
}

static void look_at_objects(const real_ids *ids)
{
    const char *json = real_is_docker() ? "" : "/json";
    look_at(1000, "/containers/", ids->step, "/json");
    look_at(1000, "/containers/", ids->proxy, "/json");
    look_at(100, "/networks/", ids->vendor_network, json);
    look_at(100, "/networks/", ids->egress_network, json);
    look_at(100, "/containers", "", "/json?all=true");
    look_at(100, "/networks", "", json);
    look_at(2, "/volumes", "", json);
}

/* Names, labels, history of every image that is there. */
static void look_at_images(void)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    int status = 0;
    size_t count = 0;
    look_at(100, "/images", "", "/json");
    if (!rest_call("GET", "/images/json", NULL, &status, &doc))
        return;
    for (cordon_json_iter it = cordon_json_iterate(cordon_json_root(doc));
         cordon_json_next(&it) && count < 16; count++) {
        const char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        if (!CHECK_OK(cordon_json_need_string(it.value, "Id", &id, &err), err))
            return;
        look_at(100, "/images/", id, "/json");
        look_at(2, "/images/", id, "/history");
    }
    CHECK(count > 0);
}

/* Everything that the engine tells of the time since then. */
static void look_at_events(time_t since)
{
    char path[160];
    if (real_is_docker())
        (void)snprintf(path, sizeof path, "/events?since=%lld&until=%lld", (long long)since,
                       (long long)time(NULL));
    else
        (void)snprintf(path, sizeof path, "/events?stream=false&since=%lld", (long long)since);
    TEST_RECORDF(look(path) > 500, "%s: almost nothing was told", path);
}

/* --- SL1 -------------------------------------------------------------------------------------- */

/* The command's own arguments are seen in its own command line: here the environment's alone. */
static size_t look_at_command_lines(const char *marker)
{
    size_t seen = 0;
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    while (proc && (entry = readdir(proc))) {
        char path[64];
        char line[16384];
        (void)snprintf(path, sizeof path, "/proc/%.20s/cmdline", entry->d_name);
        int fd = entry->d_name[0] >= '1' && entry->d_name[0] <= '9'
                     ? open(path, O_RDONLY | O_CLOEXEC)
                     : -1;
        ssize_t length = fd >= 0 ? read(fd, line, sizeof line) : -1;
        if (fd >= 0)
            (void)close(fd);
        seen += length > 0;
        TEST_RECORDF(length <= 0 || !memmem(line, (size_t)length, marker, strlen(marker)),
                     "%s has %s", path, marker);
    }
    if (proc)
        (void)closedir(proc);
    return seen;
}

static void look_at_names(void)
{
    cordon_auto(cordon_fact_list) names = {0};
    if (!real_objects(&names))
        return;
    for (size_t i = 0; i < names.count; i++)
        expect_absent("a name", names.items[i], strlen(names.items[i]));
}

/* Cordon's own files of the run: its journal, what it remembers, and the receipt in the end. */
static void look_at_file(const char *path)
{
    static char text[1 << 20];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        (void)close(fd);
    if (TEST_RECORDF(length >= 0, "%s cannot be read", path))
        expect_absent(path, text, (size_t)length);
}

static void look_at_state(void)
{
    DIR *folder = opendir(real_path("state-0/cordon"));
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char name[320];
        (void)snprintf(name, sizeof name, "state-0/cordon/%s", entry->d_name);
        if (entry->d_type == DT_REG)
            look_at_file(real_path(name));
    }
    CHECK(folder && closedir(folder) == 0);
}

static void end_run(running *r)
{
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    char receipt[128];
    (void)snprintf(receipt, sizeof receipt, "%s", r->receipt_path);
    CHECK(kill(r->process.pid, SIGTERM) == 0);
    if (!cordon_end(r, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 143);
    look_at_file(receipt);
    EXPECT_NOTHING_LEFT(&o);
}

static void SL1_a_marker_is_in_no_command_line_no_name_and_no_file(void)
{
    cordon_auto(running) r;
    if (start_with_markers(&r) && hear_markers(&r)) {
        CHECK(look_at_command_lines(in_environment()) > 5);
        look_at_names();
        look_at_state();
    }
    end_run(&r);
}

/* --- SL2 -------------------------------------------------------------------------------------- */

static void SL2_a_marker_is_in_nothing_that_the_engine_tells(void)
{
    cordon_auto(running) r;
    real_ids ids;
    time_t since = time(NULL) - 1;
    if (start_with_markers(&r) && hear_markers(&r) && real_find_run(NULL, 0, &ids)) {
        look_at_objects(&ids);
        look_at_images();
    }
    end_run(&r);
    look_at_events(since);
}

REAL_MAIN("cases_secret", TEST(SL1_a_marker_is_in_no_command_line_no_name_and_no_file),
          TEST(SL2_a_marker_is_in_nothing_that_the_engine_tells))
