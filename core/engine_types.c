/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of the value types that operations of engine.h hand out. No engine, no policy. */
#include "engine.h"

#include <string.h>

void cordon_engine_facts_clear(cordon_engine_facts *facts)
{
    free(facts->version);
    free(facts->api);
    free(facts->os);
    free(facts->architecture);
    free(facts->storage_driver);
    free(facts->storage_root);
    free(facts->runtime);
    cordon_fact_list_clear(&facts->security);
    cordon_fact_list_clear(&facts->warnings);
    *facts = (cordon_engine_facts){0};
}

bool cordon_volume_is_name(const char *name)
{
    size_t length = name != NULL ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

    return length > 0 && length <= CORDON_VOLUME_NAME_MAX && name[length] == '\0' && name[0] != '-';
}

bool cordon_volume_is_place(const char *name, const char *place)
{
    static const char folder[] = "/_data";
    size_t name_length = name != NULL ? strlen(name) : 0;
    size_t tail = 1 + name_length + sizeof(folder) - 1;
    size_t length = place != NULL ? strlen(place) : 0;
    const char *end;

    if (name_length == 0 || length < tail || place[0] != '/' || strstr(place, "/../") != NULL)
        return false;
    end = place + length - tail;
    return end[0] == '/' && memcmp(end + 1, name, name_length) == 0 &&
           strcmp(end + 1 + name_length, folder) == 0;
}

void cordon_list_clear(cordon_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].id);
        free(list->items[i].name);
        cordon_fact_list_clear(&list->items[i].labels);
    }
    free(list->items);
    *list = (cordon_list){0};
}

void cordon_image_list_clear(cordon_image_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].id);
        cordon_fact_list_clear(&list->items[i].names);
        cordon_fact_list_clear(&list->items[i].labels);
    }
    free(list->items);
    *list = (cordon_image_list){0};
}

void cordon_event_clear(cordon_event *event)
{
    free(event->id);
    free(event->container_id);
    free(event->raw_action);
    cordon_fact_list_clear(&event->labels);
    *event = (cordon_event){0};
}
