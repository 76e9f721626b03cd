/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon version`: which Cordon, and which guard it puts into containers. */
#include "cli.h"
#include "kit/jsonw.h"
#include "output.h"
#include "report.h"

static const cordon_cli_option version_options[] = {
    CORDON_CLI_ROW_JSON("one JSON object"),
};

static int print_version(const cordon_cli_context *context, const cordon_cli_options *options,
                         cordon_err *err)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1024);
    char digest[CORDON_GUARD_DIGEST_SIZE];
    int rc = 0;
    cordon_guard_digest(digest);
    if (options->json) {
        cordon_jsonw json;
        cordon_jsonw_init(&json, &out);
        cordon_jsonw_begin_object(&json, NULL);
        cordon_jsonw_string(&json, "version", cordon_version());
        cordon_jsonw_string(&json, "guard", digest);
        cordon_jsonw_end_object(&json);
        rc = cordon_jsonw_finish(&json, err);
        if (rc == 0)
            rc = cordon_buf_append_char(&out, '\n', err);
    } else {
        rc =
            cordon_buf_printf(&out, err, "cordon %s\nguard  sha256:%s\n", cordon_version(), digest);
    }
    return rc == 0 ? cordon_cli_print(context->signal_fd, &out, err) : -1;
}

static int version_verb(const cordon_cli_context *context, const cordon_cli_options *options)
{
    cordon_err err = CORDON_ERR_INIT;
    if (print_version(context, options, &err) != 0)
        return cordon_cli_report_failure(context, options, &err);
    return CORDON_CLI_OK;
}

const cordon_cli_verb cordon_cli_verb_version = {
    .name = "version",
    .operands = "",
    .summary = "show the version and the digest of the embedded guard",
    .about = "The digest is SHA-256 of cordon-guard, the one program that Cordon puts into\n"
             "containers.\n",
    .takes = CORDON_CLI_TAKES_NOTHING,
    .options = version_options,
    .option_count = CORDON_CLI_COUNT(version_options),
    .run = version_verb,
};
