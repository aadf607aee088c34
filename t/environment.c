/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "tools/run/families.h"

/* Where Slurm's configuration is says nothing of a rank. */
static bool is_launchers(const char *name)
{
    return (families_own(name) && strcmp(name, "SLURM_CONF") != 0) ||
           strcmp(name, "MUSTER_JOB_ID") == 0 || strcmp(name, "MUSTER_PMI") == 0 ||
           strncmp(name, "LSB_", 4) == 0 || strncmp(name, "FLUX_", 5) == 0;
}

/* What is left over from the launcher that started the test, if one did. */
static void clear(void)
{
    for (char **entry = environ; *entry != NULL;) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*entry, "="), *entry);
        if (is_launchers(name)) {
            unsetenv(name);
            entry = environ;
        } else
            entry++;
    }
}

void environment_only(const char *words)
{
    char copy[4096];
    clear();
    if (strlen(words) >= sizeof(copy))
        bail_out("an environment of %zu characters", strlen(words));
    snprintf(copy, sizeof(copy), "%s", words);
    char *rest = copy;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        for (char *at = value; *at != '\0'; at++)
            *at = *at == '~' ? ' ' : *at;
        setenv(word, value, 1);
    }
}
