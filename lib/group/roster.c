/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank records: lines of "word value", read strictly; words that are not known are passed over, so
 * that a newer muster may say more.
 */
#include "config.h"

#include "group/roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MAX_BACKENDS = 64, MAX_DEVICES = 256 };

/* A field within a line: tabs and newlines would end it. */
static void write_field(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text, out);
}

static void write_line(FILE *out, const char *word, const char *value)
{
    fprintf(out, "%s\t", word);
    write_field(out, value);
    fputc('\n', out);
}

void roster_write_fields(FILE *out, const char *word, const char *const *fields, size_t count)
{
    fprintf(out, "%s", word);
    for (size_t f = 0; f < count; f++) {
        fputc('\t', out);
        write_field(out, fields[f]);
    }
    fputc('\n', out);
}

static void write_backend(FILE *out, const rank_backend *has)
{
    char device[16];
    const char *fields[] = {has->name,    has->version,   has->reason,
                            has->address, has->interface, has->address_from};
    roster_write_fields(out, "backend", fields, 6);
    if (has->second != NULL && *has->second != '\0')
        roster_write_fields(out, "second",
                            (const char *[]){has->name, has->second, has->second_interface}, 3);
    if (has->device_from == NULL || *has->device_from == '\0')
        return;
    snprintf(device, sizeof(device), "%d", has->device);
    roster_write_fields(out, "uses", (const char *[]){has->name, device, has->device_from}, 3);
}

static void write_device(FILE *out, const rank_device *device)
{
    char ordinal[16];
    snprintf(ordinal, sizeof(ordinal), "%d", device->ordinal);
    roster_write_fields(out, "device",
                        (const char *[]){device->backend, ordinal,
                                         device->slice != 0 ? "slice" : "whole", device->uuid,
                                         device->bus_id, device->name},
                        6);
}

muster_status rank_record_write(const rank_record *record, char **text)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buffer, &size);
    if (out == NULL)
        return error_no_memory(4096, "a rank's record");
    write_line(out, "library", record->library);
    write_line(out, "host", record->host);
    write_line(out, "host_id", record->host_id);
    write_line(out, "asked", record->asked);
    write_line(out, "loopback", record->loopback);
    if (record->memory != NULL)
        write_line(out, "memory", record->memory);
    if (record->access != NULL && *record->access != '\0')
        write_line(out, "access", record->access);
    fprintf(out, "pid\t%lld\npid_space\t%llu\nstart\t%llu\nnonce\t%llu\n", record->pid,
            record->pid_space, record->start, record->nonce);
    if (record->checks != 0)
        fprintf(out, "checks\t%d\n", record->checks);
    fprintf(out, "world_size\t%d\nrank\t%d\ncores\t%d\ntold_local_rank\t%d\n", record->world_size,
            record->rank, record->cores, record->told_local_rank);
    if (record->in_use != 0)
        fprintf(out, "in_use\t%d\n", record->in_use);
    for (size_t i = 0; i < record->num_backends; i++)
        write_backend(out, &record->backends[i]);
    for (size_t i = 0; i < record->num_devices; i++)
        write_device(out, &record->devices[i]);
    roster_write_place(out, record);
    bool written = !ferror(out);
    if (fclose(out) != 0 || !written) {
        free(buffer);
        return error_no_memory(4096, "a rank's record");
    }
    *text = buffer;
    return MUSTER_OK;
}

static bool read_backend(rank_record *record, char *fields)
{
    if (record->num_backends == MAX_BACKENDS)
        return false;
    rank_backend *has = &record->backends[record->num_backends];
    const char **slots[] = {&has->name,    &has->version,   &has->reason,
                            &has->address, &has->interface, &has->address_from};
    enum { NUM_SLOTS = sizeof(slots) / sizeof(*slots) };
    for (int i = 0; i < NUM_SLOTS; i++) {
        char *field = strsep(&fields, "\t");
        if (field == NULL)
            return false;
        *slots[i] = field;
    }
    has->second = has->second_interface = has->device_from = "";
    has->device = -1;
    record->num_backends++;
    return fields == NULL;
}

/* Of a backend that was said before. */
static bool read_second(rank_record *record, char *fields)
{
    const char *name = strsep(&fields, "\t"), *second = strsep(&fields, "\t");
    for (size_t i = 0; i < record->num_backends; i++) {
        rank_backend *has = &record->backends[i];
        if (second == NULL || fields == NULL || strcmp(has->name, name) != 0)
            continue;
        has->second = second;
        has->second_interface = fields;
        return true;
    }
    return false;
}

static bool read_number(const char *value, unsigned long long most, unsigned long long *number)
{
    char *end = NULL;
    errno = 0;
    if (*value < '0' || *value > '9')
        return false;
    *number = strtoull(value, &end, 10);
    return errno == 0 && *end == '\0' && *number <= most;
}

static bool read_numeric(rank_record *record, const char *word, const char *value)
{
    unsigned long long number = 0;
    const struct {
        const char *word;
        unsigned long long most;
        unsigned long long *large;
        int *small;
    } known[] = {
        {"pid_space", UINT64_MAX, &record->pid_space, NULL},
        {"start", UINT64_MAX, &record->start, NULL},
        {"nonce", UINT64_MAX, &record->nonce, NULL},
        {"world_size", INT32_MAX, NULL, &record->world_size},
        {"rank", INT32_MAX, NULL, &record->rank},
        {"cores", INT32_MAX, NULL, &record->cores},
        {"checks", INT32_MAX, NULL, &record->checks},
        {"in_use", INT32_MAX, NULL, &record->in_use},
        {"elsewhere", INT32_MAX, NULL, &record->elsewhere},
        {"told_local_rank", INT32_MAX, NULL, &record->told_local_rank},
    };
    if (strcmp(word, "pid") == 0) {
        if (!read_number(value, INT32_MAX, &number))
            return false;
        record->pid = (long long)number;
        return true;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(word, known[i].word) != 0)
            continue;
        if (!read_number(value, known[i].most, &number))
            return false;
        if (known[i].large != NULL)
            *known[i].large = number;
        else
            *known[i].small = (int)number;
    }
    return true;
}

bool roster_read_number(const char *text, int least, int *number)
{
    unsigned long long value = 0;
    if (least < 0 && strcmp(text, "-1") == 0) {
        *number = -1;
        return true;
    }
    if (!read_number(text, INT32_MAX, &value))
        return false;
    *number = (int)value;
    return true;
}

/* Of a backend that was said before. */
static bool read_uses(rank_record *record, char *fields)
{
    const char *name = strsep(&fields, "\t"), *ordinal = strsep(&fields, "\t");
    for (size_t i = 0; i < record->num_backends; i++) {
        rank_backend *has = &record->backends[i];
        if (ordinal == NULL || fields == NULL || strcmp(has->name, name) != 0)
            continue;
        has->device_from = fields;
        return roster_read_number(ordinal, -1, &has->device);
    }
    return false;
}

static bool read_device(rank_record *record, char *fields)
{
    if (record->num_devices == MAX_DEVICES)
        return false;
    rank_device *all = realloc(record->devices, (record->num_devices + 1) * sizeof(*all));
    if (all == NULL)
        return false;
    record->devices = all;
    rank_device *device = &all[record->num_devices];
    const char *ordinal = NULL, *slice = NULL;
    const char **slots[] = {&device->backend, &ordinal,        &slice,
                            &device->uuid,    &device->bus_id, &device->name};
    for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
        *slots[i] = strsep(&fields, "\t");
        if (*slots[i] == NULL)
            return false;
    }
    device->slice = strcmp(slice, "slice") == 0;
    record->num_devices++;
    return fields == NULL && roster_read_number(ordinal, 0, &device->ordinal);
}

static bool read_own_seat(rank_record *record, char *fields)
{
    return roster_read_seat(&record->seat, fields);
}

static bool read_line(rank_record *record, char *line)
{
    static const struct {
        const char *word;
        bool (*read)(rank_record *record, char *fields);
    } several[] = {{"backend", read_backend}, {"second", read_second},   {"uses", read_uses},
                   {"device", read_device},   {"near", roster_read_way}, {"seat", read_own_seat}};
    const struct {
        const char *word;
        const char **text;
    } texts[] = {{"library", &record->library},   {"host", &record->host},
                 {"host_id", &record->host_id},   {"asked", &record->asked},
                 {"loopback", &record->loopback}, {"memory", &record->memory},
                 {"placement", &record->policy},  {"list", &record->place_list},
                 {"standing", &record->standing}, {"access", &record->access}};
    char *value = line;
    const char *word = strsep(&value, "\t");
    if (value == NULL)
        return false;
    for (size_t i = 0; i < sizeof(several) / sizeof(*several); i++)
        if (strcmp(word, several[i].word) == 0)
            return several[i].read(record, value);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (strcmp(word, texts[i].word) == 0) {
            *texts[i].text = value;
            return true;
        }
    return read_numeric(record, word, value);
}

muster_status rank_record_read(rank_record *record, muster_blob text)
{
    *record = (rank_record){.library = "",
                            .host = "",
                            .host_id = "",
                            .asked = "",
                            .loopback = "",
                            .policy = "",
                            .place_list = "",
                            .standing = "",
                            .memory = "its muster shares none",
                            .access = "",
                            .rank = -1};
    record->text = malloc(text.size + 1);
    record->backends = calloc(MAX_BACKENDS, sizeof(*record->backends));
    if (record->text == NULL || record->backends == NULL) {
        rank_record_clear(record);
        return error_no_memory(text.size, "a rank's record");
    }
    if (text.size > 0)
        memcpy(record->text, text.data, text.size);
    record->text[text.size] = '\0';
    bool well = strlen(record->text) == text.size;
    char *rest = record->text;
    for (char *line = strsep(&rest, "\n"); well && line != NULL; line = strsep(&rest, "\n"))
        well = *line == '\0' || read_line(record, line);
    if (well && record->rank >= 0 && record->rank < record->world_size)
        return MUSTER_OK;
    rank_record_clear(record);
    return error_set(MUSTER_ERR_PROTOCOL,
                     "what a rank published about itself is not a record of muster's; is something "
                     "else using the same store and group name?");
}

void rank_record_clear(rank_record *record)
{
    free(record->text);
    free(record->backends);
    free(record->devices);
    free(record->ways);
    free(record->seat_text);
    *record = (rank_record){0};
}

const char *rank_record_name(const rank_record *record, char *text, size_t size)
{
    snprintf(text, size, "rank %d (host %s, pid %lld)", record->rank, record->host, record->pid);
    return text;
}

const rank_backend *rank_record_backend(const rank_record *record, const char *name)
{
    for (size_t i = 0; i < record->num_backends; i++)
        if (strcmp(record->backends[i].name, name) == 0)
            return &record->backends[i];
    return NULL;
}

const rank_device *rank_record_device(const rank_record *record, const char *backend)
{
    const rank_backend *has = rank_record_backend(record, backend);
    for (size_t i = 0; has != NULL && has->device >= 0 && i < record->num_devices; i++)
        if (strcmp(record->devices[i].backend, backend) == 0 &&
            record->devices[i].ordinal == has->device)
            return &record->devices[i];
    return NULL;
}

static int compare_hosts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The records are all there. */
static muster_status count_hosts(roster *list)
{
    int count = list->count;
    const char **ids = malloc((size_t)count * sizeof(*ids) + 1);
    if (ids == NULL) {
        roster_clear(list);
        return error_no_memory((size_t)count * sizeof(*ids), "the list of ranks");
    }
    for (int r = 0; r < list->count; r++)
        ids[r] = list->ranks[r].host_id;
    qsort(ids, (size_t)list->count, sizeof(*ids), compare_hosts);
    for (int r = 0; r < list->count; r++)
        list->hosts += r == 0 || strcmp(ids[r - 1], ids[r]) != 0;
    free(ids);
    return MUSTER_OK;
}

muster_status roster_read(roster *list, const muster_blob *texts, int count)
{
    *list = (roster){.count = count, .ranks = calloc((size_t)count, sizeof(rank_record))};
    if (list->ranks == NULL)
        return error_no_memory((size_t)count * sizeof(rank_record), "the list of ranks");
    for (int r = 0; r < count; r++) {
        muster_status status = rank_record_read(&list->ranks[r], texts[r]);
        if (status == MUSTER_OK && list->ranks[r].rank != r)
            status = error_set(MUSTER_ERR_PROTOCOL, "rank %d stands in the place of rank %d",
                               list->ranks[r].rank, r);
        if (status != MUSTER_OK) {
            roster_clear(list);
            return status;
        }
    }
    return count_hosts(list);
}

/* A record is changed by reading it, so a copy is made by writing it out and reading it anew. */
static muster_status copy_record(rank_record *copy, const rank_record *from, int rank)
{
    rank_record as_rank = *from;
    as_rank.rank = rank;
    char *text = NULL;
    muster_status status = rank_record_write(&as_rank, &text);
    if (status == MUSTER_OK)
        status = rank_record_read(copy, muster_str(text));
    muster_free(text);
    return status;
}

muster_status roster_subset(roster *list, const roster *from, const int *ranks, int count)
{
    *list = (roster){.count = count, .ranks = calloc((size_t)count, sizeof(rank_record))};
    if (list->ranks == NULL)
        return error_no_memory((size_t)count * sizeof(rank_record), "the list of ranks");
    for (int r = 0; r < count; r++) {
        muster_status status = copy_record(&list->ranks[r], &from->ranks[ranks[r]], r);
        if (status != MUSTER_OK) {
            roster_clear(list);
            return status;
        }
    }
    return count_hosts(list);
}

void roster_clear(roster *list)
{
    for (int r = 0; list->ranks != NULL && r < list->count; r++)
        rank_record_clear(&list->ranks[r]);
    free(list->ranks);
    *list = (roster){0};
}

bool roster_on_one_host(const roster *list, int a, int b)
{
    return strcmp(list->ranks[a].host_id, list->ranks[b].host_id) == 0;
}

int roster_ranks_on_host(const roster *list, int rank)
{
    int here = 0;
    for (int r = 0; r < list->count; r++)
        here += roster_on_one_host(list, r, rank);
    return here;
}

int roster_num_hosts(const roster *list)
{
    return list->hosts;
}
