/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: the devices that a
 * process has, from MUSTER_STANDIN_DEVICES and CUDA_VISIBLE_DEVICES.
 */
#include "config.h"

#include "devices.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static standin_device all[DEVICES_MOST];
static int num_all;
static standin_device visible[DEVICES_MOST];
static int num_visible;

/* Two kinds of UUID, told apart by their first byte. */
static void devices_make_uuid(cu_uuid *uuid, unsigned char kind, int number)
{
    memset(uuid, 0, sizeof(*uuid));
    uuid->bytes[0] = kind;
    uuid->bytes[15] = (unsigned char)number;
}

static void devices_read_uuid(cu_uuid *uuid, const char *text)
{
    size_t digits = 0;
    memset(uuid, 0, sizeof(*uuid));
    if (strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0)
        text += 4;
    for (; *text != '\0' && digits < 32; text++) {
        if (!isxdigit((unsigned char)*text))
            continue;
        char digit[2] = {*text, '\0'};
        unsigned value = (unsigned)strtoul(digit, NULL, 16);
        uuid->bytes[digits / 2] |= (unsigned char)(digits % 2 == 0 ? value << 4 : value);
        digits++;
    }
}

static void devices_write_uuid(const standin_device *device, char text[48])
{
    bool slice = memcmp(&device->uuid, &device->whole, sizeof(device->uuid)) != 0;
    char *end = text + sprintf(text, slice ? "MIG-" : "GPU-");
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        end += sprintf(end, "%s%02x", dash, device->uuid.bytes[i]);
    }
}

static void devices_describe(standin_device *device, char *word)
{
    char *value = strchr(word, '=');
    value = value != NULL ? value + 1 : word;
    if (strncmp(word, "bus=", 4) == 0)
        snprintf(device->bus_id, sizeof(device->bus_id), "%s", value);
    if (strncmp(word, "name=", 5) == 0)
        snprintf(device->name, sizeof(device->name), "%s", value);
    if (strncmp(word, "cc=", 3) == 0)
        sscanf(value, "%d.%d", &device->compute_major, &device->compute_minor);
    if (strncmp(word, "uuid=", 5) == 0) {
        devices_read_uuid(&device->uuid, value);
        device->whole = device->uuid;
    }
    if (strncmp(word, "slice=", 6) == 0) {
        devices_make_uuid(&device->uuid, 0x51, num_all);
        devices_make_uuid(&device->whole, 0x5d, atoi(value));
        snprintf(device->bus_id, sizeof(device->bus_id), "0000:%02x:00.0", atoi(value) + 1);
    }
}

static void devices_add(char *words)
{
    standin_device *device = &all[num_all];
    char *rest = NULL;
    snprintf(device->name, sizeof(device->name), "Stand-in %d", num_all);
    snprintf(device->bus_id, sizeof(device->bus_id), "0000:%02x:00.0", num_all + 1);
    devices_make_uuid(&device->uuid, 0x5d, num_all);
    device->whole = device->uuid;
    device->compute_major = 9;
    for (char *word = strtok_r(words, "/", &rest); word != NULL; word = strtok_r(NULL, "/", &rest))
        devices_describe(device, word);
    num_all++;
}

static void devices_find_all(void)
{
    char text[4096], none[] = "-", *rest = NULL;
    const char *given = getenv("MUSTER_STANDIN_DEVICES");
    snprintf(text, sizeof(text), "%s", given != NULL ? given : "8");
    if (text[strspn(text, "0123456789")] == '\0') {
        for (int left = atoi(text); left > 0 && num_all < DEVICES_MOST; left--)
            devices_add(none);
        return;
    }
    for (char *words = strtok_r(text, ",", &rest); words != NULL && num_all < DEVICES_MOST;
         words = strtok_r(NULL, ",", &rest))
        devices_add(words);
}

/* The device that a word of CUDA_VISIBLE_DEVICES means, or -1. */
static int devices_mean(const char *word)
{
    char uuid[48];
    if (isdigit((unsigned char)*word))
        return atoi(word) < num_all ? atoi(word) : -1;
    for (int i = 0; i < num_all; i++) {
        devices_write_uuid(&all[i], uuid);
        if (strlen(word) > 4 && strncmp(uuid, word, strlen(word)) == 0)
            return i;
    }
    return -1;
}

static void devices_find(void)
{
    char text[4096], *rest = NULL;
    const char *given = getenv("CUDA_VISIBLE_DEVICES");
    devices_find_all();
    if (given == NULL) {
        memcpy(visible, all, sizeof(all));
        num_visible = num_all;
        return;
    }
    snprintf(text, sizeof(text), "%s", given);
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        int i = devices_mean(word);
        if (i < 0 || num_visible == DEVICES_MOST)
            return;
        visible[num_visible++] = all[i];
    }
}

const standin_device *devices_visible(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, devices_find);
    *count = num_visible;
    return visible;
}
