/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts written down in words for people, or in JSON, by the same calls.
 */
#ifndef MUSTER_LIB_FACTS_H
#define MUSTER_LIB_FACTS_H

#include <stdbool.h>
#include <stdio.h>

#include "muster.h"

typedef struct facts {
    FILE *out;
    bool json;
    bool first; /* in the present object or list */
    char *text; /* what was written, once facts_end has said so */
    size_t size;
} facts;

/* Begins an object, and ends it: *text then is in memory for muster_free(). */
muster_status facts_begin(facts *f, bool json);
muster_status facts_end(facts *f, char **text);

/* In JSON "world size" becomes "world_size". Values are escaped: they may come from other ranks. */
void facts_text(facts *f, const char *name, const char *value);
void facts_number(facts *f, const char *name, long long value);

/* A text of several parts: facts_open, any of facts_part and fprintf to f->out, facts_close. */
void facts_open(facts *f, const char *name);
void facts_part(const facts *f, const char *text);
void facts_close(facts *f);

/* A list or an object inside: brackets are only seen in JSON. An element of a list has no name. */
void facts_open_list(facts *f, const char *name, char bracket);
void facts_close_list(facts *f, char bracket);

#endif
