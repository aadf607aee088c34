/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What hwloc writes into XML: which elements are in which, which attributes they have, and of what
 * form these are. It is the same in all versions from 1.0 to 2.14; hwloc 3 writes something else.
 */
#ifndef MUSTER_LIB_MACHINE_XML_GRAMMAR_H
#define MUSTER_LIB_MACHINE_XML_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of the text. */
typedef struct xml_piece {
    const char *at;
    size_t length;
} xml_piece;

/* Their order is that of the table of elements. */
typedef enum xml_element {
    XML_TOPOLOGY,
    XML_OBJECT,
    XML_INFO,
    XML_PAGE_TYPE,
    XML_USERDATA,
    XML_DISTANCES,
    XML_LATENCY,
    XML_DISTANCES2,
    XML_DISTANCES2HETERO,
    XML_INDEXES,
    XML_U64VALUES,
    XML_SUPPORT,
    XML_MEMATTR,
    XML_MEMATTR_VALUE,
    XML_CPUKIND,
    XML_ELEMENTS, /* none of them */
} xml_element;

bool xml_piece_is(xml_piece p, const char *text);
bool xml_piece_is_one_of(xml_piece p, const char *const *texts); /* NULL after the last */
bool xml_piece_has_only(xml_piece p, const char *characters);

/* The element of that name inside of another one, XML_ELEMENTS outside of all. */
xml_element xml_element_in(xml_piece name, xml_element parent);
const char *xml_element_name(xml_element element);

/* Whether such text may stand in an element. */
bool xml_element_holds(xml_element element, xml_piece text);

/* False where the element has no such attribute, or none of that form. */
bool xml_attribute_is_known(xml_element element, xml_piece name, xml_piece value);

/* The only CPU or node of a set that is of the form; -1 where there is none or there are several.
 */
long xml_set_only(xml_piece set);

#endif
