/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tap.h"

enum { TORCH_MOST = 16 };

static torch_python found[TORCH_MOST];
static int num_found = -1;

static const char *torch_list(void)
{
    const char *list = getenv("MUSTER_TEST_TORCH_PYTHON");
    return list == NULL || *list == '\0' ? "python3:/usr/bin/python3" : list;
}

/* torch's version lies beside its code in a file of its own, so that nobody waits for torch. */
static const char ask_version[] = "import importlib.util as u, os\n"
                                  "place = u.find_spec('torch').submodule_search_locations[0]\n"
                                  "names = {}\n"
                                  "exec(open(os.path.join(place, 'version.py')).read(), names)\n"
                                  "print(names['__version__'])\n";

static void torch_ask(const char *path)
{
    torch_python *one = &found[num_found];
    struct command command = {0};
    command_run(&command, NULL, (const char *[]){path, "-c", ask_version, NULL});
    snprintf(one->path, sizeof(one->path), "%s", path);
    bool is_new = command.status == 0 && sscanf(command.out, "%63s", one->version) == 1 &&
                  sscanf(one->version, "%d.%d", &one->major, &one->minor) == 2;
    for (int i = 0; i < num_found; i++)
        is_new = is_new && strcmp(found[i].version, one->version) != 0;
    num_found += is_new;
    command_free(&command);
}

static void torch_look(void)
{
    char list[4096], *rest = list;
    snprintf(list, sizeof(list), "%s", torch_list());
    num_found = 0;
    for (char *path; num_found < TORCH_MOST && (path = strsep(&rest, ":")) != NULL;)
        if (*path != '\0')
            torch_ask(path);
}

const torch_python *torch_python_at(int i)
{
    if (num_found < 0)
        torch_look();
    return i < num_found ? &found[i] : NULL;
}

void needs_torch(void)
{
    if (torch_python_at(0) == NULL)
        plan_skip_all("no interpreter of %s has torch (MUSTER_TEST_TORCH_PYTHON lists others)",
                      torch_list());
}
