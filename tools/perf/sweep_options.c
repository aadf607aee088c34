/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of muster-perf for collectives.
 */
#include "config.h"

#include "sweep_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sweep_options_know(int option)
{
    return option == SWEEP_OPTIONS_ITERS || option == SWEEP_OPTIONS_PEER ||
           (option > 0 && option < CHAR_MAX && option != ':' &&
            strchr(SWEEP_OPTIONS_LETTERS, option) != NULL);
}

/* Bytes, with K, M or G behind them. */
static bool options_size(long long *size, const char *name, const char *text, long long least)
{
    static const char units[] = "KMG";
    const long long most = 1LL << 46;
    char *end;
    errno = 0;
    long long value = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    const char *unit = value >= 0 && *end != '\0' ? strchr("KMGkmg", *end) : NULL;
    int shift = unit == NULL ? 0 : 10 * (int)((unit - "KMGkmg") % (long)(sizeof(units) - 1) + 1);
    bool good = value >= 0 && errno == 0 && end[unit != NULL] == '\0' && value <= most >> shift &&
                value << shift >= least;
    if (!good)
        return command_line_refuse("%s takes bytes from %lld to 65536G, as in 64M, not '%s'", name,
                                   least, text);
    *size = value << shift;
    return true;
}

/* Puts a name behind those that are there. */
static void options_name(char *names, size_t size, const char *name)
{
    size_t used = strlen(names);
    snprintf(names + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
}

static bool options_type(int *type, const char *text)
{
    static const struct {
        const char *name;
        muster_type type;
    } others[] = {{"float", MUSTER_FLOAT32},      {"double", MUSTER_FLOAT64},
                  {"half", MUSTER_FLOAT16},       {"f8e4m3", MUSTER_FLOAT8_E4M3},
                  {"f8e5m2", MUSTER_FLOAT8_E5M2}, {"all", MUSTER_NUM_TYPES}};
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        if (strcmp(muster_type_name((muster_type)t), text) == 0) {
            *type = t;
            return true;
        }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i].name, text) == 0) {
            *type = others[i].type;
            return true;
        }
    char names[256] = "";
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        options_name(names, sizeof(names), muster_type_name((muster_type)t));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        options_name(names, sizeof(names), others[i].name);
    return command_line_refuse("--datatype takes one of %s, not '%s'", names, text);
}

static bool options_redop(int *redop, const char *text)
{
    for (int r = 0; r < MUSTER_NUM_REDUCTIONS; r++) {
        bool premul = r == MUSTER_PREMUL_SUM;
        if (strcmp(premul ? "premul_sum" : muster_reduction_name((muster_reduction)r), text) == 0) {
            *redop = r;
            return true;
        }
    }
    *redop = MUSTER_NUM_REDUCTIONS;
    return strcmp(text, "all") == 0 ||
           command_line_refuse("--op takes sum, prod, min, max, avg, band, bor, bxor, premul_sum "
                               "or all, not '%s'",
                               text);
}

static bool options_root(int *root, const char *text)
{
    long long number = -1;
    if (strcmp(text, "all") != 0 && !command_line_number(&number, "--root", text, 0, INT_MAX))
        return false;
    *root = (int)number;
    return true;
}

static bool options_peer(sweep_options *options, const char *text)
{
    options->mpi |= strcmp(text, "mpi") == 0;
    options->torch |= strcmp(text, "torch") == 0;
    return strcmp(text, "mpi") == 0 || strcmp(text, "torch") == 0 ||
           command_line_refuse("--peer takes mpi or torch, not '%s'", text);
}

bool sweep_options_take(sweep_options *options, int option)
{
    options->given |= option != SWEEP_OPTIONS_PEER;
    switch (option) {
    case 'b':
        return options_size(&options->least, "--minbytes", optarg, 0);
    case 'e':
        return options_size(&options->most, "--maxbytes", optarg, 0);
    case 'f':
        return command_line_number(&options->factor, "--stepfactor", optarg, 2, INT_MAX);
    case 'i':
        options->factor = 0;
        return options_size(&options->step, "--stepbytes", optarg, 1);
    case 'w':
        return command_line_number(&options->warmups, "--warmup_iters", optarg, 0, INT_MAX);
    case 'c':
        return command_line_number(&options->check, "--check", optarg, 0, INT_MAX);
    case 'd':
        return options_type(&options->type, optarg);
    case 'o':
        return options_redop(&options->redop, optarg);
    case 'r':
        return options_root(&options->root, optarg);
    case SWEEP_OPTIONS_PEER:
        return options_peer(options, optarg);
    default:
        return command_line_number(&options->iterations, "--iters", optarg, 1, INT_MAX);
    }
}

bool sweep_options_check(const sweep_options *options)
{
    if (options->least > options->most)
        return command_line_refuse("--minbytes is %lld, which is more than --maxbytes with %lld",
                                   options->least, options->most);
    if (options->factor > 0 && options->least == 0 && options->most > 0)
        return command_line_refuse("from 0 bytes there is no way up by a factor: give --stepbytes");
    return true;
}
