/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's step among others: the folder of its own that holds its CLI's state, and the session
 * in it that goes on. See adapter.h.
 *
 * SECURITY: the folder's name is random and new for each step, and the session in it is written by
 * Cordon from what it asked and heard itself. So nothing that an earlier step has left in the
 * scratch - settings, servers, a session's file with tools or instructions in it - is read.
 */
#include "adapter.h"

#include <stdio.h>
#include <string.h>

void cordon_session_file_clear(cordon_session_file *file)
{
    cordon_buf_clear(&file->bytes);
    *file = (cordon_session_file){0};
}

static int refuse_length(const cordon_talk *talk, cordon_err *err)
{
    *err = (cordon_err)CORDON_ERR_INIT;
    cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                   "the session has over %u bytes, more than can be resumed; leave resume out of "
                   "this step and tell the agent what it needs",
                   talk->too_long ? CORDON_TALK_MAX : CORDON_ADAPTER_SESSION_MAX);
    cordon_refuse_as(err, CORDON_REFUSED_AGENT);
    return -1;
}

int cordon_agent_session(const cordon_agent *agent, const cordon_talk *talk,
                         const char *working_dir, cordon_session_file *ret_file, cordon_err *err)
{
    cordon_auto(cordon_session_file)
        file = {.bytes = cordon_buf_make_secret(CORDON_ADAPTER_SESSION_MAX)};

    if (talk->too_long)
        return refuse_length(talk, err);
    if (agent->table->session(agent, talk, working_dir, &file, err) != 0)
        return err->code == CORDON_ERR_PROTOCOL ? refuse_length(talk, err) : -1;
    *ret_file = file;
    file = (cordon_session_file){0};
    return 0;
}

bool cordon_agent_sets_state(const cordon_agent *agent, const char *item)
{
    size_t length = strlen(agent->table->state_variable);

    return agent->version != NULL && strncmp(item, agent->table->state_variable, length) == 0 &&
           item[length] == '=';
}

int cordon_agent_environment_in(const cordon_agent *agent, const char *folder,
                                cordon_fact_list *environment, cordon_err *err)
{
    for (size_t i = 0; i < agent->environment.count; i++) {
        const char *item = agent->environment.items[i];
        size_t name = strcspn(item, "=");
        int result = 0;

        if (strcmp(item + name, "=" CORDON_ADAPTER_CA_FILE) == 0)
            result = cordon_fact_list_addf(environment, err, "%.*s=%s/" CORDON_ADAPTER_CA_NAME,
                                           (int)name, item, folder);
        else if (!cordon_agent_sets_state(agent, item))
            result = cordon_fact_list_add(environment, item, err);
        if (result != 0)
            return -1;
    }
    if (agent->version == NULL)
        return 0;
    return cordon_fact_list_addf(environment, err, "%s=%s", agent->table->state_variable, folder);
}
