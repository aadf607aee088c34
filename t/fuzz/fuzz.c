/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the fuzz targets share.
 */
#include "config.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__GNUC__)
/* For AddressSanitizer: a number from outside may ask for more memory than there is, which is to be
 * refused. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=32";
}
#endif

void fuzz_hold(bool so, const char *what)
{
    if (so)
        return;
    fprintf(stderr, "this should be so and is not: %s\n", what);
    abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

uint8_t fuzz_byte(fuzz_bytes *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

fuzz_bytes fuzz_take(fuzz_bytes *input, size_t most)
{
    fuzz_bytes taken = {input->data, most < input->size ? most : input->size};
    input->data += taken.size;
    input->size -= taken.size;
    return taken;
}

char *fuzz_line(fuzz_bytes *input)
{
    const uint8_t *end = input->size > 0 ? memchr(input->data, '\n', input->size) : NULL;
    fuzz_bytes line = fuzz_take(input, end != NULL ? (size_t)(end - input->data) : input->size);
    fuzz_byte(input);
    return fuzz_text(line.data, line.size);
}

int fuzz_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size))
        abort();
    lseek(fd, 0, SEEK_SET);
    return fd;
}
