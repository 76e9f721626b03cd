/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and recognizing the configurations of our images; see image_config.h. */
#include "image_config.h"

#include <string.h>

#include "kit/hash.h"
#include "kit/jsonw.h"

#define CONFIG_MAX   ((size_t)256 << 10)
#define CONFIG_EPOCH "1970-01-01T00:00:00Z"
#define CONFIG_USER  "1000:1000"
#define CONFIG_PATH  "PATH=/usr/local/bin:/usr/bin:/bin"

static const char *const kind_names[] = {
    [CORDON_IMAGE_FOREIGN] = "foreign",
    [CORDON_IMAGE_GUARD] = "guard",
    [CORDON_IMAGE_STEP] = "step",
    [CORDON_IMAGE_AGENT] = "agent",
};

const char *cordon_image_kind_name(cordon_image_kind kind)
{
    return kind_names[(size_t)kind < sizeof kind_names / sizeof kind_names[0] ? kind : 0];
}

/* What a container gets of these comes from its specification; this is for whoever looks. */
static void write_agent(cordon_jsonw *json, const cordon_image_badge *badge)
{
    cordon_jsonw_begin_array(json, "Env");
    cordon_jsonw_string(json, NULL, CONFIG_PATH);
    cordon_jsonw_end_array(json);
    cordon_jsonw_begin_object(json, "Labels");
    cordon_jsonw_string(json, CORDON_IMAGE_LABEL_CLI, badge->cli);
    if (badge->recipe[0] != '\0')
        cordon_jsonw_string(json, CORDON_IMAGE_LABEL_RECIPE, badge->recipe);
    cordon_jsonw_string(json, CORDON_IMAGE_LABEL_VERSION, badge->version);
    cordon_jsonw_end_object(json);
    cordon_jsonw_string(json, "User", CONFIG_USER);
}

static void write_history(cordon_jsonw *json, size_t layers)
{
    cordon_jsonw_begin_array(json, "history");
    for (size_t i = 0; i < layers; i++) {
        cordon_jsonw_begin_object(json, NULL);
        cordon_jsonw_string(json, "created", CONFIG_EPOCH);
        cordon_jsonw_string(json, "created_by", "cordon");
        cordon_jsonw_end_object(json);
    }
    cordon_jsonw_end_array(json);
}

static void write_rootfs(cordon_jsonw *json, const cordon_fact_list *layers)
{
    cordon_jsonw_begin_object(json, "rootfs");
    cordon_jsonw_begin_array(json, "diff_ids");
    for (size_t i = 0; i < layers->count; i++)
        cordon_jsonw_string(json, NULL, layers->items[i]);
    cordon_jsonw_end_array(json);
    cordon_jsonw_string(json, "type", "layers");
    cordon_jsonw_end_object(json);
}

int cordon_image_config_write(const char *architecture, const cordon_fact_list *layers,
                              const cordon_image_badge *badge, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw json;

    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "architecture", architecture);
    cordon_jsonw_begin_object(&json, "config");
    if (badge != NULL)
        write_agent(&json, badge);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_string(&json, "created", CONFIG_EPOCH);
    write_history(&json, layers->count);
    cordon_jsonw_string(&json, "os", "linux");
    write_rootfs(&json, layers);
    cordon_jsonw_end_object(&json);
    return cordon_jsonw_finish(&json, err);
}

static const char *label_of(const cordon_image_facts *facts, const char *key)
{
    const char *value = cordon_fact_map_get(&facts->labels, key);

    return value != NULL ? value : "";
}

int cordon_image_recognize(const cordon_image_facts *facts, cordon_image_kind *ret_kind,
                           cordon_image_badge *ret_badge, cordon_err *err)
{
    cordon_auto(cordon_buf) config = cordon_buf_make(CONFIG_MAX);
    cordon_image_badge badge = {
        .cli = label_of(facts, CORDON_IMAGE_LABEL_CLI),
        .version = label_of(facts, CORDON_IMAGE_LABEL_VERSION),
        .recipe = label_of(facts, CORDON_IMAGE_LABEL_RECIPE),
    };
    bool agent = badge.cli[0] != '\0';
    uint8_t digest[CORDON_SHA256_BYTES];
    char hex[CORDON_SHA256_HEX_SIZE];

    *ret_kind = CORDON_IMAGE_FOREIGN;
    if (facts->id == NULL || facts->architecture == NULL || facts->layers.count == 0)
        return 0;
    if (cordon_image_config_write(facts->architecture, &facts->layers, agent ? &badge : NULL,
                                  &config, err) != 0)
        return -1;
    cordon_sha256_digest(config.data, config.length, digest);
    cordon_hex_encode(digest, sizeof digest, hex);
    if (strcmp(hex, facts->id) != 0)
        return 0;
    *ret_badge = badge;
    *ret_kind = agent                      ? CORDON_IMAGE_AGENT
                : facts->layers.count == 1 ? CORDON_IMAGE_GUARD
                                           : CORDON_IMAGE_STEP;
    return 0;
}
