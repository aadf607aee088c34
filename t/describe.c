/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a group says about itself, in words and in JSON, which is read back strictly.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "group/family.h"
#include "group/group.h"
#include "tap.h"

/* ---- a strict reader of JSON ---- */

static const char *read_value(const char *at);

static const char *read_string(const char *at)
{
    if (at == NULL || *at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < ' ')
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") >= 4)
            at += 4;
        else if (*at == '\0' || strchr("\"\\/bfnrt", *at) == NULL)
            return NULL;
    }
    return at + 1;
}

static const char *read_number(const char *at)
{
    at += *at == '-';
    size_t digits = strspn(at, "0123456789");
    return digits == 0 || (digits > 1 && *at == '0') ? NULL : at + digits;
}

static const char *read_members(const char *at, char end)
{
    if (*at == end)
        return at + 1;
    for (;;) {
        if (end == '}') {
            at = read_string(at);
            if (at == NULL || *at++ != ':')
                return NULL;
        }
        at = read_value(at);
        if (at == NULL || (*at != ',' && *at != end))
            return NULL;
        if (*at++ == end)
            return at;
    }
}

static const char *read_value(const char *at)
{
    switch (*at) {
    case '{':
        return read_members(at + 1, '}');
    case '[':
        return read_members(at + 1, ']');
    case '"':
        return read_string(at);
    default:
        return read_number(at);
    }
}

static bool is_json(const char *text)
{
    const char *end = read_value(text);
    return end != NULL && strcmp(end, "\n") == 0;
}

/* Bytes that are well-formed UTF-8, as JSON must be. */
static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        int more = *at < 0x80                  ? 0
                   : *at >= 0xc2 && *at < 0xe0 ? 1
                   : *at >= 0xe0 && *at < 0xf0 ? 2
                   : *at >= 0xf0 && *at < 0xf5 ? 3
                                               : -1;
        if (more < 0)
            return false;
        for (at++; more > 0; more--, at++)
            if ((*at & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* What another reader says, where there is one. */
static void other_reader(const char *text)
{
    if (system("python3 -c '' >/dev/null 2>&1") != 0) {
        skip(1, "no python3 here");
        return;
    }
    FILE *reader = popen("python3 -m json.tool >/dev/null 2>&1", "w");
    if (reader == NULL)
        bail_out("no pipe");
    fputs(text, reader);
    is_int(pclose(reader), 0, "python reads it too");
}

static void readers(void)
{
    static const char *const bad[] = {"{\"a\":1,}\n", "{\"a\" 1}\n",       "{\"a\":\"\n\"}\n",
                                      "{\"a\":01}\n", "{\"a\":\"\\x\"}\n", "{\"a\":1}",
                                      "[1,2\n",       "{\"a\":\"\n"};
    bool refused = true;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        refused = refused && !is_json(bad[i]);
    ok(refused && is_json("{\"a\":[{},1,-2],\"b\\u00ff\":\"\"}\n"),
       "the reader of this test works");
    ok(!is_utf8("\xff") && !is_utf8("\xc3") && is_utf8("\xc3\xa4"), "that of UTF-8 too");
}

/* ---- groups ---- */

static muster_group *make(const char *name, const char *options)
{
    muster_store *store = NULL;
    muster_group *group = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    muster_store_hash(&store);
    args.store = store;
    args.rank = 0;
    args.world_size = 1;
    args.group_name = name;
    args.options = options;
    if (muster_init_process_group(&group, &args) != MUSTER_OK)
        bail_out("no group: %s", muster_last_error());
    muster_store_free(store);
    return group;
}

static char *describe(muster_group *group, bool json)
{
    char *text = NULL;
    if (muster_group_describe(group, json, &text) != MUSTER_OK)
        bail_out("no description: %s", muster_last_error());
    return text;
}

static void facts(void)
{
    static const char *const words[] = {"group ", "rank ",        "size ",     "backend ",
                                        "why ",   "time-out ms",  "set-up us", "store operations",
                                        "state",  "rigged.trace", "(this one)"};
    static const char *const parts[] = {"\"group\":\"plain\"",
                                        "\"rank\":0",
                                        "\"size\":1",
                                        "\"backend\":\"local\"",
                                        "\"state\":\"working\"",
                                        "\"time_out_ms\":1800000",
                                        "\"options\":{",
                                        "\"rigged.trace\":\"1 (",
                                        "; without effect here)",
                                        "\"ranks\":[{",
                                        "\"pid\":"};
    muster_group *group = make("plain", "rigged.trace=yes");
    char *text = describe(group, false), *json = describe(group, true);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        has_str(text, words[i], "in words: %s", words[i]);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        has_str(json, parts[i], "in JSON: %s", parts[i]);
    ok(is_json(json), "it is JSON");
    other_reader(json);
    muster_free(text);
    muster_free(json);
    muster_group_free(group);
}

/* A name that the interface does not refuse, and values that come from outside. */
static void hostile(void)
{
    muster_group *group = make("a \"quoted\" \\ name \xc3\xa4", NULL);
    char *json = describe(group, true);
    has_str(json, "\"group\":\"a \\\"quoted\\\" \\\\ name \xc3\xa4\"", "quotes are escaped");
    ok(is_json(json) && is_utf8(json), "and it is JSON");
    muster_free(json);
    muster_group_free(group);

    group = make("\xff\xfe not UTF-8 \xc3", NULL);
    json = describe(group, true);
    ok(is_json(json) && is_utf8(json), "a name that is not UTF-8 makes JSON all the same");
    other_reader(json);
    muster_free(json);

    /* names of hosts and reasons come from other ranks */
    group->ranks.ranks[0].host = "evil\x01\x1b[31m\nhost\x7f\"";
    json = describe(group, true);
    has_str(json, "evil\\u0001\\u001b[31m\\u000ahost", "control characters are escaped");
    ok(is_json(json), "and it is JSON");
    muster_free(json);
    char *text = describe(group, false);
    ok(strchr(text, '\x1b') == NULL && strstr(text, "\nhost") == NULL,
       "in words a value stays on its line and moves no cursor");
    muster_free(text);
    muster_group_free(group);
}

/* A long value is not cut, least of all within a character. */
static void long_value(void)
{
    char option[1200] = "rigged.fail=\"";
    for (int i = 0; i < 500; i++)
        strcat(option, "\xc3\xa4");
    strcat(option, "end\"");
    muster_group *group = make("long", option);
    char *json = describe(group, true);
    has_str(json,
            "\xc3\xa4"
            "end (",
            "a long value is whole");
    ok(is_json(json) && is_utf8(json), "and it is JSON");
    muster_free(json);
    muster_group_free(group);
}

static void wrong(void)
{
    muster_group *group = make("w", NULL);
    char *text = NULL;
    is_int(muster_group_describe(NULL, true, &text), MUSTER_ERR_NOT_MEMBER, "no group");
    is_int(muster_group_describe(group, true, NULL), MUSTER_ERR_ARGUMENT, "no place for the text");
    has_str(muster_last_error(), "text is NULL", "says which");
    ok(text == NULL, "nothing is written");
    muster_group_free(group);
}

int main(void)
{
    plan(39);
    unsetenv("MUSTER_OPTIONS");
    unsetenv("MUSTER_RIGGED_FAIL");
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/.libs", 1);
    readers();
    facts();
    hostile();
    long_value();
    wrong();
    return done();
}
