/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each type of option takes.
 */
#include "options/option_type.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

static const char *option_type_string(const char *value)
{
    return value;
}

static const char *option_type_integer(const char *value)
{
    const char *digits = value + (*value == '-' || *value == '+');
    if (*digits < '0' || *digits > '9') /* strtoll would skip spaces */
        return NULL;
    char *end;
    int saved = errno;
    errno = 0;
    strtoll(value, &end, 10);
    bool fits = errno == 0 && *end == '\0';
    errno = saved;
    return fits ? value : NULL;
}

static const char *option_type_boolean(const char *value)
{
    static const char *const words[][2] = {
        {"1", "0"}, {"yes", "no"}, {"true", "false"}, {"on", "off"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(value, words[i][0]) == 0)
            return "1";
        if (strcasecmp(value, words[i][1]) == 0)
            return "0";
    }
    return NULL;
}

static const option_type option_types[] = {
    {MUSTER_OPTION_STRING, "string", "text", option_type_string},
    {MUSTER_OPTION_INTEGER, "integer", "a whole number in decimal that fits 64 bits",
     option_type_integer},
    {MUSTER_OPTION_BOOLEAN, "boolean", "1 or 0, yes or no, true or false, on or off",
     option_type_boolean},
};

const option_type *option_type_find(muster_option_type type)
{
    for (size_t i = 0; i < sizeof(option_types) / sizeof(option_types[0]); i++)
        if (option_types[i].type == type)
            return &option_types[i];
    return NULL;
}
