/* SPDX-License-Identifier: Apache-2.0 */
/* libpod's volume inspect (libpod/define.InspectVolumeData) -> facts. */
#include "podman_decode_internal.h"

#include <string.h>

#include "podman_internal.h"

#define AT(member)    offsetof(cordon_volume_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])

static const cordon_factread_field volume_fields[] = {
    {"Driver", CORDON_READ_TEXT, AT(driver), CORDON_NULL_UNKNOWN},
    {"Scope", CORDON_READ_TEXT, AT(scope), CORDON_NULL_UNKNOWN},
    {"CreatedAt", CORDON_READ_TEXT, AT(created_at), CORDON_NULL_UNKNOWN},
    {"Options", CORDON_READ_MAP, AT(options), CORDON_NULL_EMPTY},
    {"Labels", CORDON_READ_MAP, AT(labels), CORDON_NULL_EMPTY},
};

const cordon_factread_harmless podman_volume_harmless[] = {
    {"$.MountCount", "how many containers have it mounted; who they are is the fact"},
    {"$.NeedsCopyUp", "whether files of an image could be copied in: each mount says nocopy"},
    {"$.NeedsChown", "whether its first user will own it"},
    {"$.UID", "who that was: the step's user, which the keeper has, too"},
    {"$.GID", "the same for the group"},
    {"$.LockNumber", "libpod's own lock"},
};
const size_t podman_volume_harmless_count =
    sizeof podman_volume_harmless / sizeof podman_volume_harmless[0];

/* SECURITY: each mount of it must lie there, so it is told, and of the driver's own form. */
static int read_place(cordon_json root, cordon_volume_facts *facts, cordon_err *err)
{
    cordon_json_place at = {0};
    const char *place = NULL;
    if (cordon_json_need_string(root, "Mountpoint", &place, err) != 0 ||
        cordon_json_get_any(root, "Mountpoint", &at, err) != 0)
        return -1;
    if (cordon_volume_is_place(facts->name, place))
        return cordon_fact_text_set(&facts->place, place, err);
    return cordon_factread_odd(at.value, place, &facts->unmodelled, err);
}

/* Both maps are left out where they are empty: that is how "none" is written. */
static int decode_volume(cordon_json root, cordon_volume_facts *facts, cordon_err *err)
{
    const char *name = NULL;
    if (cordon_json_need_string(root, "Name", &name, err) != 0 ||
        cordon_fact_text_set(&facts->name, name, err) != 0 || read_place(root, facts, err) != 0 ||
        cordon_factread_fields(root, FIELDS(volume_fields), facts, err) != 0)
        return -1;
    cordon_fact_list_known(&facts->labels);
    cordon_fact_list_known(&facts->options);
    return cordon_factread_leftovers(root, podman_volume_harmless, podman_volume_harmless_count,
                                     &facts->unmodelled, err);
}

int podman_decode_volume(const void *bytes, size_t length, cordon_volume_facts *ret_facts,
                         cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_volume_facts) facts = {0};
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        decode_volume(cordon_json_root(doc), &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

int podman_decode_volume_created(const void *bytes, size_t length, const char *name,
                                 cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    const char *told = NULL;
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "Name", &told, err) != 0)
        return -1;
    if (strcmp(told, name) == 0)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the answer is about %s", CORDON_QUOTE(told));
}
