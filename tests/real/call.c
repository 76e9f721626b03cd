/* SPDX-License-Identifier: Apache-2.0 */
/* Running the built `cordon`; see real.h. */
#include "real.h"

#include <stdlib.h>
#include <unistd.h>

#define WORDS_MAX 64

/* A command line under construction; no test comes near the end. */
typedef struct word_list {
    const char *items[WORDS_MAX];
    size_t count;
} word_list;

static void add(word_list *words, const char *word)
{
    if (CHECK(words->count + 1 < WORDS_MAX))
        words->items[words->count++] = word;
}

static void add_all(word_list *words, const char *const *more)
{
    for (; more && *more; more++)
        add(words, *more);
}

/* Each call has files of its own, so that calls may run side by side. */
static unsigned next_number(void)
{
    static unsigned number;
    return ++number;
}

static bool write_config(const call *what, const char *path)
{
    FILE *file = fopen(path, "we");
    if (!CHECK(file != NULL))
        return false;
    (void)fprintf(
        file,
        "engines = ( { name = \"real\"; kind = \"%s\"; endpoint = \"%s\"; } );\n"
        "limits: { %s };\n"
        "vendors_dir = \"%s/vendors.d\";\n"
        "runner: { network = \"%s\"; approved = ( %s ); };\n"
        "podman_service = \"never\";\n%s%s",
        what->kind ? what->kind : real.ops->name, what->endpoint ? what->endpoint : real.endpoint,
        what->limits ? what->limits : "grace = \"1s\";", real.folder,
        what->network ? what->network : "vendor", what->approved ? what->approved : "",
        strcmp(real.word, "rootless") == 0 && !what->strict ? "allow_unenforced_limits = true;\n"
                                                            : "",
        what->settings ? what->settings : "");
    return CHECK(fclose(file) == 0);
}

static void fill_words(const call *what, const char *config, const char *receipt, word_list *words)
{
    bool probe = test_same(what->verb, "probe");
    /* It goes by the journals, and makes no receipt. */
    bool gc = test_same(what->verb, "gc");
    add(words, CORDON_PROGRAM);
    add(words, what->verb ? what->verb : "run");
    add_all(words, WORDS("--config", config));
    if (!gc && !test_same(what->engine, ""))
        add_all(words, WORDS("--engine", what->engine ? what->engine : "real"));
    if (receipt && !gc)
        add_all(words, WORDS("--receipt", receipt));
    if (!probe && !gc && !test_same(what->image, ""))
        add_all(words, WORDS("--image", what->image ? what->image : real.image));
    if (what->argv && !what->unapproved)
        add(words, "--approve");
    add_all(words, what->options);
    if (what->argv) {
        add(words, "--");
        add_all(words, what->argv);
    }
}

bool cordon_start(const call *what, running *ret_running)
{
    char name[48];
    char state[256];
    char home[256];
    word_list words = {.count = 0};
    *ret_running = (running){.process = {.out_fd = -1, .err_fd = -1}};
    unsigned number = next_number();
    (void)snprintf(ret_running->receipt_path, sizeof ret_running->receipt_path, "%s/receipt-%u",
                   real.folder, number);
    (void)snprintf(name, sizeof name, "cordon-%u.conf", number);
    (void)snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state-%u", real.folder, what->uid);
    (void)snprintf(home, sizeof home, "HOME=%s/home%s", real.folder, what->uid ? "-of-others" : "");
    const char *config = real_path(name);
    if (!write_config(what, config))
        return false;
    fill_words(what, config, what->uid ? NULL : ret_running->receipt_path, &words);
    word_list environment = {.count = 0};
    add_all(&environment, WORDS("PATH=/usr/sbin:/usr/bin:/sbin:/bin", home, state));
    add_all(&environment, what->variables);
    const child_spec spec = {
        .argv = words.items,
        .environment = environment.items,
        .uid = what->uid,
        .stdin_fd = what->stdin_fd,
        .stdout_fd = what->stdout_fd,
    };
    return child_start(&spec, &ret_running->process);
}

void running_clear(running *r)
{
    child_clear(&r->process);
}

static cordon_json_doc *read_receipt(const char *path)
{
    cordon_json_doc *doc = NULL;
    cordon_err err = CORDON_ERR_INIT;
    char text[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        (void)close(fd);
    if (length < 0)
        return NULL;
    return CHECK_OK(cordon_json_parse(text, (size_t)length, sizeof text, 0, &doc, &err), err)
               ? doc
               : NULL;
}

bool cordon_end(running *r, outcome *ret_outcome)
{
    bool in_time = child_finish(&r->process, REAL_PATIENCE_MS);
    TEST_RECORDF(in_time, "cordon did not end; it said: %.300s", cordon_buf_text(&r->process.err));
    *ret_outcome = (outcome){.process = r->process, .receipt = read_receipt(r->receipt_path)};
    r->process = (child){.out_fd = -1, .err_fd = -1, .ended = true};
    return in_time;
}

bool cordon_call(const call *what, outcome *ret_outcome)
{
    cordon_auto(running) process;
    *ret_outcome = (outcome){.process = {.out_fd = -1, .err_fd = -1}};
    return cordon_start(what, &process) && cordon_end(&process, ret_outcome);
}

void outcome_clear(outcome *o)
{
    child_clear(&o->process);
    cordon_json_free(o->receipt);
    o->receipt = NULL;
}

const char *outcome_out(const outcome *o)
{
    return cordon_buf_text(&o->process.out);
}

const char *outcome_err(const outcome *o)
{
    return cordon_buf_text(&o->process.err);
}

/* --- Receipts --------------------------------------------------------------------------------- */

/* A key of an object; of an array the item with that number. */
static bool json_member(cordon_json at, const char *key, cordon_json_place *ret)
{
    cordon_err ignored = CORDON_ERR_INIT;
    unsigned left = 0;
    if (cordon_json_type_of(at) != CORDON_JSON_TYPE_ARRAY)
        return cordon_json_get_any(at, key, ret, &ignored) == 0 && ret->has == CORDON_JSON_PRESENT;
    for (const char *digit = key; *digit >= '0' && *digit <= '9'; digit++)
        left = left * 10 + (unsigned)(*digit - '0');
    for (cordon_json_iter it = cordon_json_iterate(at); cordon_json_next(&it);) {
        if (left-- == 0) {
            *ret = (cordon_json_place){.has = CORDON_JSON_PRESENT, .value = it.value};
            return true;
        }
    }
    return false;
}

bool json_find(cordon_json_doc *doc, const char *path, cordon_json *ret_place)
{
    char copy[128];
    char *rest = copy;
    if (!doc)
        return false;
    cordon_json_place at = {.has = CORDON_JSON_PRESENT, .value = cordon_json_root(doc)};
    (void)snprintf(copy, sizeof copy, "%s", path);
    for (const char *key; (key = strsep(&rest, "."));) {
        if (!json_member(at.value, key, &at))
            return false;
    }
    *ret_place = at.value;
    return true;
}

const char *receipt_text(const outcome *o, const char *path)
{
    cordon_json place;
    cordon_json_string text = {.text = NULL};
    cordon_err ignored = CORDON_ERR_INIT;
    if (!json_find(o->receipt, path, &place) || cordon_json_as_string(place, &text, &ignored) != 0)
        return NULL;
    return text.text;
}

long long receipt_number(const outcome *o, const char *path)
{
    cordon_json place;
    cordon_json_i64 number = {.value = -1};
    cordon_err ignored = CORDON_ERR_INIT;
    if (!json_find(o->receipt, path, &place) || cordon_json_as_i64(place, &number, &ignored) != 0)
        return -1;
    return number.value;
}

bool receipt_true(const outcome *o, const char *path)
{
    cordon_json place;
    cordon_json_bool is = {.value = false};
    cordon_err ignored = CORDON_ERR_INIT;
    return json_find(o->receipt, path, &place) && cordon_json_as_bool(place, &is, &ignored) == 0 &&
           is.value;
}
