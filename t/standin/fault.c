/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: faults on demand, from
 * MUSTER_STANDIN_FAULTS.
 */
#include "config.h"

#include "fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RULES = 32, TEXT = 1024 };

typedef struct fault_rule {
    char point[64];
    int rank; /* or FAULT_ANY_RANK */
    long number;
    bool and_later;
    char what[16];
    long reached;
} fault_rule;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char parsed[TEXT];
static fault_rule rules[RULES];
static int num_rules;

/* Copies the text up to one of the characters that end it, and steps over that. */
static const char *fault_field(const char *text, const char *ends, char *field, size_t size)
{
    size_t length = strcspn(text, ends);
    size_t kept = length < size ? length : size - 1;
    memcpy(field, text, kept);
    field[kept] = '\0';
    return text + length;
}

static void fault_parse_rule(const char *text)
{
    char number[16] = "";
    fault_rule rule = {.rank = FAULT_ANY_RANK};
    text = fault_field(text, "@:,", rule.point, sizeof(rule.point));
    if (*text == '@') {
        text = fault_field(text + 1, ":,", number, sizeof(number));
        rule.rank = atoi(number);
    }
    if (*text == ':')
        text = fault_field(text + 1, ":,", number, sizeof(number));
    rule.number = atol(number);
    rule.and_later = strchr(number, '+') != NULL;
    if (*text == ':')
        fault_field(text + 1, ",", rule.what, sizeof(rule.what));
    rules[num_rules++] = rule;
}

static void fault_parse(const char *text)
{
    if (strcmp(text, parsed) == 0 || strlen(text) >= TEXT)
        return;
    strcpy(parsed, text);
    num_rules = 0;
    while (*text != '\0' && num_rules < RULES) {
        fault_parse_rule(text);
        text += strcspn(text, ",");
        text += *text == ',';
    }
}

/* Copies what is to be done now, or nothing. */
static void fault_find(const char *point, int rank, char what[sizeof(rules->what)])
{
    const char *text = getenv("MUSTER_STANDIN_FAULTS");
    what[0] = '\0';
    pthread_mutex_lock(&lock);
    fault_parse(text != NULL ? text : "");
    for (int i = 0; i < num_rules; i++) {
        fault_rule *rule = &rules[i];
        if (strcmp(rule->point, point) != 0 || (rule->rank != FAULT_ANY_RANK && rule->rank != rank))
            continue;
        rule->reached++;
        if (rule->reached == rule->number || (rule->and_later && rule->reached > rule->number))
            memcpy(what, rule->what, sizeof(rule->what));
    }
    pthread_mutex_unlock(&lock);
}

int fault_at(const char *point, int rank)
{
    char what[sizeof(rules->what)];
    fault_find(point, rank, what);
    if (strcmp(what, "hang") == 0)
        return FAULT_HANG;
    if (strcmp(what, "die") == 0)
        kill(getpid(), SIGKILL);
    long value = atol(what);
    if (strstr(what, "ms") == NULL)
        return (int)value;
    struct timespec pause = {value / 1000, value % 1000 * 1000000};
    nanosleep(&pause, NULL);
    return FAULT_NONE;
}

int fault_enter_at(const char *function, int rank)
{
    int fault = fault_at(function, rank);
    while (fault == FAULT_HANG)
        pause();
    return fault;
}

int fault_enter(const char *function)
{
    return fault_enter_at(function, FAULT_ANY_RANK);
}
