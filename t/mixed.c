/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The example of two languages in one job: two ranks of Python with torch and two of C, in one
 * store, started by muster-run and by torchrun.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ranks_port.h"
#include "tools.h"
#include "torch.h"

enum { POINTS = 8 };

#define SCRIPT SOURCES "/examples/mixed/mixed.sh"

static void compile(const char *program)
{
    char script[4096];
    snprintf(script, sizeof(script),
             "%s -std=c11 -Wall -Wextra -Werror -I%s/include %s -o %s %s/examples/mixed/mixed.c "
             "-L%s/lib/.libs -lmuster -Wl,-rpath,%s/lib/.libs",
             EXAMPLES_CC, SOURCES, EXAMPLES_FLAGS, program, SOURCES, BUILD, BUILD);
    command_run(&tools_run, NULL, (const char *[]){"sh", "-c", script, NULL});
    if (!is_int(tools_run.status, 0, "mixed compiles without a warning"))
        diag("%s: %s", script, tools_run.err);
}

static void with_muster_run(void)
{
    command_run(
        &tools_run, NULL,
        (const char *[]){TOOLS "/muster-run", "--no-secret", "-n", "4", SCRIPT, PROMPTS, NULL});
}

/* What a program of torch alone does, started by muster-run. */
static void torch_alone(const torch_python *python)
{
    static const char program[] =
        "import torch, torch.distributed as d; d.init_process_group('gloo'); "
        "t = torch.ones(3); d.all_reduce(t); print(t.sum().item()); "
        "d.destroy_process_group()";
    command_run(&tools_run, NULL,
                (const char *[]){TOOLS "/muster-run", "--no-secret", "-n", "2", python->path, "-c",
                                 program, NULL});
    if (!is_int(tools_run.status, 0, "a program of torch alone runs under muster-run"))
        diag("%s", tools_run.err);
    is_str(tools_run.out, "6.0\n6.0\n", "and reduces");
}

static void is_right(const char *launcher, const torch_python *python)
{
    char words[200];
    bool right = is_int(tools_run.status, 0, "%s starts ranks of two languages", launcher);
    snprintf(words, sizeof(words),
             ", torch %s: 10 tensors of 18808 bytes given, 1319 prompts of 77109 tokens received\n",
             python->version);
    right &= is_int(tools_count(tools_run.out, words), 2,
                    "two of torch give weights and receive prompts");
    right &= is_int(tools_count(tools_run.out,
                                ": 10 tensors of 18808 bytes received, 1319 prompts of 77109 "
                                "tokens answered\n"),
                    2, "two of muster receive weights and have their prompts answered");
    if (!right)
        diag("%s%s", tools_run.out, tools_run.err);
}

static void with_torchrun(const torch_python *python)
{
    char number[16];
    struct port port = port_reserve();
    snprintf(number, sizeof(number), "%d", port.number);
    command_run(&tools_run, NULL,
                (const char *[]){python->path, "-m", "torch.distributed.run", "-r", "2", "-t", "2",
                                 "--monitor_interval", "0.1", "--master_port", number,
                                 "--nproc_per_node", "4", "--no_python", SCRIPT, PROMPTS, NULL});
    port_free(&port);
}

/* The ranks of C read another file than those of Python: the other side finds out. */
static void other_prompts(const char *program)
{
    char wrapper[1200];
    const char *file = tools_write("other", "{\"prompt\":\"?\",\"token_ids\":[1,2,3]}\n");
    snprintf(wrapper, sizeof(wrapper), "#!/bin/sh\nexec %s %s\n", program, file);
    const char *path = tools_write("wrapper", wrapper);
    chmod(path, 0700);
    setenv("MIXED", path, 1);
    with_muster_run();
    setenv("MIXED", program, 1);
    is_int(tools_run.status, 1, "where the ranks have different files the job fails");
    has_str(tools_run.err, "the prompts are not those of the file", "and says so");
}

int main(void)
{
    int pythons = 0;
    const torch_python *python;
    needs_gloo();
    needs_torch();
    while (torch_python_at(pythons) != NULL)
        pythons++;
    plan(1 + pythons * POINTS + 2);
    char program[512];
    snprintf(program, sizeof(program), "%s", tools_path("mixed"));
    compile(program);
    setenv("MIXED", program, 1);
    char logs[512];
    snprintf(logs, sizeof(logs), "%s", tools_path("logs")); /* torchrun leaves them behind */
    if (mkdir(logs, 0700) != 0)
        bail_out("no folder %s", logs);
    setenv("TMPDIR", logs, 1);
    for (int i = 0; (python = torch_python_at(i)) != NULL; i++) {
        setenv("PYTHON", python->path, 1);
        torch_alone(python);
        with_muster_run();
        is_right("muster-run", python);
        with_torchrun(python);
        is_right("torchrun", python);
        if (i == 0)
            other_prompts(program);
    }
    unsetenv("TMPDIR");
    tools_clean();
    return done();
}
