/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts over an outcome, recorded at the line of the test that asks; see real.h. */
#include "real.h"

#include <dirent.h>

static const char *shown(const char *text)
{
    return text ? text : "(nothing)";
}

bool expect_kind(const outcome *o, const char *kind, int status, unsigned line, const char *file)
{
    const child *p = &o->process;
    const char *got = receipt_text(o, "result.kind");
    return test_recordf(!p->by_signal && p->status == status && test_same(got, kind), line, file,
                        "status %d, receipt \"%s\" (%s); want %d, \"%s\"; it said: %.500s",
                        p->status, shown(got), shown(receipt_text(o, "result.message")), status,
                        kind, outcome_err(o));
}

bool expect_exited(const outcome *o, int code, unsigned line, const char *file)
{
    return expect_kind(o, "exited", code, line, file) &&
           test_recordf(receipt_number(o, "result.exit_code") == code, line, file,
                        "the receipt's exit code is %lld, want %d",
                        receipt_number(o, "result.exit_code"), code);
}

bool expect_line(const outcome *o, const char *const *parts, unsigned line, const char *file)
{
    const char *text = outcome_err(o);
    const char *newline = strchr(text, '\n');
    bool ok =
        test_recordf(newline && newline[1] == '\0', line, file, "not one line: \"%.600s\"", text);
    for (; *parts; parts++)
        ok = test_recordf(test_has(text, *parts), line, file, "\"%.500s\" lacks \"%s\"", text,
                          *parts) &&
             ok;
    return ok;
}

static bool same_list(const cordon_fact_list *a, const cordon_fact_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i], b->items[i]) == 0;
    return same;
}

/* The first line of `now` that `before` lacks, for the message. */
static const char *first_new(const cordon_fact_list *before, const cordon_fact_list *now)
{
    for (size_t i = 0; i < now->count; i++) {
        bool known = false;
        for (size_t j = 0; j < before->count; j++)
            known = known || strcmp(before->items[j], now->items[i]) == 0;
        if (!known)
            return now->items[i];
    }
    return "nothing new, but something else is gone";
}

static bool engine_as_before(unsigned line, const char *file)
{
    cordon_auto(cordon_fact_list) now = {0};
    if (!real_objects(&now))
        return false;
    return test_recordf(same_list(&real.baseline, &now), line, file,
                        "the engine does not hold what it held before (%zu objects, now %zu): %s",
                        real.baseline.count, now.count, first_new(&real.baseline, &now));
}

static bool journal_empty(unsigned line, const char *file)
{
    DIR *folder = opendir(real_path("state-0/cordon"));
    const struct dirent *entry;
    bool empty = true;
    while (folder && (entry = readdir(folder)))
        empty = test_recordf(!strstr(entry->d_name, ".jsonl"), line, file,
                             "the journal still has %s", entry->d_name) &&
                empty;
    if (folder)
        (void)closedir(folder);
    return empty;
}

bool expect_nothing_left(const outcome *o, unsigned line, const char *file)
{
    bool agrees = test_recordf(!o->receipt || receipt_true(o, "cleanup.complete"), line, file,
                               "the receipt tells of something left");
    bool engine = engine_as_before(line, file);
    return journal_empty(line, file) && engine && agrees;
}
