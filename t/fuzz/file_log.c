/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: the file of a file store. The first byte says how much of it was there at the first
 * look.
 */
#include "config.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/file_replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    char path[] = "input";
    size_t first = input.size * fuzz_byte(&input) / 255;
    int fd = fuzz_file(input.data, first < input.size ? first : input.size);
    file_log log = {.path = path};
    muster_status status = file_replay(&log, fd);
    fuzz_hold(status != MUSTER_OK || log.position == lseek(fd, 0, SEEK_END),
              "a file that is well is read to its end");
    if (status == MUSTER_OK && first < input.size) {
        size_t rest = input.size - first;
        lseek(fd, 0, SEEK_END);
        fuzz_hold(write(fd, input.data + first, rest) == (ssize_t)rest, "the rest is written");
        status = file_replay(&log, fd);
        fuzz_hold(status != MUSTER_OK || log.position == (off_t)input.size, "and read to its end");
    }
    fuzz_hold(value_map_count(&log.values) <= input.size / 8, "no more keys than records");
    value_map_free(&log.values);
    close(fd);
    return 0;
}
