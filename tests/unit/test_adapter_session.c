/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's session that goes on in a later step: the exact words for it, the file that Cordon
 * writes from what was asked and heard, and where it lies.
 */
#include <stdlib.h>

#include "support/agent_rig.h"

/* --- A session that goes on ------------------------------------------------------------------- */

/* The restrictions of a first step, word for word, and the session's id behind them. */
static void a_resumed_step_gets_the_same_words_and_the_sessions_id(void)
{
    for (size_t i = 0; i < COUNT(words) * COUNT(phases); i++) {
        size_t w = i / COUNT(phases);
        bool writes = phases[i % COUNT(phases)].writes;
        bool codex = strcmp(words[w].vendor, "codex") == 0;
        cordon_auto(rig) r = {0};
        char text[4096];
        char wanted[4096];
        const char *first = writes ? words[w].writes : words[w].reads;
        REQUIRE_OK(
            build_resumed(&r, words[w].vendor, phases[i % COUNT(phases)].name, words[w].version),
            r.err);
        CHECK_INT(strlen(r.agent.session), 36);
        (void)snprintf(wanted, sizeof wanted, "%.*s%s<%s>%s",
                       (int)(strlen(first) - (codex ? 3 : 0)), first,
                       codex ? "<resume>" : "<--resume>", r.agent.session, codex ? "<->" : "");
        CHECK_STR(joined(&r.agent.argv, text, sizeof text), wanted);
    }
}

static void two_sessions_have_two_ids(void)
{
    cordon_auto(rig) one = {0};
    cordon_auto(rig) other = {0};
    REQUIRE_OK(build_resumed(&one, "claude", "fix", "2.1.332"), one.err);
    REQUIRE_OK(build_resumed(&other, "claude", "fix", "2.1.332"), other.err);
    CHECK(strcmp(one.agent.session, other.agent.session) != 0);
    CHECK_INT(one.agent.session[14], '4');
    CHECK_INT(one.agent.session[19], '8');
}

static void what_cannot_be_resumed_is_refused(void)
{
    cordon_auto(rig) r = {0};
    cordon_auto(rig) own = {0};
    const cordon_agent_wish unknown = {.version = "2.2.0", .allow_unknown = true, .resume = true};
    CHECK_FAILS(build_wish(&r, "claude", "review", &unknown), r.err, CORDON_ERR_REFUSED,
                "how claude 2.2.0 resumes a session is not known to Cordon; leave resume out");
    CHECK_INT(r.err.refusal, CORDON_REFUSED_AGENT);
    REQUIRE_OK(build_own(&own, "\"/usr/local/bin/claude\"", NULL), own.err);
    const cordon_phase *phase = NULL;
    REQUIRE_OK(cordon_phase_find("review", &phase, &own.err), own.err);
    cordon_agent_clear(&own.agent);
    CHECK_FAILS(cordon_agent_build(own.vendor, phase, &(cordon_agent_wish){.resume = true},
                                   &own.agent, &own.err),
                own.err, CORDON_ERR_REFUSED, "vendor own has a command line of its own");
    CHECK_INT(own.err.refusal, CORDON_REFUSED_AGENT);
}

/* A talk of two questions; the answer has what JSON must escape. */
static bool talk_of(cordon_talk *talk)
{
    cordon_err err = CORDON_ERR_INIT;
    return CHECK_OK(cordon_talk_ask(talk, "why?", 4, &err), err) &&
           CHECK_OK(cordon_talk_answer(talk, "\"so\"", 4, &err), err) &&
           CHECK_OK(cordon_talk_answer(talk, "there\n", 6, &err), err) &&
           CHECK_OK(cordon_talk_ask(talk, "and?", 4, &err), err);
}

#define TIME  "\"timestamp\":\"2026-01-01T00:00:00.000Z\""
#define ID(n) "\"0000000" n "-0000-4000-8000-000000000000\""
#define LINE(parent, type, n)                                                                      \
    "{\"parentUuid\":" parent ",\"isSidechain\":false,\"userType\":\"external\","                  \
    "\"cwd\":\"/worktree/a.b\",\"sessionId\":\"S\",\"version\":\"2.1.332\",\"type\":\"" type       \
    "\",\"uuid\":" ID(n) "," TIME ",\"message\":{"
#define CLAUDE_SESSION                                                                             \
    LINE("null", "user", "1")                                                                      \
    "\"role\":\"user\",\"content\":\"why?\"}}\n" LINE(ID("1"), "assistant", "2") "\"id\":" ID(     \
        "2") ",\"type\":\"message\",\"role\":"                                                     \
             "\"assistant\",\"model\":\"claude\",\"content\":["                                    \
             "{\"type\":\"text\",\"text\":\"\\\"so\\\"\\n\\nthere\\n\"}],"                         \
             "\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\""                       \
             ":{\"input_tokens\":0,\"output_tokens\":0}}}\n" LINE(                                 \
                 ID("2"), "user", "3") "\"role\":\"user\",\"content\":\"and?\"}}\n"
#define ITEM_OF(role, kind, text)                                                                  \
    "{" TIME ",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"" role      \
    "\",\"content\":[{\"type\":\"" kind "\",\"text\":\"" text "\"}]}}\n"
#define CODEX_SESSION                                                                              \
    "{" TIME ",\"type\":\"session_meta\",\"payload\":{\"id\":\"S\"," TIME ",\"cwd\":"              \
    "\"/worktree/a.b\",\"originator\":\"codex_exec\",\"cli_version\":\"0.171.0\",\"source\":"      \
    "\"exec\",\"model_provider\":\"cordon\",\"multi_agent_version\":\"disabled\"}}\n" ITEM_OF(     \
        "user", "input_text", "why?")                                                              \
        ITEM_OF("assistant", "output_text", "\\\"so\\\"\\n\\nthere\\n")                            \
            ITEM_OF("user", "input_text", "and?")

static const struct {
    const char *vendor;
    const char *version;
    const char *path;
    const char *text;
} sessions[] = {
    {"claude", "2.1.332", "projects/-worktree-a-b/S.jsonl", CLAUDE_SESSION},
    {"codex", "0.171.0", "sessions/2026/01/01/rollout-2026-01-01T00-00-00-S.jsonl", CODEX_SESSION},
};

static void a_sessions_file_is_what_was_asked_and_answered(void)
{
    for (size_t i = 0; i < COUNT(sessions); i++) {
        cordon_auto(rig) r = {0};
        cordon_auto(cordon_talk) talk = {0};
        cordon_auto(cordon_session_file) file = {0};
        REQUIRE_OK(build_resumed(&r, sessions[i].vendor, "fix", sessions[i].version), r.err);
        (void)snprintf(r.agent.session, sizeof r.agent.session, "S");
        REQUIRE(talk_of(&talk));
        REQUIRE_OK(cordon_agent_session(&r.agent, &talk, "/worktree/a.b", &file, &r.err), r.err);
        CHECK_STR(file.path, sessions[i].path);
        CHECK_STR(cordon_buf_text(&file.bytes), sessions[i].text);
    }
}

/* Half of the most that is kept, of a byte that JSON makes six of. */
static void a_session_beyond_the_limit_is_refused(void)
{
    size_t length = CORDON_TALK_MAX / 2;
    cordon_autofree char *text = malloc(length);
    REQUIRE(text != NULL);
    for (size_t i = 0; i < COUNT(sessions); i++) {
        cordon_auto(rig) r = {0};
        cordon_auto(cordon_talk) talk = {0};
        cordon_auto(cordon_session_file) file = {0};
        REQUIRE_OK(build_resumed(&r, sessions[i].vendor, "fix", sessions[i].version), r.err);
        (void)memset(text, 1, length);
        REQUIRE_OK(cordon_talk_ask(&talk, text, length, &r.err), r.err);
        CHECK_FAILS(cordon_agent_session(&r.agent, &talk, "/w", &file, &r.err), r.err,
                    CORDON_ERR_REFUSED, "more than can be resumed; leave resume out");
        r.err = (cordon_err)CORDON_ERR_INIT;
        REQUIRE_OK(cordon_talk_ask(&talk, text, length, &r.err), r.err);
        CHECK(talk.too_long);
        CHECK_FAILS(cordon_agent_session(&r.agent, &talk, "/w", &file, &r.err), r.err,
                    CORDON_ERR_REFUSED, "over 2097152 bytes");
        CHECK_INT(r.err.refusal, CORDON_REFUSED_AGENT);
    }
}

static void claude_has_no_session_in_a_folder_that_it_calls_by_a_rule_of_its_own(void)
{
    char path[256];
    cordon_auto(rig) r = {0};
    cordon_auto(cordon_talk) talk = {0};
    cordon_auto(cordon_session_file) file = {0};
    REQUIRE_OK(build_resumed(&r, "claude", "fix", "2.1.197"), r.err);
    (void)memset(path, '/', sizeof path);
    path[201] = '\0';
    CHECK_FAILS(cordon_agent_session(&r.agent, &talk, path, &file, &r.err), r.err,
                CORDON_ERR_CONFIG, "make worktree.mount shorter");
    r.err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_agent_session(&r.agent, &talk, "/\303\244", &file, &r.err), r.err,
                CORDON_ERR_CONFIG, "is not ASCII");
}

static void among_steps_state_and_authority_are_in_the_steps_own_folder(void)
{
    static const struct {
        const char *vendor;
        const char *version;
        const char *has;
    } rows[] = {{"claude", "2.1.332", "<CLAUDE_CONFIG_DIR=/tmp/.x>"},
                {"codex", "0.166.0", "<CODEX_HOME=/tmp/.x>"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_auto(rig) r = {0};
        cordon_auto(cordon_fact_list) environment = {0};
        char text[4096];
        REQUIRE_OK(build(&r, rows[i].vendor, "fix", rows[i].version, false, NULL), r.err);
        REQUIRE_OK(cordon_fact_list_add(&r.agent.environment, "CA=" CORDON_ADAPTER_CA_FILE, &r.err),
                   r.err);
        REQUIRE_OK(cordon_agent_environment_in(&r.agent, "/tmp/.x", &environment, &r.err), r.err);
        (void)joined(&environment, text, sizeof text);
        CHECK_CONTAINS(text, rows[i].has);
        CHECK_CONTAINS(text, "<CA=/tmp/.x/ca.pem>");
        CHECK(strstr(text, "/tmp/.claude") == NULL && strstr(text, "/tmp/.cordon") == NULL);
    }
}

/* --- What is heard ---------------------------------------------------------------------------- */

#define CLAUDE_SAYS(type, parent, blocks)                                                          \
    "{\"type\":\"" type "\",\"parent_tool_use_id\":" parent ",\"message\":{\"content\":[" blocks   \
    "]}}\n"
#define SAID(t) "{\"type\":\"text\",\"text\":\"" t "\"}"

static const struct {
    const char *vendor;
    const char *version;
    const char *text;
    const char *answer;
} heard[] = {
    {"claude", "2.1.332",
     GOOD CLAUDE_SAYS("assistant", "null", SAID("one") ",{\"type\":\"tool_use\",\"text\":\"no\"}")
         CLAUDE_SAYS("user", "null", SAID("no")) CLAUDE_SAYS("assistant", "\"x\"", SAID("no"))
             CLAUDE_SAYS("assistant", "null", SAID("two")),
     "one\n\ntwo"},
    {"codex", "0.171.0",
     THREAD
     "{\"type\":\"item.completed\",\"item\":{\"type\":\"reasoning\",\"text\":\"no\"}}\n"
     "{\"type\":\"item.started\",\"item\":{\"type\":\"agent_message\",\"text\":\"no\"}}\n"
     "{\"type\":\"item.completed\",\"item\":{\"type\":\"file_change\",\"changes\":["
     "{\"path\":\"/w/a\",\"kind\":\"add\"},{\"path\":\"/w/b\",\"kind\":\"update\"}]}}\n"
     "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"one\"}}\n",
     "Changed files: add /w/a, update /w/b\n\none"},
};

static void what_the_agent_answered_is_heard_and_nothing_else(void)
{
    for (size_t i = 0; i < COUNT(heard); i++) {
        cordon_auto(rig) r = {0};
        cordon_auto(cordon_talk) talk = {0};
        cordon_agent_watch reader;
        cordon_refusal refusal = {0};
        size_t at = 0;
        bool asked = true;
        const char *text = "";
        REQUIRE_OK(build(&r, heard[i].vendor, i ? "fix" : "review", heard[i].version, false, NULL),
                   r.err);
        cordon_agent_watch_init(&reader, &r.agent, &talk);
        CHECK_OK(cordon_agent_watch_feed(&reader, heard[i].text, strlen(heard[i].text), &refusal,
                                         &r.err),
                 r.err);
        cordon_agent_watch_clear(&reader);
        CHECK(cordon_talk_next(&talk, &at, &asked, &text));
        CHECK(!asked);
        CHECK_STR(text, heard[i].answer);
        CHECK(!cordon_talk_next(&talk, &at, &asked, &text));
    }
}

/* Another session than the one that Cordon wrote is not what was asked for. */
static void another_session_than_the_resumed_one_is_a_refusal(void)
{
    static const struct {
        const char *vendor;
        const char *version;
        const char *text;
    } rows[] = {{"claude", "2.1.332", GOOD}, {"codex", "0.171.0", THREAD}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_auto(rig) r = {0};
        cordon_agent_watch reader;
        cordon_refusal refusal = {0};
        REQUIRE_OK(build_resumed(&r, rows[i].vendor, "review", rows[i].version), r.err);
        cordon_agent_watch_init(&reader, &r.agent, NULL);
        CHECK_INT(
            cordon_agent_watch_feed(&reader, rows[i].text, strlen(rows[i].text), &refusal, &r.err),
            -1);
        cordon_agent_watch_clear(&reader);
        CHECK_INT(refusal.code, CORDON_REFUSED_AGENT);
        CHECK_STR(refusal.fact, "agent.session");
        CHECK_STR(refusal.expected, r.agent.session);
    }
}

CORDON_TEST_MAIN("adapter_session", TEST(a_resumed_step_gets_the_same_words_and_the_sessions_id),
                 TEST(two_sessions_have_two_ids), TEST(what_cannot_be_resumed_is_refused),
                 TEST(a_sessions_file_is_what_was_asked_and_answered),
                 TEST(a_session_beyond_the_limit_is_refused),
                 TEST(claude_has_no_session_in_a_folder_that_it_calls_by_a_rule_of_its_own),
                 TEST(among_steps_state_and_authority_are_in_the_steps_own_folder),
                 TEST(what_the_agent_answered_is_heard_and_nothing_else),
                 TEST(another_session_than_the_resumed_one_is_a_refusal))
