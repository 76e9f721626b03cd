/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendors' API played by `standin`, and runs of the agents' real CLIs against it: what such a
 * run is called with, and what it was seen to ask for.
 */
#ifndef CORDON_TESTS_VENDOR_H
#define CORDON_TESTS_VENDOR_H

#include "real.h"

/* One CLI in one image. image is "sha256:..." */
typedef struct agent {
    char cli[16];
    char version[32];
    char image[80];
} agent;

#define AGENTS_MAX 8

/* Those that tests/vendor/images imported into this engine, those with weapons left out. */
size_t agents_of_engine(agent agents[AGENTS_MAX]);

/*
 * The newest of a CLI; armed: with shells and other programs in its image. A failure is recorded
 * when there is none.
 */
bool agent_find(const char *cli, bool armed, agent *ret_agent);

typedef struct standin {
    child server;
} standin;

/*
 * Starts the stand-in, in the engines' network namespace, with an authority of its own, and writes
 * the vendor definitions of the tests:
 *
 *   t-claude, t-codex          the built-in vendors' hosts, mapped to the stand-in
 *   naked-claude, naked-codex  the same, with a command line that asks for everything
 */
bool standin_start(standin *ret_standin);
void standin_clear(standin *s);
CORDON_DEFINE_AUTO(standin, standin_clear)

/* What it answers from now on, in the words of `standin`; ' stands for ". Forgets all requests. */
bool standin_says(const char *scenario);

/* The key that the definitions give the agents. */
#define STANDIN_KEY "sk-ant-standin-0123456789"

/* Everything that was asked of it: one JSON object a request, as `standin` writes them. */
bool standin_heard(cordon_buf *ret_lines);

/* All names of tools that the model was offered in any request, sorted, without repeats. */
bool standin_offered(cordon_fact_list *ret_names);

/* All hosts, and all "METHOD /path", the same way. */
bool standin_hosts(cordon_fact_list *ret_hosts);
bool standin_paths(cordon_fact_list *ret_paths);

/* "a b c"; each call has its own buffer, of a few in turn. */
const char *names_text(const cordon_fact_list *names);

/*
 * `cordon run` of an agent. `vendor` is a definition of standin_start. The prompt is "do it" unless
 * given.
 */
typedef struct agent_call {
    const agent *what;
    const char *vendor;
    const char *phase;
    const char *worktree;
    const char *prompt;
    const char *limits;
    const char *settings; /* more configuration; NULL: agents with the version */
} agent_call;
bool agent_run(const agent_call *call_, outcome *ret_outcome);

#endif
