/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting and printing doctor's findings. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kit/jsonw.h"
#include "output.h"

static const char *state_name(cordon_cli_state state)
{
    static const char *const names[] = {
        [CORDON_CLI_STATE_UNKNOWN] = "unknown",
        [CORDON_CLI_STATE_OK] = "ok",
        [CORDON_CLI_STATE_WARN] = "warn",
        [CORDON_CLI_STATE_FAIL] = "FAIL",
    };
    return names[state];
}

void cordon_cli_doctor_add(cordon_cli_doctor *doctor, cordon_cli_state state, const char *check,
                           const char *next, const char *fact, ...)
{
    if (doctor->count == CORDON_CLI_FINDINGS_MAX)
        return;
    cordon_cli_finding *finding = &doctor->findings[doctor->count++];
    *finding = (cordon_cli_finding){.state = state, .check = check, .next = next};
    char raw[CORDON_ERR_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, fact);
    int length = vsnprintf(raw, sizeof raw, fact, arguments);
    va_end(arguments);
    if (length >= 0)
        (void)cordon_err_printable(finding->fact, sizeof finding->fact, raw, strlen(raw));
}

bool cordon_cli_doctor_ok(const cordon_cli_doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        if (doctor->findings[i].state == CORDON_CLI_STATE_FAIL)
            return false;
    }
    return true;
}

static size_t count_of(const cordon_cli_doctor *doctor, cordon_cli_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < doctor->count; i++)
        count += doctor->findings[i].state == state;
    return count;
}

static int append_verdict(const cordon_cli_doctor *doctor, cordon_buf *out, cordon_err *err)
{
    size_t failed = count_of(doctor, CORDON_CLI_STATE_FAIL);
    size_t warned = count_of(doctor, CORDON_CLI_STATE_WARN);
    if (failed > 0)
        return cordon_buf_printf(out, err,
                                 "\nNOT READY: a run would be refused or fail; %zu FAIL, %zu warn; "
                                 "do what stands behind \"->\"\n",
                                 failed, warned);
    return cordon_buf_printf(out, err, "\nREADY: a run can work here; %zu warn\n", warned);
}

int cordon_cli_doctor_table(const cordon_cli_doctor *doctor, cordon_buf *out, cordon_err *err)
{
    cordon_cli_table table = {.columns = 3};
    for (size_t i = 0; i < doctor->count; i++) {
        const cordon_cli_finding *at = &doctor->findings[i];
        const char *const cells[] = {state_name(at->state), at->check, at->fact};
        cordon_cli_table_measure(&table, cells);
    }
    for (size_t i = 0; i < doctor->count; i++) {
        const cordon_cli_finding *at = &doctor->findings[i];
        const char *const cells[] = {state_name(at->state), at->check, at->fact};
        if (cordon_cli_table_row(&table, cells, out, err) != 0)
            return -1;
        int indent = (int)(table.width[0] + table.width[1] + 4);
        if (at->next[0] && cordon_buf_printf(out, err, "%*s-> %s\n", indent, "", at->next) != 0)
            return -1;
    }
    return append_verdict(doctor, out, err);
}

static void write_order(const cordon_cli_doctor *doctor, cordon_jsonw *json)
{
    cordon_jsonw_begin_array(json, "engines");
    for (size_t i = 0; i < doctor->order_count; i++) {
        const cordon_engine_candidate *at = doctor->order[i].candidate;
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "name", at->name);
        cordon_jsonw_string(json, "kind", at->kind);
        cordon_jsonw_string(json, "endpoint", at->endpoint);
        cordon_jsonw_string(json, "why", at->reason);
        cordon_jsonw_string_or_null(json, "passed_over", doctor->order[i].passed);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

int cordon_cli_doctor_json(const cordon_cli_doctor *doctor, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw json;
    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "doctor", 1);
    cordon_jsonw_bool(&json, "ok", cordon_cli_doctor_ok(doctor));
    write_order(doctor, &json);
    cordon_jsonw_begin_array(&json, "findings");
    for (size_t i = 0; i < doctor->count; i++) {
        const cordon_cli_finding *at = &doctor->findings[i];
        bool failed = at->state == CORDON_CLI_STATE_FAIL;
        cordon_jsonw_begin_object(&json, NULL);
        cordon_jsonw_string(&json, "check", at->check);
        cordon_jsonw_string(&json, "state", failed ? "fail" : state_name(at->state));
        cordon_jsonw_string(&json, "fact", at->fact);
        cordon_jsonw_string(&json, "next", at->next);
        cordon_jsonw_end_object(&json);
    }
    cordon_jsonw_end_array(&json);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}
