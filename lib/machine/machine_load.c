/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machines from hwloc: this one, one in a file, one in a text.
 */
#include "config.h"

#include "machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "machine/machine_plain.h"
#include "machine/machine_xml.h"

#ifdef HAVE_HWLOC
#include "machine/machine_hwloc.h"
#else
static muster_status machine_hwloc_load(const char *xml, size_t size, const char *where,
                                        machine **made)
{
    (void)xml, (void)size, (void)where, (void)made;
    return error_set(MUSTER_ERR_UNAVAILABLE, "muster was built without hwloc");
}

static muster_status machine_hwloc_load_here(bool devices, machine **made)
{
    (void)devices;
    return machine_hwloc_load(NULL, 0, NULL, made);
}
#endif

/* More than any machine's, and little enough to read. */
enum { MOST_XML = 64 << 20 };

static muster_status load_checked(const char *xml, size_t size, const char *where, machine **made)
{
    if (size == 0 || size >= MOST_XML)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s has %zu bytes: a topology in XML has some, and less than %d", where,
                         size, MOST_XML);
    char *ended = malloc(size + 1);
    if (ended == NULL)
        return error_no_memory(size + 1, "a topology");
    memcpy(ended, xml, size);
    ended[size] = '\0';
    /* hwloc reads text that ends in a 0, and counts it. */
    const char *why;
    muster_status status = MUSTER_ERR_ARGUMENT;
    if (machine_xml_is_safe(ended, &why))
        status = machine_hwloc_load(ended, strlen(ended) + 1, where, made);
    else
        error_set(status, "%s is no topology of hwloc: %s", where, why);
    free(ended);
    return status;
}

muster_status machine_load_text(const char *xml, size_t size, machine **made)
{
    if (xml == NULL || made == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "a topology or the place for its machine is NULL");
    return load_checked(xml, size, "the text", made);
}

static muster_status read_whole(int fd, const char *path, size_t size, char *text)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = read(fd, text + have, size - have);
        if (got < 0 && errno != EINTR)
            return error_system("can't read the topology in '%s'", path);
        if (got == 0)
            return error_set(MUSTER_ERR_SYSTEM, "'%s' became shorter while it was read", path);
        have += got < 0 ? 0 : (size_t)got;
    }
    return MUSTER_OK;
}

static muster_status load_open(int fd, const char *path, machine **made)
{
    struct stat about;
    char where[160];
    snprintf(where, sizeof(where), "%s", path);
    if (fstat(fd, &about) != 0)
        return error_system("can't look at the topology in '%s'", path);
    if (!S_ISREG(about.st_mode) || about.st_size < 0 || about.st_size >= MOST_XML)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "'%s' is no file with a topology: it must be a plain file of less than %d "
                         "bytes",
                         path, MOST_XML);
    size_t size = (size_t)about.st_size;
    char *text = malloc(size + 1);
    if (text == NULL)
        return error_no_memory(size + 1, "a topology");
    muster_status status = read_whole(fd, path, size, text);
    if (status == MUSTER_OK)
        status = load_checked(text, size, where, made);
    free(text);
    return status;
}

muster_status machine_load_file(const char *path, machine **made)
{
    if (path == NULL || made == NULL)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the path of a topology or the place for its machine is NULL");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(MUSTER_ERR_NOT_FOUND,
                         "there is no file '%s' with a topology: make one with lstopo FILE.xml",
                         path);
    if (fd < 0)
        return error_system("can't open the topology in '%s'", path);
    muster_status status = load_open(fd, path, made);
    close(fd);
    return status;
}

static muster_status load(bool devices, machine **made)
{
    static const char *const variables[] = {"MUSTER_TOPOLOGY_FILE", "HWLOC_XMLFILE"};
    if (made == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "the place for this machine is NULL");
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *path = getenv(variables[i]);
        if (path == NULL || *path == '\0')
            continue;
        muster_status status = machine_load_file(path, made);
        return status == MUSTER_OK ? status : error_prefix(status, "%s: ", variables[i]);
    }
    error_kept kept;
    error_keep(&kept);
    muster_status status = machine_hwloc_load_here(devices, made);
    if (status == MUSTER_OK || status == MUSTER_ERR_NO_MEMORY)
        return status;
    char why[160];
    snprintf(why, sizeof(why), "nobody: %s", muster_last_error());
    return error_settle(&kept, machine_load_plain(why, made));
}

muster_status machine_load(machine **made)
{
    return load(true, made);
}

muster_status machine_load_cpus(machine **made)
{
    return load(false, made);
}
