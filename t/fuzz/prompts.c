/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: the lists of tokens that muster-gather reads, a JSON object a line.
 */
#include "prompts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static void look(const prompts *list, fuzz_bytes input)
{
    size_t before = 0;
    for (size_t i = 0; i < list->count; i++) {
        fuzz_hold(list->offsets[i] + list->lengths[i] == list->offsets[i + 1],
                  "the tokens of a prompt end where those of the next begin");
        fuzz_hold(list->line_numbers[i] > before, "lines are in the order of the file");
        fuzz_hold(list->lines[i].size <= input.size, "a line is a part of the file");
        before = list->line_numbers[i];
    }
    fuzz_hold(list->count == 0 || list->offsets[list->count] == list->num_tokens,
              "all tokens are of a prompt");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prompts list;
    char path[64], why[1024] = "";
    int fd = fuzz_file(data, size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (prompts_read(&list, path, why, sizeof(why)))
        look(&list, (fuzz_bytes){data, size});
    else
        fuzz_hold(why[0] != '\0', "a refusal has a sentence");
    prompts_free(&list);
    close(fd);
    return 0;
}
