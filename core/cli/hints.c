/* SPDX-License-Identifier: Apache-2.0 */
/* A receipt's limits in the words of the configuration. */
#include "hints.h"

#include <stdio.h>
#include <string.h>

#include "kit/cleanup.h"
#include "kit/jsonr.h"
#include "output.h"

#define JSON_MAX_BYTES (1U << 20)
#define SIZE_TEXT_MAX  32

const char *cordon_cli_hints_size(int64_t bytes, char *ret_text, size_t size)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes > 0 && bytes % 1024 == 0 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(ret_text, size, "%lld%s", (long long)bytes, units[unit]);
    return ret_text;
}

/* The member `limit` of the configuration's limits, as text; "?" when it cannot be told. */
static const char *limit_text(const cordon_config *config, const char *limit, char *ret_text,
                              size_t size)
{
    cordon_autofree char *json = NULL;
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_json limits;
    int64_t bytes = 0;
    if (cordon_config_json(config, &json, &ignored) != 0 ||
        cordon_json_parse(json, strlen(json), JSON_MAX_BYTES, 0, &doc, &ignored) != 0 ||
        cordon_json_need_object(cordon_json_root(doc), "limits", &limits, &ignored) != 0 ||
        cordon_json_need_i64(limits, limit, &bytes, &ignored) != 0)
        return "?";
    return cordon_cli_hints_size(bytes, ret_text, size);
}

static bool output_was_cut(const cordon_receipt *receipt)
{
    cordon_autofree char *json = NULL;
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_json output;
    bool cut = false;
    return cordon_receipt_json(receipt, &json, &ignored) == 0 &&
           cordon_json_parse(json, strlen(json), JSON_MAX_BYTES, 0, &doc, &ignored) == 0 &&
           cordon_json_need_object(cordon_json_root(doc), "output", &output, &ignored) == 0 &&
           cordon_json_need_bool(output, "truncated", &cut, &ignored) == 0 && cut;
}

void cordon_cli_hints(const char *verb, const cordon_config *config, const cordon_receipt *receipt)
{
    char text[SIZE_TEXT_MAX];
    cordon_result result = {0};
    cordon_receipt_result(receipt, &result);
    if (result.kind == CORDON_RESULT_OOM)
        cordon_cli_complain("cordon %s: killed for memory: limits.memory is %s; raise it in the "
                            "configuration, or let the command use less",
                            verb, limit_text(config, "memory_bytes", text, sizeof text));
    if (output_was_cut(receipt))
        cordon_cli_complain("cordon %s: output was cut at %s; limits.output", verb,
                            limit_text(config, "output_bytes", text, sizeof text));
}
