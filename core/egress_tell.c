/* SPDX-License-Identifier: Apache-2.0 */
/* Telling egress events as they come; see egress_tell.h. */
#include "egress_tell.h"

#include "config.h"

/*
 * SECURITY: a target and a server name are the command's own words, so they may hold a secret of
 * it; the event goes to the sums afterwards, which then have it no more than the caller has.
 */
static void tell_hide(const cordon_run *run, cordon_egress_event *event)
{
    const cordon_secrets *secrets = &run->invocation->secrets;

    if (!run->invocation->config->mask_secrets)
        return;
    cordon_secrets_hide(secrets, event->target);
    cordon_secrets_hide(secrets, event->server_name);
    cordon_secrets_hide(secrets, event->detail);
}

static void tell_event(void *context, cordon_egress_event *event)
{
    cordon_run *run = context;
    cordon_auto(cordon_buf) text = cordon_buf_make(CORDON_EGRESS_EVENT_MAX);
    cordon_err ignored = CORDON_ERR_INIT;

    tell_hide(run, event);
    /* Without memory for it the sums in the receipt still have it. */
    if (cordon_egress_event_json(event, &text, &ignored) != 0)
        return;
    if (run->io->egress != NULL)
        run->io->egress(run->io->egress_context, cordon_buf_text(&text));
    cordon_egress_file_write(&run->egress_file, text.data, text.length);
}

void cordon_run_tell_egress(cordon_run *run)
{
    run->receipt->egress.tell = tell_event;
    run->receipt->egress.tell_context = run;
    if (run->invocation->state_dir != NULL)
        cordon_egress_file_open(run->invocation->state_dir, run->invocation->owner.invocation,
                                &run->egress_file);
}
