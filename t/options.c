/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options object, options as text, and which of several places wins.
 */
#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* All settings as "name=value;name?=value;". */
static const char *shown(const muster_options *options)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < options_count(options); i++) {
        const options_setting *setting = options_at(options, i);
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s=%s;", setting->name,
                 setting->optional ? "?" : "", setting->value);
    }
    return text;
}

static const struct {
    const char *text;
    const char *settings; /* NULL: refused, */
    const char *words;    /* with these words */
} texts[] = {
    {"", "", NULL},
    {"  , ,", "", NULL},
    {"gloo.iface=eth0", "gloo.iface=eth0;", NULL},
    {"gloo.iface=eth0,gloo.hostname=10.0.0.1", "gloo.iface=eth0;gloo.hostname=10.0.0.1;", NULL},
    {"gloo.iface=^lo,docker", "gloo.iface=^lo,docker;", NULL},
    {"a.x=^lo,docker,a.y=2", "a.x=^lo,docker;a.y=2;", NULL},
    {"a.x==eth0", "a.x==eth0;", NULL},
    {"a.x==eth0,=eth1,a.y=1", "a.x==eth0,=eth1;a.y=1;", NULL},
    {"a.x=k=v", "a.x=k=v;", NULL},
    {" a.x = 1 ,\n a.y\t=\t2 ", "a.x=1;a.y=2;", NULL},
    {"a.x=lo, eth", "a.x=lo, eth;", NULL},
    {"a.x=", "a.x=;", NULL},
    {"a.x=,a.y=1", "a.x=;a.y=1;", NULL},
    {"a.x=1,", "a.x=1;", NULL},
    {"a.x=1,,a.y=2", "a.x=1;a.y=2;", NULL},
    {"a.x=\"b=1,c=2\"", "a.x=b=1,c=2;", NULL},
    {"a.x=\" as is \" , a.y=1", "a.x= as is ;a.y=1;", NULL},
    {"a.x=\"\",a.y=\"\"", "a.x=;a.y=;", NULL},
    {"a.x=\"1\",", "a.x=1;", NULL},
    {"a.x=in \"the\" middle", "a.x=in \"the\" middle;", NULL},
    {"a.x?=1", "a.x?=1;", NULL},
    {"a.x ? = 1", "a.x?=1;", NULL},
    {"a.x=1,a.x=2", "a.x=2;", NULL},
    {"a.x=1,a.y=5,a.x?=2", "a.x?=2;a.y=5;", NULL},
    {"eth0", NULL, "'eth0' does not begin with a name and '='"},
    {"eth0,a.x=1", NULL, "'eth0,a.x=1' does not begin"},
    {"=1", NULL, "'=1' does not begin"},
    {"?=1", NULL, "set to '1' is empty"},
    {"a.x=\"1", NULL, "the quotes of 'a.x' are not closed"},
    {"a.x=\"1\"2", NULL, "'2' stands behind the quotes of 'a.x'"},
    {"a.x=\"1\",2", NULL, "',2' stands behind the quotes of 'a.x'"},
    {"a.x=1,,eth0", NULL, "'eth0' does not begin"},
};

enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static void check_text(int i)
{
    muster_options *options;
    muster_options_new(&options);
    muster_options_set(options, "keep", "me");
    muster_status status = muster_options_parse(options, texts[i].text);
    char expected[256];
    snprintf(expected, sizeof(expected), "keep=me;%s",
             texts[i].settings == NULL ? "" : texts[i].settings);
    is_str(shown(options), expected, "[%s] sets what it says", texts[i].text);
    if (texts[i].settings != NULL) {
        is_int(status, MUSTER_OK, "[%s] is understood", texts[i].text);
    } else {
        has_str(status == MUSTER_ERR_ARGUMENT ? muster_last_error() : "", texts[i].words,
                "[%s] is refused", texts[i].text);
    }
    muster_options_free(options);
}

static void object(void)
{
    muster_options *options = NULL;
    const char *value = "untouched";
    is_int(muster_options_new(&options), MUSTER_OK, "an object is made");
    is_int(muster_options_set(options, "gloo.iface", "eth0"), MUSTER_OK, "a setting is made");
    is_int(muster_options_set(options, "gloo.iface", "eth1"), MUSTER_OK, "and made again");
    is_int(muster_options_get(options, "gloo.iface", &value), MUSTER_OK, "it can be had");
    is_str(value, "eth1", "as set last");
    is_int(muster_options_set(options, "nccl.max_ctas?", "8"), MUSTER_OK, "one may be optional");
    is_str(shown(options), "gloo.iface=eth1;nccl.max_ctas?=8;", "which is not part of its name");
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "a.o%d", i);
        muster_options_set(options, name, name);
    }
    is_int((long long)options_count(options), 102, "there may be many");
    is_int(muster_options_get(options, "a.o99", &value), MUSTER_OK, "all of them are found");
    value = "untouched";
    is_int(muster_options_get(options, "gloo.none", &value), MUSTER_ERR_NOT_FOUND,
           "what is not set is not found");
    has_str(muster_last_error(), "'gloo.none'", "and is named");
    is_str(value, "untouched", "and nothing is written");
    muster_options_free(options);
}

static void bad_arguments(void)
{
    muster_options *options;
    const char *value;
    muster_options_new(&options);
    is_int(muster_options_new(NULL), MUSTER_ERR_ARGUMENT, "new needs a place");
    is_int(muster_options_set(NULL, "a", "b"), MUSTER_ERR_ARGUMENT, "set needs options");
    is_int(muster_options_set(options, NULL, "b"), MUSTER_ERR_ARGUMENT, "set needs a name");
    is_int(muster_options_set(options, "a", NULL), MUSTER_ERR_ARGUMENT, "set needs a value");
    is_int(muster_options_set(options, "", "b"), MUSTER_ERR_ARGUMENT, "the name has letters");
    is_int(muster_options_set(options, "?", "b"), MUSTER_ERR_ARGUMENT, "'?' is no name");
    is_int(muster_options_parse(NULL, "a=b"), MUSTER_ERR_ARGUMENT, "parse needs options");
    is_int(muster_options_parse(options, NULL), MUSTER_ERR_ARGUMENT, "parse needs text");
    is_int(muster_options_get(NULL, "a", &value), MUSTER_ERR_ARGUMENT, "get needs options");
    is_int(muster_options_get(options, NULL, &value), MUSTER_ERR_ARGUMENT, "get needs a name");
    is_int(muster_options_get(options, "a", NULL), MUSTER_ERR_ARGUMENT, "get needs a place");
    is_int((long long)options_count(options), 0, "none of them sets anything");
    muster_options_free(options);
    muster_options_free(NULL);
    is_int((long long)options_count(NULL), 0, "no options are none");
}

static void shown_with_source(const muster_options *options, const char *name, const char *value,
                              const char *source)
{
    const options_setting *setting = options_find(options, name);
    is_str(setting == NULL ? NULL : setting->value, value, "%s has the value", name);
    is_str(setting == NULL ? NULL : setting->source, source, "%s comes from %s", name, source);
}

static void places(void)
{
    muster_options *base, *given, *all = NULL;
    muster_options_new(&base);
    muster_options_new(&given);
    muster_options_parse(base, "a.p=parent,a.e=parent,a.t=parent,a.o=parent");
    setenv("MUSTER_OPTIONS", "a.e=environment,a.t=environment,a.o=environment", 1);
    muster_options_parse(given, "a.o=object");
    is_int(options_collect(base, given, "a.t=text,a.o=text", &all), MUSTER_OK, "four places");
    shown_with_source(all, "a.p", "parent", "parent");
    shown_with_source(all, "a.e", "environment", "MUSTER_OPTIONS");
    shown_with_source(all, "a.t", "text", "options text");
    shown_with_source(all, "a.o", "object", "argument");
    is_int((long long)options_count(all), 4, "each is there once");
    muster_options_free(all);
    all = NULL;
    setenv("MUSTER_OPTIONS", "eth0", 1);
    is_int(options_collect(NULL, NULL, NULL, &all), MUSTER_ERR_ARGUMENT,
           "the environment may be wrong");
    has_str(muster_last_error(), "MUSTER_OPTIONS: 'eth0'", "and is named");
    unsetenv("MUSTER_OPTIONS");
    is_int(options_collect(NULL, NULL, "eth0", &all), MUSTER_ERR_ARGUMENT, "so may the text");
    has_str(muster_last_error(), "options text: 'eth0'", "and is named");
    ok(all == NULL, "then nothing is handed over");
    is_int(options_collect(NULL, NULL, NULL, &all), MUSTER_OK, "no place needs to have any");
    is_int((long long)options_count(all), 0, "then there are none");
    muster_options_free(all);
    muster_options_free(base);
    muster_options_free(given);
}

static void old_name(void)
{
    muster_options *options;
    muster_options_new(&options);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.pg_options = options;
    ok(args.backend_options == options, "pg_options is the former name of backend_options");
    muster_group_args group_args = MUSTER_GROUP_ARGS_INIT;
    group_args.backend_options = options;
    ok(group_args.pg_options == options, "for groups made of groups too");
    muster_options_free(options);
}

int main(void)
{
    unsetenv("MUSTER_OPTIONS");
    plan(2 * TEXTS + 44);
    for (int i = 0; i < TEXTS; i++)
        check_text(i);
    object();
    bad_arguments();
    places();
    old_name();
    return done();
}
