/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container facts as text, one "name=value" a line, so that decoder tests can say in one line what
 * must be there. Unknown is "?", lists are "[a][b]", mounts and endpoints one line each.
 */
#ifndef CORDON_TESTS_SUPPORT_FACTS_TEXT_H
#define CORDON_TESTS_SUPPORT_FACTS_TEXT_H

#include "facts.h"
#include "kit/buf.h"

/* Appends the lines of the facts. -1 when the buffer is too small. */
int facts_text_container(const cordon_container_facts *facts, cordon_buf *out);
int facts_text_network(const cordon_network_facts *facts, cordon_buf *out);
int facts_text_volume(const cordon_volume_facts *facts, cordon_buf *out);
int facts_text_image(const cordon_image_facts *facts, cordon_buf *out);

#endif
