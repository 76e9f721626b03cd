/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what the mutation suite mutates: an honest run of one step and one of two, every
 * inspection that its `cordon` saw of its objects in both rounds - of two steps, the second's - and
 * the plan that they belong to. No test; run by hand as
 *     attack_record ENGINE FOLDER VERSION
 * after which tests/samples/README.md tells what to do with the files.
 */
#include "real/play.h"

#include <stdlib.h>

#include "gate/blob.h"
#include "images.h"

#define LIMITS                                                                                     \
    "memory = \"256MiB\"; cpus = 1.5; pids = 100; scratch = \"16MiB\"; open_files = 1000;"

static const char *folder;
static const char *version;
static char worktree[256];

/* What is recorded of one run: its name in the files, and how many containers it starts in all. */
typedef struct recording {
    const char *name;
    unsigned starts;
    unsigned steps;
    bool created_seen[CORDON_ROLE_COUNT];
    bool running_seen[CORDON_ROLE_COUNT];
    bool members_seen[CORDON_ROLE_COUNT][2];
} recording;

static recording the_recording;

/* "VERSION-NAME" in the folder. */
static void save(const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s-%s", folder, version, name);
    FILE *file = fopen(path, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void save_answer(cordon_role role, bool ready, const char *kind, const liar_exchange *x)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s-%s-%s%s.json", the_recording.name, cordon_role_name(role),
                   ready ? "running" : "created", kind);
    save(name, cordon_buf_text(&x->answer));
}

/* The final round begins when all containers have started; the first of each kind counts. */
static liar_word on_answer(play *p, const play_request *r, liar_exchange *x)
{
    recording *rec = &the_recording;
    bool ready = p->starts == rec->starts;
    /* The scratch is made and looked at before anything starts. */
    bool scratch = r->role == CORDON_ROLE_SCRATCH;
    if (x->status != 200 || r->role == CORDON_ROLE_COUNT)
        return LIAR_PASS;
    if (r->call == PLAY_MEMBERS && (ready || (scratch && p->starts == 0)) &&
        !rec->members_seen[r->role][ready]) {
        rec->members_seen[r->role][ready] = true;
        save_answer(r->role, ready, "-members", x);
    }
    if (r->call != PLAY_INSPECT)
        return LIAR_PASS;
    if (!rec->created_seen[r->role]) {
        rec->created_seen[r->role] = true;
        save_answer(r->role, false, "", x);
    } else if (ready && !rec->running_seen[r->role]) {
        rec->running_seen[r->role] = true;
        save_answer(r->role, true, "", x);
    }
    return LIAR_PASS;
}

/* The text of a place in the create of the vendor network, whose labels name the run. */
static char create_body[CORDON_ROLE_COUNT][8192];

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    (void)p;
    if (r->call == PLAY_CREATE && r->role != CORDON_ROLE_COUNT) {
        (void)snprintf(create_body[r->role], sizeof create_body[r->role], "%s",
                       cordon_buf_text(&x->request));
        the_recording.created_seen[r->role] = false;
    }
    return LIAR_PASS;
}

/* What follows `head` up to the next quote. */
static const char *quoted(const char *body, const char *head)
{
    static char text[8][128];
    static unsigned next;
    char *ret = text[next++ % 8];
    const char *at = strstr(body, head);
    CHECK(at != NULL);
    at = at ? at + strlen(head) : "";
    (void)snprintf(ret, sizeof text[0], "%.*s", (int)strcspn(at, "\""), at);
    return ret;
}

static void add_objects(const play *p, cordon_buf *out)
{
    cordon_err err = CORDON_ERR_INIT;
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        const char *word = cordon_role_name((cordon_role)role);
        CHECK_OK(cordon_buf_printf(out, &err, "name.%s %s\nid.%s %s\n", word, p->names[role], word,
                                   p->ids[role]),
                 err);
    }
}

static void save_plan(const play *p)
{
    const cordon_guard_program guard = {cordon_guard_bytes, cordon_guard_size};
    cordon_auto(cordon_images) images = {0};
    cordon_auto(cordon_buf) out = cordon_buf_make(16384);
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    char name[32];
    const char *labels = create_body[CORDON_ROLE_VENDOR_NETWORK];
    const char *subnet = real_is_docker() ? "\"Subnet\":\"" : "\"subnet\":\"";
    REQUIRE_OK(cordon_images_prepare(real.ops, real.impl, &real.facts, &guard, real.image, false,
                                     real_soon(), &images, &refusal, &err),
               err);
    CHECK_OK(cordon_buf_printf(
                 &out, &err,
                 "owner %s\ninvocation %s\ntoken %s\nsubnet.vendor-network %s\n"
                 "subnet.egress-network %s\nguard %s\nstep_image %s\ndelivery %d\nworktree %s\n"
                 "uid %u\nkeep_id %d\ncan %u\nruntime %s\nsteps %u\n",
                 quoted(labels, "io.cordon.owner\":\""),
                 quoted(labels, "io.cordon.invocation\":\""),
                 quoted(labels, "io.cordon.token\":\""), quoted(labels, subnet),
                 quoted(create_body[CORDON_ROLE_EGRESS_NETWORK], subnet), images.guard_id,
                 images.step_id, (int)images.delivery, worktree, real.uid,
                 strcmp(real.word, "rootless") == 0, real.facts.can, real.facts.runtime,
                 the_recording.steps),
             err);
    add_objects(p, &out);
    (void)snprintf(name, sizeof name, "%s.plan", the_recording.name);
    save(name, cordon_buf_text(&out));
}

static void record(const recording *what, call how)
{
    play p;
    const play_hooks hooks = {.ask = on_ask, .answer = on_answer};
    cordon_auto(outcome) o = {0};
    the_recording = *what;
    how.limits = LIMITS;
    if (play_begin(&p, how, &hooks) && play_end(&p, &o)) {
        EXPECT_EXITED(&o, 0);
        save_plan(&p);
    }
}

static void one_honest_run(void)
{
    const recording what = {.name = "run", .starts = 2, .steps = 1};
    (void)snprintf(worktree, sizeof worktree, "%s", real_worktree("project"));
    const char *const options[] = {"--phase", "review", "--worktree", worktree, NULL};
    record(&what, (call){.argv = WORDS("true"), .options = options});
}

/* Keeper, proxy, and two steps. */
static void one_honest_run_of_two_steps(void)
{
    const recording what = {.name = "steps-run", .starts = 4, .steps = 2};
    (void)snprintf(worktree, sizeof worktree, "%s", real_worktree("project-of-steps"));
    const char *const options[] = {
        "--phase", "review", "--worktree", worktree, "--steps", real_path("steps.json"), NULL};
    if (real_file("steps.json", "[{\"run\": [\"true\"]}, {\"run\": [\"true\"]}]\n"))
        record(&what, (call){.options = options, .approved = "[\"true\"]"});
}

int main(int argc, char **argv)
{
    static const test_case cases[] = {TEST(one_honest_run), TEST(one_honest_run_of_two_steps)};
    if (argc != 4)
        return 2;
    folder = argv[2];
    version = argv[3];
    return real_main(2, argv, "record", cases, 2);
}
