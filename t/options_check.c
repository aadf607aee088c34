/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Settings checked against the tables of backends: names, types, versions, variables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/option_table.h"
#include "options/option_type.h"
#include "options/options.h"
#include "tap.h"

static const muster_option gloo_options[] = {
    {.name = "gloo.iface",
     .type = MUSTER_OPTION_STRING,
     .aliases = "gloo.interface gloo.nic",
     .environment = "T_GLOO_IFACE"},
    {.name = "gloo.threads",
     .type = MUSTER_OPTION_INTEGER,
     .default_value = "2",
     .environment = "T_GLOO_THREADS"},
    {.name = "gloo.eager", .type = MUSTER_OPTION_BOOLEAN, .default_value = "yes"},
    {.name = NULL},
};

static const muster_option nccl_options[] = {
    {.name = "nccl.max_ctas", .type = MUSTER_OPTION_INTEGER, .since = "2.17"},
    {.name = "nccl.quiet",
     .type = MUSTER_OPTION_BOOLEAN,
     .since = "2.30",
     .environment = "T_NCCL_QUIET"},
    {.name = "nccl.tree", .type = MUSTER_OPTION_STRING, .until = "2.6"},
    {.name = NULL},
};

static const options_table tables[] = {
    {"gloo", gloo_options, "", true, true},
    {"nccl", nccl_options, "2.10.3", true, true},
    {"ucx", NULL, "", false, false},
    {"local", NULL, "0.1.0", true, true},
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static int warnings, infos;
static char last_line[1024];

static void count_lines(void *user, muster_log_level level, const char *line)
{
    (void)user;
    warnings += level == MUSTER_LOG_WARNING;
    infos += level == MUSTER_LOG_INFO;
    snprintf(last_line, sizeof(last_line), "%s", line);
}

/* Sets what text and object say and checks it. */
static muster_options *checked(const char *text, const char *object, muster_status *status)
{
    muster_options *given, *all = NULL;
    muster_options_new(&given);
    muster_options_parse(given, object);
    warnings = infos = 0;
    last_line[0] = '\0';
    *status = options_collect(NULL, given, text, &all);
    if (*status == MUSTER_OK)
        *status = options_check(all, tables, TABLES);
    muster_options_free(given);
    return all;
}

static const struct {
    const char *text, *object;
    const char *name, *value; /* after the check; value NULL: not set */
    int warnings, infos;
} accepted[] = {
    {"gloo.iface=eth0", "", "gloo.iface", "eth0", 0, 0},
    {"gloo.interface=eth0", "", "gloo.iface", "eth0", 0, 1},
    {"gloo.nic=eth0", "", "gloo.iface", "eth0", 0, 1},
    {"gloo.nic=eth0", "gloo.iface=eth1", "gloo.iface", "eth1", 0, 1},
    {"gloo.iface=eth0", "gloo.nic=eth1", "gloo.iface", "eth1", 0, 1},
    {"gloo.iface=eth0,gloo.nic=eth0", "", "gloo.iface", "eth0", 0, 1},
    {"gloo.iface=a,gloo.nic=b", "gloo.interface=c", NULL, NULL, 0, 0},
    {"gloo.threads=4", "", "gloo.threads", "4", 0, 0},
    {"gloo.threads=-9223372036854775808", "", "gloo.threads", "-9223372036854775808", 0, 0},
    {"gloo.eager=Yes", "", "gloo.eager", "1", 0, 0},
    {"gloo.eager=off", "", "gloo.eager", "0", 0, 0},
    {"gloo.eager=true", "gloo.eager=FALSE", "gloo.eager", "0", 0, 0},
    {"nccl.tree?=1", "", "nccl.tree", NULL, 1, 0},
    {"nccl.max_ctas?=8", "", "nccl.max_ctas", NULL, 1, 0},
    {"nccl.quiet?=1,gloo.iface=e", "", "gloo.iface", "e", 1, 0},
    {"mpi.tag?=1", "", "mpi.tag", NULL, 1, 0},
    {"ucx.tls=tcp", "", "ucx.tls", "tcp", 0, 1},
};

static const struct {
    const char *text, *object;
    int status;
    const char *words;
} refused[] = {
    {"gloo.ifcae=eth0", "", MUSTER_ERR_ARGUMENT,
     "backend 'gloo' has no option 'gloo.ifcae' (options text); did you mean 'gloo.iface'?"},
    {"gloo.thread=1", "", MUSTER_ERR_ARGUMENT, "did you mean 'gloo.threads'?"},
    {"", "gloo.zzz=1", MUSTER_ERR_ARGUMENT,
     "no option 'gloo.zzz' (argument); muster-info --options lists all options"},
    {"gloo.ifcae?=eth0", "", MUSTER_ERR_ARGUMENT, "no option 'gloo.ifcae'"},
    {"local.x=1", "", MUSTER_ERR_ARGUMENT, "backend 'local' has no option"},
    {"gloo.=1", "", MUSTER_ERR_ARGUMENT, "no option 'gloo.'"},
    {"iface=eth0", "", MUSTER_ERR_ARGUMENT, "did you mean 'gloo.iface'?"},
    {"iface?=eth0", "", MUSTER_ERR_ARGUMENT, "no backend's name in front"},
    {"glo.iface=eth0", "", MUSTER_ERR_ARGUMENT, "did you mean 'gloo.iface'?"},
    {"mpi.tag=1", "", MUSTER_ERR_ARGUMENT,
     "no backend 'mpi' was found; there are: gloo, nccl, ucx, local"},
    {"gloo.threads=four", "", MUSTER_ERR_ARGUMENT,
     "option 'gloo.threads' is of type integer, but 'four' (options text) is not a whole number"},
    {"gloo.threads= 4x", "", MUSTER_ERR_ARGUMENT, "'4x'"},
    {"gloo.threads=\" 4\"", "", MUSTER_ERR_ARGUMENT, "' 4'"},
    {"gloo.threads=", "", MUSTER_ERR_ARGUMENT, "''"},
    {"gloo.threads=0x10", "", MUSTER_ERR_ARGUMENT, "'0x10'"},
    {"gloo.threads=9223372036854775808", "", MUSTER_ERR_ARGUMENT, "fits 64 bits"},
    {"gloo.eager=maybe", "", MUSTER_ERR_ARGUMENT, "'maybe' (options text) is not 1 or 0"},
    {"nccl.max_ctas=8", "", MUSTER_ERR_UNSUPPORTED,
     "it needs nccl 2.17 or later, and 2.10.3 was found"},
    {"nccl.tree=1", "", MUSTER_ERR_UNSUPPORTED,
     "it was removed after nccl 2.6, and 2.10.3 was found"},
    {"gloo.iface=eth0,gloo.nic=eth1", "", MUSTER_ERR_ARGUMENT,
     "'gloo.iface' is set to 'eth0' and, by an older name, to 'eth1'"},
};

enum {
    ACCEPTED = sizeof(accepted) / sizeof(accepted[0]),
    REFUSED = sizeof(refused) / sizeof(refused[0])
};

static void check_accepted(int i)
{
    muster_status status;
    muster_options *all = checked(accepted[i].text, accepted[i].object, &status);
    const char *name = accepted[i].name;
    const options_setting *setting = name == NULL ? NULL : options_find(all, name);
    ok(name == NULL ? status == MUSTER_ERR_ARGUMENT : status == MUSTER_OK, "[%s] and [%s]: %s",
       accepted[i].text, accepted[i].object, muster_status_name(status));
    is_str(setting == NULL ? NULL : setting->value, accepted[i].value, "the value is right");
    ok(name == NULL || (warnings == accepted[i].warnings && infos == accepted[i].infos),
       "it is logged (%d warnings, %d infos)", warnings, infos);
    muster_options_free(all);
}

static void check_refused(int i)
{
    muster_status status;
    muster_options *all = checked(refused[i].text, refused[i].object, &status);
    is_int(status, refused[i].status, "[%s] and [%s] are refused", refused[i].text,
           refused[i].object);
    has_str(muster_last_error(), refused[i].words, "with the right words");
    muster_options_free(all);
}

static void values(void)
{
    muster_status status;
    const char *source;
    setenv("T_GLOO_IFACE", "eth7", 1);
    setenv("T_NCCL_QUIET", "nonsense", 1); /* of an option that 2.10.3 does not know */
    muster_options *all = checked("gloo.threads=3", "", &status);
    setenv("T_GLOO_IFACE", "later", 1);
    is_int(status, MUSTER_OK, "variables stand in for options");
    is_str(options_value(all, gloo_options, "gloo.iface", &source), "eth7", "as they were then");
    is_str(source, "T_GLOO_IFACE", "and are named as the source");
    is_str(options_value(all, gloo_options, "gloo.threads", &source), "3", "a setting is had");
    is_str(source, "options text", "with its source");
    is_str(options_value(all, gloo_options, "gloo.eager", &source), "1",
           "a default is had, in the form of its type");
    is_str(source, "default", "with its source");
    is_str(options_value(all, nccl_options, "nccl.quiet", &source), NULL, "what is not is NULL");
    is_str(source, NULL, "without a source");
    is_str(options_value(all, gloo_options, "gloo.none", NULL), NULL, "so is an unknown name");
    is_str(options_value(NULL, gloo_options, "gloo.threads", NULL), "2", "no settings: defaults");
    is_str(options_value(NULL, NULL, "gloo.threads", NULL), NULL, "no table: nothing");
    muster_options_free(all);
    muster_options_free(checked("gloo.iface=eth0", "", &status));
    setenv("T_GLOO_IFACE", "", 1);
    all = checked("", "", &status);
    is_int((long long)options_count(all), 0, "an empty variable is none");
    muster_options_free(all);
    setenv("T_GLOO_THREADS", "many", 1);
    muster_options_free(checked("", "", &status));
    is_int(status, MUSTER_ERR_ARGUMENT, "a variable may be ill-typed");
    has_str(muster_last_error(), "'many' (T_GLOO_THREADS)", "and is named");
    muster_options_free(checked("gloo.threads=1", "", &status));
    is_int(status, MUSTER_OK, "unless the option is set");
    unsetenv("T_GLOO_IFACE");
    unsetenv("T_GLOO_THREADS");
    unsetenv("T_NCCL_QUIET");
}

/* A parent's settings were checked with it, and are weaker than what is said now. */
static void parents(void)
{
    muster_status status;
    muster_options *base = checked("gloo.nic=eth0,gloo.eager=no", "", &status), *all = NULL;
    is_int(options_collect(base, NULL, "gloo.interface=eth1", &all), MUSTER_OK, "on a parent's");
    is_int(options_check(all, tables, TABLES), MUSTER_OK, "an older name meets one of today");
    const char *source;
    is_str(options_value(all, gloo_options, "gloo.iface", &source), "eth1", "the own one wins");
    is_str(source, "options text", "with its source");
    is_str(options_value(all, gloo_options, "gloo.eager", &source), "0", "the others are kept");
    is_str(source, "parent", "with theirs");
    muster_options_free(all);
    muster_options_free(base);
}

static void logs(void)
{
    muster_status status;
    muster_options_free(checked("nccl.max_ctas?=8", "", &status));
    has_str(last_line, "option 'nccl.max_ctas' (options text) is left out: it needs nccl 2.17",
            "the warning says what is left out and why");
    muster_options_free(checked("gloo.nic=eth0", "", &status));
    is_str(last_line, "option 'gloo.nic' (options text) is now called 'gloo.iface'",
           "an older name is said to be one");
}

static const struct {
    muster_option row;
    const char *words; /* NULL: right */
} rows[] = {
    {{.name = "gloo.x", .type = MUSTER_OPTION_STRING}, NULL},
    {{.name = "x", .type = MUSTER_OPTION_STRING}, "'x' does not begin with 'gloo.'"},
    {{.name = "gloo.", .type = MUSTER_OPTION_STRING}, "does not begin with"},
    {{.name = "gloox.x", .type = MUSTER_OPTION_STRING}, "does not begin with"},
    {{.name = "gloo.x", .type = (muster_option_type)3}, "has the type 3"},
    {{.name = "gloo.x", .type = MUSTER_OPTION_INTEGER, .default_value = "x"}, "the default 'x'"},
    {{.name = "gloo.x", .type = MUSTER_OPTION_STRING, .since = "2..1"}, "known since '2..1'"},
    {{.name = "gloo.x", .type = MUSTER_OPTION_STRING, .until = "new"}, "known until 'new'"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void check_row(int i)
{
    const muster_option table[] = {rows[i].row, {.name = NULL}};
    muster_status status = option_table_check("gloo", table);
    if (rows[i].words == NULL)
        is_int(status, MUSTER_OK, "a good row is taken");
    else
        has_str(status == MUSTER_ERR_INTERNAL ? muster_last_error() : "", rows[i].words,
                "a bad row is refused");
}

static void eras(void)
{
    const muster_option both = {.name = "a.x", .since = "2.6", .until = "2.10"};
    is_int(option_table_era(&both, "2.5.9"), OPTION_TOO_NEW, "2.5.9 is too old");
    is_int(option_table_era(&both, "2.6.0rc1"), OPTION_TOO_NEW, "so is a pre-release of 2.6");
    is_int(option_table_era(&both, "2.6"), OPTION_USABLE, "2.6 is the first");
    is_int(option_table_era(&both, "2.10.0"), OPTION_USABLE, "2.10 is the last");
    is_int(option_table_era(&both, "2.10.1"), OPTION_REMOVED, "2.10.1 is too new");
    is_int(option_table_era(&both, ""), OPTION_USABLE, "an unknown version may know it");
    is_int(option_table_era(&both, "trunk"), OPTION_USABLE, "so may one that is none");
    ok(option_type_find((muster_option_type)99) == NULL, "there is no type 99");
    is_int(option_table_check("gloo", NULL), MUSTER_OK, "no table is a good one");
    ok(option_table_find(gloo_options, "gloo.") == NULL, "a part of a name is none");
    ok(option_table_find(gloo_options, "gloo.inter") == NULL, "nor is part of an older one");
    ok(option_table_find(gloo_options, "") == NULL, "nor nothing");
    ok(option_table_find(gloo_options, "gloo.nic") == &gloo_options[0], "older names are found");
}

int main(void)
{
    unsetenv("MUSTER_OPTIONS");
    muster_set_log(count_lines, NULL, MUSTER_LOG_INFO);
    plan(3 * ACCEPTED + 2 * REFUSED + ROWS + 37);
    for (int i = 0; i < ACCEPTED; i++)
        check_accepted(i);
    for (int i = 0; i < REFUSED; i++)
        check_refused(i);
    for (int i = 0; i < ROWS; i++)
        check_row(i);
    values();
    parents();
    logs();
    eras();
    return done();
}
