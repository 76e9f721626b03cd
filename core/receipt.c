/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts; see receipt.h. */
#include "receipt.h"

#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "kit/cleanup.h"

#define RECEIPT_JSON_MAX     (1u << 20)
#define RECEIPT_FINDINGS_MAX 256

/* Kinds, as the receipt spells them, and what a program exits with. -1: the command's own status.
 */
static const struct {
    const char *name;
    int status;
} kinds[] = {
    [CORDON_RESULT_UNKNOWN] = {"error", 125},
    [CORDON_RESULT_EXITED] = {"exited", -1},
    [CORDON_RESULT_REFUSED] = {"refused", 126},
    [CORDON_RESULT_DEADLINE] = {"deadline", 124},
    [CORDON_RESULT_CANCELLED] = {"cancelled", 130},
    [CORDON_RESULT_OOM] = {"oom", 137},
    [CORDON_RESULT_TAMPERED] = {"tampered", 126},
    [CORDON_RESULT_NOT_STARTED] = {"not_started", 125},
    [CORDON_RESULT_ERROR] = {"error", 125},
};

void cordon_receipt_destroy(cordon_receipt *receipt)
{
    if (receipt == NULL)
        return;
    cordon_egress_clear(&receipt->egress);
    free(receipt->worktree);
    free(receipt->worktree_label);
    free(receipt->worktree_git);
    cordon_guard_findings_clear(&receipt->findings);
    cordon_buf_clear(&receipt->diff);
    free(receipt);
}

void cordon_receipt_free(cordon_receipt *receipt)
{
    if (cordon_handle_remove(CORDON_HANDLE_RECEIPT, receipt))
        cordon_receipt_destroy(receipt);
}

int cordon_receipt_new(cordon_receipt **ret_receipt, cordon_err *err)
{
    cordon_receipt *receipt = calloc(1, sizeof(*receipt));

    if (receipt == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    cordon_egress_init(&receipt->egress);
    receipt->kind = CORDON_RESULT_ERROR;
    receipt->exit_code = -1;
    receipt->status = kinds[CORDON_RESULT_ERROR].status;
    *ret_receipt = receipt;
    return 0;
}

static cordon_result_kind kind_of_failure(cordon_code code, cordon_stage stage)
{
    if (code == CORDON_ERR_REFUSED)
        return CORDON_RESULT_REFUSED;
    if (code == CORDON_ERR_TAMPERED)
        return CORDON_RESULT_TAMPERED;
    if (code == CORDON_ERR_CANCELLED)
        return CORDON_RESULT_CANCELLED;
    if (code == CORDON_ERR_TIMEOUT)
        return CORDON_RESULT_DEADLINE;
    return stage == CORDON_STAGE_CREATED ? CORDON_RESULT_NOT_STARTED : CORDON_RESULT_ERROR;
}

void cordon_receipt_fail(cordon_receipt *receipt, const cordon_err *failure, cordon_stage stage)
{
    receipt->failure = *failure;
    receipt->kind = kind_of_failure(failure->code, stage);
    receipt->exit_code = -1; /* what was told before is not to be believed any more */
    receipt->status = kinds[receipt->kind].status;
    if (receipt->kind == CORDON_RESULT_REFUSED && receipt->refusal.code == CORDON_REFUSED_NONE)
        cordon_refusal_from_error(failure, &receipt->refusal);
}

void cordon_receipt_restart(cordon_receipt *receipt)
{
    receipt->kind = CORDON_RESULT_ERROR;
    receipt->exit_code = -1;
    receipt->status = kinds[CORDON_RESULT_ERROR].status;
}

void cordon_receipt_exit(cordon_receipt *receipt, int exit_code, bool out_of_memory)
{
    receipt->exit_code = exit_code;
    receipt->kind = out_of_memory ? CORDON_RESULT_OOM : CORDON_RESULT_EXITED;
    receipt->status = out_of_memory ? kinds[CORDON_RESULT_OOM].status : exit_code;
}

void cordon_receipt_accept(cordon_receipt *receipt, const char *fact)
{
    for (size_t i = 0; i < receipt->unassured_count; i++) {
        if (strcmp(receipt->unassured[i], fact) == 0)
            return;
    }
    if (receipt->unassured_count < CORDON_RECEIPT_UNASSURED_MAX)
        receipt->unassured[receipt->unassured_count++] = fact;
}

void cordon_receipt_leave(cordon_receipt *receipt, cordon_role role, const char *id,
                          const char *reason)
{
    cordon_left *left;

    if (receipt->left_count == CORDON_RECEIPT_LEFT_MAX)
        return;
    left = &receipt->left[receipt->left_count++];
    left->type = cordon_role_type_name(role);
    (void)snprintf(left->id, sizeof(left->id), "%s", id);
    (void)cordon_err_printable(left->reason, sizeof(left->reason), reason, strlen(reason));
}

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

void cordon_receipt_result(const cordon_receipt *receipt, cordon_result *ret_result)
{
    bool refused;

    *ret_result =
        (cordon_result){.kind = CORDON_RESULT_UNKNOWN, .kind_name = "error", .status = 125};
    if (!cordon_handle_is_live(CORDON_HANDLE_RECEIPT, receipt))
        return;
    refused = receipt->refusal.code != CORDON_REFUSED_NONE;
    *ret_result = (cordon_result){
        .kind = receipt->kind,
        .kind_name = kinds[receipt->kind].name,
        .exit_code = receipt->exit_code,
        .status = receipt->status,
        .refusal_code = refused ? cordon_refusal_name(receipt->refusal.code) : NULL,
        .refusal_fact = refused ? receipt->refusal.fact : NULL,
        .refusal_expected = refused ? receipt->refusal.expected : NULL,
        .refusal_actual = refused ? receipt->refusal.actual : NULL,
        .message = text_or_null(receipt->failure.message),
        .cleanup_complete = receipt->left_count == 0,
    };
}

int cordon_receipt_diff(const cordon_receipt *receipt, const char **ret_patch, size_t *ret_length,
                        cordon_err *err)
{
    if (cordon_handle_check(CORDON_HANDLE_RECEIPT, receipt, err) != 0)
        return -1;
    if (receipt->diff_failure.code != CORDON_OK) {
        *err = receipt->diff_failure;
        return -1;
    }
    *ret_patch = receipt->diff_wanted ? cordon_buf_text(&receipt->diff) : NULL;
    *ret_length = receipt->diff_wanted ? receipt->diff.length : 0;
    return 0;
}

bool cordon_receipt_leftover(const cordon_receipt *receipt, size_t index,
                             cordon_leftover *ret_leftover)
{
    if (!cordon_handle_is_live(CORDON_HANDLE_RECEIPT, receipt) || index >= receipt->left_count)
        return false;
    *ret_leftover = (cordon_leftover){
        .type = receipt->left[index].type,
        .id = receipt->left[index].id,
        .reason = receipt->left[index].reason,
    };
    return true;
}

static void write_engine(const cordon_receipt *receipt, cordon_jsonw *json)
{
    if (receipt->engine_kind[0] == '\0') {
        cordon_jsonw_null(json, "engine");
        return;
    }
    cordon_jsonw_begin_object(json, "engine");
    cordon_jsonw_string(json, "name", receipt->engine_name);
    cordon_jsonw_string(json, "kind", receipt->engine_kind);
    cordon_jsonw_string(json, "version", receipt->engine_version);
    cordon_jsonw_string(json, "api", receipt->engine_api);
    cordon_jsonw_bool(json, "rootless", receipt->engine_rootless);
    cordon_jsonw_end_object(json);
}

static void write_findings(const cordon_guard_findings *findings, cordon_jsonw *json)
{
    cordon_jsonw_begin_array(json, "protected_changed");
    for (size_t i = 0; i < findings->count && i < RECEIPT_FINDINGS_MAX; i++) {
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "path", CORDON_QUOTE(findings->items[i].path));
        cordon_jsonw_string(json, "what", findings->items[i].what);
        cordon_jsonw_string_or_null(
            json, "moved_to",
            findings->items[i].moved_to != NULL ? CORDON_QUOTE(findings->items[i].moved_to) : NULL);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

/* What changed, in numbers; the patch itself is not the receipt's. */
static void write_diff(const cordon_receipt *receipt, cordon_jsonw *json)
{
    if (!receipt->diff_wanted || receipt->diff_failure.code != CORDON_OK) {
        cordon_jsonw_null(json, "diff");
        return;
    }
    cordon_jsonw_begin_object(json, "diff");
    cordon_jsonw_i64(json, "files", receipt->changes.files);
    cordon_jsonw_i64(json, "hidden", receipt->changes.hidden);
    cordon_jsonw_end_object(json);
}

static void write_inputs(const cordon_receipt *receipt, cordon_jsonw *json)
{
    cordon_jsonw_string_or_null(json, "vendor", text_or_null(receipt->vendor));
    cordon_jsonw_string_or_null(json, "phase", text_or_null(receipt->phase));
    if (receipt->image_id[0] == '\0' && receipt->image_pin[0] == '\0') {
        cordon_jsonw_null(json, "image");
    } else {
        cordon_jsonw_begin_object(json, "image");
        cordon_jsonw_string_or_null(json, "pin", text_or_null(receipt->image_pin));
        cordon_jsonw_string_or_null(json, "id", text_or_null(receipt->image_id));
        cordon_jsonw_end_object(json);
    }
    if (receipt->worktree == NULL) {
        cordon_jsonw_null(json, "worktree");
        return;
    }
    cordon_jsonw_begin_object(json, "worktree");
    cordon_jsonw_string(json, "path", receipt->worktree);
    cordon_jsonw_bool(json, "writable", receipt->worktree_writable);
    cordon_jsonw_string_or_null(json, "git", receipt->worktree_git);
    cordon_jsonw_string_or_null(json, "label", receipt->worktree_label);
    write_findings(&receipt->findings, json);
    write_diff(receipt, json);
    cordon_jsonw_end_object(json);
}

static void write_refusal(const cordon_receipt *receipt, cordon_jsonw *json)
{
    if (receipt->refusal.code == CORDON_REFUSED_NONE) {
        cordon_jsonw_null(json, "refusal");
        return;
    }
    cordon_jsonw_begin_object(json, "refusal");
    cordon_jsonw_string(json, "code", cordon_refusal_name(receipt->refusal.code));
    cordon_jsonw_string(json, "fact", receipt->refusal.fact);
    cordon_jsonw_string(json, "expected", receipt->refusal.expected);
    cordon_jsonw_string(json, "actual", receipt->refusal.actual);
    cordon_jsonw_end_object(json);
}

static void write_result(const cordon_receipt *receipt, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, "result");
    cordon_jsonw_string(json, "kind", kinds[receipt->kind].name);
    if (receipt->exit_code >= 0)
        cordon_jsonw_i64(json, "exit_code", receipt->exit_code);
    else
        cordon_jsonw_null(json, "exit_code");
    write_refusal(receipt, json);
    cordon_jsonw_string_or_null(json, "message", text_or_null(receipt->failure.message));
    cordon_jsonw_end_object(json);
}

static void write_step(const cordon_step_record *step, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "command", step->command);
    cordon_jsonw_string_or_null(json, "program",
                                step->program[0] != '\0' ? CORDON_QUOTE(step->program) : NULL);
    cordon_jsonw_string_or_null(json, "image", text_or_null(step->image_id));
    cordon_jsonw_string(json, "kind", step->reached ? kinds[step->kind].name : "not_reached");
    if (step->exit_code >= 0)
        cordon_jsonw_i64(json, "exit_code", step->exit_code);
    else
        cordon_jsonw_null(json, "exit_code");
    cordon_jsonw_i64(json, "run_ms", step->run_ms);
    cordon_jsonw_end_object(json);
}

static void write_steps(const cordon_receipt *receipt, cordon_jsonw *json)
{
    cordon_jsonw_begin_array(json, "steps");
    for (size_t i = 0; i < receipt->step_count; i++)
        write_step(&receipt->steps[i], json);
    cordon_jsonw_end_array(json);
}

static void write_timing(const cordon_timing *timing, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, "timing_ms");
    cordon_jsonw_i64(json, "open", timing->open_ms);
    cordon_jsonw_i64(json, "create", timing->create_ms);
    cordon_jsonw_i64(json, "validate", timing->validate_ms);
    cordon_jsonw_i64(json, "start", timing->start_ms);
    cordon_jsonw_i64(json, "run", timing->run_ms);
    cordon_jsonw_i64(json, "dispose", timing->dispose_ms);
    cordon_jsonw_i64(json, "total", timing->total_ms);
    cordon_jsonw_end_object(json);
}

static void write_cleanup(const cordon_receipt *receipt, cordon_jsonw *json)
{
    cordon_jsonw_begin_object(json, "cleanup");
    cordon_jsonw_bool(json, "complete", receipt->left_count == 0);
    cordon_jsonw_begin_array(json, "left");
    for (size_t i = 0; i < receipt->left_count; i++) {
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "type", receipt->left[i].type);
        cordon_jsonw_string(json, "id", receipt->left[i].id);
        cordon_jsonw_string(json, "reason", receipt->left[i].reason);
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
    cordon_jsonw_end_object(json);
}

int cordon_receipt_json(const cordon_receipt *receipt, char **ret_json, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(RECEIPT_JSON_MAX);
    cordon_jsonw json;

    if (cordon_handle_check(CORDON_HANDLE_RECEIPT, receipt, err) != 0)
        return -1;
    cordon_jsonw_init(&json, &text);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_i64(&json, "receipt", 1);
    cordon_jsonw_string_or_null(&json, "invocation", text_or_null(receipt->invocation));
    write_engine(receipt, &json);
    write_inputs(receipt, &json);
    write_result(receipt, &json);
    write_steps(receipt, &json);
    cordon_jsonw_begin_object(&json, "checks");
    cordon_jsonw_i64(&json, "facts", receipt->tally.facts);
    cordon_jsonw_i64(&json, "rounds", receipt->tally.rounds);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_begin_array(&json, "unassured");
    for (size_t i = 0; i < receipt->unassured_count; i++)
        cordon_jsonw_string(&json, NULL, receipt->unassured[i]);
    cordon_jsonw_end_array(&json);
    cordon_egress_write(&receipt->egress, &json);
    cordon_jsonw_begin_object(&json, "output");
    cordon_jsonw_i64(&json, "stdout_bytes", receipt->stdout_bytes);
    cordon_jsonw_i64(&json, "stderr_bytes", receipt->stderr_bytes);
    cordon_jsonw_bool(&json, "truncated", receipt->truncated);
    cordon_jsonw_end_object(&json);
    write_timing(&receipt->timing, &json);
    write_cleanup(receipt, &json);
    cordon_jsonw_end_object(&json);
    if (cordon_jsonw_finish(&json, err) != 0)
        return -1;
    return cordon_buf_take(&text, ret_json, NULL, err);
}

int cordon_receipt_new_failed(const cordon_err *failure, const char *vendor, const char *phase,
                              cordon_receipt **ret_receipt, cordon_err *err)
{
    cordon_receipt *receipt;

    if (cordon_receipt_new(&receipt, err) != 0)
        return -1;
    (void)snprintf(receipt->vendor, sizeof(receipt->vendor), "%s", vendor != NULL ? vendor : "");
    (void)snprintf(receipt->phase, sizeof(receipt->phase), "%s", phase != NULL ? phase : "");
    cordon_receipt_fail(receipt, failure, CORDON_STAGE_NOTHING);
    if (cordon_handle_add(CORDON_HANDLE_RECEIPT, receipt, err) != 0) {
        cordon_receipt_destroy(receipt);
        return -1;
    }
    *ret_receipt = receipt;
    return 0;
}
