/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NCCL's config by version, filled from options; and the options' own table.
 */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "base/error.h"
#include "nccl_api.h"
#include "nccl_config.h"
#include "options.h"
#include "options/option_table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- a core that has the options of one test ---- */

static const char *set[8][2]; /* name and value */
static char logged[512];

static const char *host_option_of_test(const muster_comm_owner *owner, const char *name)
{
    (void)owner;
    for (size_t i = 0; i < COUNT(set) && set[i][0] != NULL; i++)
        if (strcmp(set[i][0], name) == 0)
            return set[i][1];
    const muster_option *row = option_table_find(nccl_options, name);
    if (row == NULL)
        bail_out("the backend asks for %s, which is no option", name);
    return row->default_value == NULL ? NULL : "0";
}

static void host_log_of_test(muster_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (level == MUSTER_LOG_WARNING)
        vsnprintf(logged, sizeof(logged), format, arguments);
    va_end(arguments);
}

static muster_host host;

/* Fills a config with up to three options. */
static muster_status fill(nccl_config *config, int version, const char *const (*options)[2])
{
    memset(set, 0, sizeof(set));
    for (size_t i = 0; options != NULL && i < 3 && options[i][0] != NULL; i++) {
        set[i][0] = options[i][0];
        set[i][1] = options[i][1];
    }
    logged[0] = '\0';
    error_set(MUSTER_OK, "%s", "");
    memset(config, 0x77, sizeof(*config));
    return nccl_config_fill(config, version, NULL);
}

/* ---- sizes, versions and padding ---- */

static const struct {
    int version;
    size_t size;
} layouts[] = {
    {21403, 24}, {21505, 24}, {21605, 24}, {21701, 40},  {21801, 48},  {21903, 48},  {22005, 48},
    {22105, 48}, {22203, 48}, {22304, 48}, {22403, 48},  {22501, 48},  {22602, 48},  {22605, 48},
    {22703, 72}, {22707, 72}, {22803, 80}, {22807, 80},  {22809, 80},  {22902, 88},  {22907, 88},
    {23003, 96}, {23004, 96}, {23007, 96}, {23102, 112}, {23203, 120}, {23301, 120}, {30000, 120},
};

static int at(const nccl_config *config, size_t offset)
{
    int value;
    memcpy(&value, (const char *)config + offset, sizeof(value));
    return value;
}

static void check_layout(int version, size_t size)
{
    char text[NCCL_VERSION_TEXT];
    nccl_config config;
    memset(&config, 0x77, sizeof(config));
    nccl_config_init(&config, version);
    nccl_version_text(version, text);
    is_int((long long)config.size, (long long)size, "the size of a config of NCCL %s", text);
    is_int(config.version, version < 23203 ? version : 23203, "the version of one");
    is_int(config.magic, 0xcafebeef, "the magic number of one");
    is_int(config.blocking, 0, "blocking is always set");
    ok(config.net_name == NULL && config.comm_name == NULL, "no string is");
    int unset = 0;
    for (const nccl_config_field *field = nccl_config_fields + 1; field->option != NULL; field++)
        unset += !field->text && at(&config, field->offset) == NCCL_CONFIG_UNSET;
    is_int(unset, 20, "and no number, what lies behind the size included");
    is_int(at(&config, sizeof(config) - sizeof(int)), NCCL_CONFIG_UNSET, "nor the padding");
}

/* ---- the tables ---- */

static void check_tables(void)
{
    size_t fields = 0, options = 0, aliased = 0;
    muster_status status = option_table_check("nccl", nccl_options);
    is_int(status, MUSTER_OK, "the options are as they should be: %s", muster_last_error());
    for (const muster_option *row = nccl_options; row->name != NULL; row++) {
        options++;
        aliased += row->aliases != NULL && option_table_find(nccl_options, row->aliases) == row;
    }
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++) {
        char since[NCCL_VERSION_TEXT];
        const muster_option *row = option_table_find(nccl_options, field->option);
        fields++;
        if (!ok(row != NULL, "%s is an option", field->option))
            continue;
        ok((row->type == MUSTER_OPTION_STRING) == field->text, "of the field's type");
        ok(row->type != MUSTER_OPTION_BOOLEAN || (field->lowest == 0 && field->highest == 1),
           "0 or 1 where it is yes or no");
        ok(field->variable == NULL || strstr(row->help, field->variable) != NULL,
           "whose help names the variable that wins");
        nccl_version_text(field->since, since);
        bool old = field->since == NCCL_OLDEST;
        ok(old ? row->since == NULL : option_table_era(row, since) == OPTION_USABLE,
           "that NCCL %s has", since);
        nccl_version_text(field->since - 1, since);
        ok(old || option_table_era(row, since) == OPTION_TOO_NEW, "and none before");
    }
    is_int((long long)fields, 23, "all fields of the newest NCCL");
    is_int((long long)options, 25, "and two options that are no field");
    is_int((long long)aliased, 23, "older names lead to their options");
}

/* ---- filling ---- */

/* Every field takes a value of its own. */
static void check_values(void)
{
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++) {
        nccl_config config, expected;
        const char *options[3][2] = {{field->option, "1"}};
        const char *text = "1";
        nccl_config_init(&expected, NCCL_CONFIG_NEWEST);
        if (field->text)
            options[0][1] = text;
        is_int(fill(&config, NCCL_CONFIG_NEWEST, options), MUSTER_OK, "%s is taken: %s",
               field->option, muster_last_error());
        if (field->text)
            memcpy((char *)&expected + field->offset, &text, sizeof(text));
        else
            memcpy((char *)&expected + field->offset, &(int){1}, sizeof(int));
        if (strcmp(field->option, "nccl.min_ctas") == 0)
            expected.max_ctas = 64;
        ok(memcmp(&config, &expected, sizeof(config)) == 0, "into its field and no other");
    }
}

typedef struct refusal {
    int version;
    const char *options[3][2];
    muster_status status;
    const char *part;
} refusal;

#define WRONG MUSTER_ERR_ARGUMENT
#define LACKING MUSTER_ERR_UNSUPPORTED

static const refusal refusals[] = {
    {21403,
     {{"nccl.max_ctas", "16"}},
     LACKING,
     "option 'nccl.max_ctas' needs NCCL 2.17.0 or later, and 2.14.3 was found"},
    {21701, {{"nccl.split_share", "1"}}, LACKING, "needs NCCL 2.18.0 or later, and 2.17.1"},
    {22501, {{"nccl.traffic_class", "3"}}, LACKING, "needs NCCL 2.26.2 or later, and 2.25.1"},
    {22605, {{"nccl.comm_name", "me"}}, LACKING, "needs NCCL 2.27.0 or later, and 2.26.5"},
    {22707, {{"nccl.n_channels_per_net_peer", "2"}}, LACKING, "needs NCCL 2.28.3"},
    {22809, {{"nccl.graph_usage_mode", "1"}}, LACKING, "needs NCCL 2.29.2"},
    {22907, {{"nccl.max_p2p_peers", "2"}}, LACKING, "needs NCCL 2.30.3"},
    {23004, {{"nccl.graph_stream_ordering", "1"}}, LACKING, "needs NCCL 2.30.5"},
    {23007, {{"nccl.rma_eager_init", "1"}}, LACKING, "needs NCCL 2.31.2"},
    {23102, {{"nccl.nvls_host_mode", "1"}}, LACKING, "needs NCCL 2.32.3"},
    {22809, {{"nccl.max_ctas", "0"}}, WRONG, "'nccl.max_ctas' is 0, but NCCL 2.28.9 takes 1 to"},
    {22809, {{"nccl.min_ctas", "-1"}}, WRONG, "'nccl.min_ctas' is -1"},
    {22809, {{"nccl.cga_cluster_size", "9"}}, WRONG, "takes 0 to 8 only"},
    {22809, {{"nccl.max_ctas", "4294967297"}}, WRONG, "is 4294967297"},
    {22809, {{"nccl.max_ctas", "9223372036854775807"}}, WRONG, "takes 1 to"},
    {22809, {{"nccl.n_channels_per_net_peer", "65"}}, WRONG, "takes 1 to 64"},
    {23007, {{"nccl.graph_usage_mode", "3"}}, WRONG, "takes 0 to 2"},
    {22707, {{"nccl.cta_policy", "2"}}, WRONG, "NCCL 2.27.7 takes 0 to 1"},
    {22809, {{"nccl.cta_policy", "3"}}, WRONG, "takes 0 to 2"},
    {22902, {{"nccl.cta_policy", "4"}}, WRONG, "takes 0 to 3"},
    {23203, {{"nccl.host_cft_mode", "0"}}, WRONG, "takes 1 to 3"},
    {22809,
     {{"nccl.min_ctas", "9"}, {"nccl.max_ctas", "8"}},
     WRONG,
     "'nccl.min_ctas' is 9, more than 'nccl.max_ctas', which is 8"},
};

static void check_refusals(void)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const refusal *row = &refusals[i];
        nccl_config config;
        is_int(fill(&config, row->version, row->options), row->status, "%s=%s is refused",
               row->options[0][0], row->options[0][1]);
        has_str(muster_last_error(), row->part, "with the reason");
    }
}

/* NCCL compares a least number with a greatest one that nobody has set. */
static void check_ctas(void)
{
    static const struct {
        int version;
        const char *least, *greatest;
        int min, max;
    } rows[] = {
        {21701, "4", NULL, 4, 32},   {22403, "4", NULL, 4, 32},
        {22501, "4", NULL, 4, 64},   {22809, "40", NULL, 40, 64},
        {22403, "40", NULL, 40, 40}, {22809, "4", "8", 4, 8},
        {22809, "8", "8", 8, 8},     {22809, NULL, "8", NCCL_CONFIG_UNSET, 8},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *options[3][2] = {{NULL, NULL}};
        size_t count = 0;
        nccl_config config;
        if (rows[i].least != NULL) {
            options[count][0] = "nccl.min_ctas";
            options[count++][1] = rows[i].least;
        }
        if (rows[i].greatest != NULL) {
            options[count][0] = "nccl.max_ctas";
            options[count][1] = rows[i].greatest;
        }
        is_int(fill(&config, rows[i].version, options), MUSTER_OK, "thread blocks, row %zu", i);
        is_int(config.min_ctas, rows[i].min, "the least");
        is_int(config.max_ctas, rows[i].max, "the greatest");
    }
}

static void check_environment(void)
{
    const char *options[3][2] = {{"nccl.max_ctas", "16"}};
    nccl_config config;
    setenv("NCCL_MAX_CTAS", "8", 1);
    is_int(fill(&config, 22809, options), MUSTER_OK, "a variable of NCCL's changes no config");
    is_int(config.max_ctas, 16, "whose value is the option's");
    is_str(logged, "NCCL_MAX_CTAS is '8' in the environment and wins over nccl.max_ctas, '16'",
           "but it is said who wins");
    setenv("NCCL_MAX_CTAS", "16", 1);
    fill(&config, 22809, options);
    is_str(logged, "", "not where both say the same");
    fill(&config, 22809, NULL);
    is_str(logged, "", "nor where there is no option");
    setenv("NCCL_COMM_BLOCKING", "1", 1);
    fill(&config, 22809, NULL);
    has_str(logged, "NCCL_COMM_BLOCKING is '1'", "blocking is always an option of ours");
    unsetenv("NCCL_MAX_CTAS");
    unsetenv("NCCL_COMM_BLOCKING");
}

int main(void)
{
    enum { FIELDS = 23, ROWS_OF_CTAS = 8 };
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++)
        if (field->variable != NULL)
            unsetenv(field->variable);
    host = host_functions;
    host.option = host_option_of_test;
    host.log = host_log_of_test;
    nccl_host = &host;
    plan((int)COUNT(layouts) * 7 + 4 + FIELDS * 6 + FIELDS * 2 + (int)COUNT(refusals) * 2 +
         ROWS_OF_CTAS * 3 + 6);
    for (size_t i = 0; i < COUNT(layouts); i++)
        check_layout(layouts[i].version, layouts[i].size);
    check_tables();
    check_values();
    check_refusals();
    check_ctas();
    check_environment();
    return done();
}
