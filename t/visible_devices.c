/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER over a machine with four GPUs.
 */
#include "machine/visible_devices.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const visible_candidate four[] = {
    {"GPU-04732404-7fc3-5ae6-cddd-c879b3a379bb", "V100"},
    {"GPU-c6f92517-d6ad-e039-6cbf-fc1d05507a3c", "V100"},
    {"GPU-c6f92599-dd1a-b447-40f2-86e6745c3206", "V100"},
    {"GPU-94d6ebb6-7f93-d19f-5b24-d8e69b74e4e7", "V100"},
};

/* "0 2 " for the GPUs by ordinal; a slice has its name behind it. */
static const char *show(const visible_devices *seen)
{
    static char text[4096];
    int at = 0;
    text[0] = '\0';
    for (int i = 0; i < seen->count; i++) {
        const visible_device *d = &seen->devices[i];
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%d%s%s", i == 0 ? "" : " ", d->gpu,
                       d->mig[0] == '\0' ? "" : "=", d->mig);
    }
    return text;
}

static const struct {
    const char *devices;
    const char *expected;
    const char *why; /* a part of it; "" nothing is hidden */
} cases[] = {
    {NULL, "0 1 2 3", ""},
    {"0,1,2,3", "0 1 2 3", ""},
    {"3,2,1,0", "3 2 1 0", ""},
    {"2", "2", "names 1 of 4 GPUs"},
    {" 1 , 3 ", "1 3", "names 2 of 4"},
    {"+1", "1", "names 1 of 4"},
    {"1gpu2,2ampere", "1 2", "names 2 of 4"},
    {"", "", "is empty, which hides all GPUs"},
    {"  ", "", "is empty"},
    {"-1", "", "ends before its entry 1, '-1': it is no number of a GPU"},
    {"NoDevFiles", "", "entry 1, 'NoDevFiles'"},
    {"none", "", "entry 1, 'none'"},
    {"0,2,-1,1", "0 2", "ends before its entry 3, '-1'"},
    {"0,9,1", "0", "ends before its entry 2, '9': there are 4 GPUs"},
    {"0,4", "0", "entry 2, '4'"},
    {"99999999999999999999", "", "there are 4 GPUs"},
    {"0,,1", "0", "ends before its entry 2, ''"},
    {"1,", "1", "ends before its entry 2"},
    {",1", "", "ends before its entry 1"},
    {"1 2", "1", "names 1 of 4"},
    {"0,1,0", "", "hides all GPUs: its entry 3, '0', names one twice"},
    {"1,1", "", "names one twice"},
    {"0,GPU-04732404", "0", "entry 2, 'GPU-04732404': it is no number"},
    {"GPU-94d6ebb6-7f93-d19f-5b24-d8e69b74e4e7", "3", "names 1 of 4"},
    {"GPU-94,GPU-04", "3 0", "names 2 of 4"},
    {"GPU-c6f92", "", "several GPUs have UUIDs that begin so"},
    {"GPU-c6f92517,GPU-c6f92599", "1 2", "names 2 of 4"},
    {"GPU-0473,GPU-ffff,GPU-94", "0", "entry 2, 'GPU-ffff': no GPU has a UUID that begins so"},
    {"GPU-0473,1", "0", "the entries before it are UUIDs"},
    {"GPU-0473,GPU-04732404-7fc3", "", "names one twice"},
    {"gpu-0473", "", "it is no number"},
    {"GPU-", "", "several GPUs"},
    {"MIG-6e8d4f0c-1c2b-5d3e-8f4a-0123456789ab", "-1=MIG-6e8d4f0c-1c2b-5d3e-8f4a-0123456789ab",
     "names 1 of 4"},
    {"MIG-GPU-c6f92517-d6ad-e039-6cbf-fc1d05507a3c/1/0",
     "1=MIG-GPU-c6f92517-d6ad-e039-6cbf-fc1d05507a3c/1/0", "names 1 of 4"},
    {"MIG-aa,MIG-bb", "-1=MIG-aa", "a process has the first alone"},
    {"MIG-aa,MIG-aa", "", "names one twice"},
    {"MIG-aa,0", "-1=MIG-aa", "the entries before it are slices"},
    {"MIG-GPU-ffff/1/0", "", "no GPU has this UUID"},
    {"MIG-GPU-c6f92517", "", "MIG-GPU-<UUID>/<number>/<number>"},
};

static void lists(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        visible_devices seen;
        visible_devices_read(cases[i].devices, NULL, four, 4, &seen);
        const char *name = cases[i].devices == NULL ? "(not set)" : cases[i].devices;
        is_str(show(&seen), cases[i].expected, "%s", name);
        if (cases[i].why[0] == '\0')
            is_str(seen.why, "", "hides none");
        else
            has_str(seen.why, cases[i].why, "why");
        ok(seen.certain, "four of one kind have one order");
    }
}

/* The fastest comes first unless the order is that of bus ids; only CUDA knows which that is. */
static void orders(void)
{
    static const visible_candidate mixed[] = {{"", "T4"}, {"", "V100"}};
    static const visible_candidate unknown[] = {{"", ""}, {"", ""}};
    visible_devices seen;
    visible_devices_read("1,0", NULL, mixed, 2, &seen);
    ok(!seen.certain && seen.count == 2, "two models, no order set");
    visible_devices_read("1,0", "FASTEST_FIRST", mixed, 2, &seen);
    ok(!seen.certain, "the fastest first");
    visible_devices_read("1,0", "PCI_BUS_ID", mixed, 2, &seen);
    ok(seen.certain, "by bus id");
    visible_devices_read(NULL, "pci", mixed, 2, &seen);
    ok(!seen.certain, "a wrong order is none");
    visible_devices_read(NULL, NULL, unknown, 2, &seen);
    ok(!seen.certain, "models that nobody knows");
    visible_devices_read(NULL, NULL, unknown, 1, &seen);
    ok(seen.certain && seen.count == 1, "one GPU has one order");
    visible_devices_read("GPU-x", NULL, mixed, 2, &seen);
    ok(seen.certain && seen.count == 0, "UUIDs need none; an empty one is no match");
}

static void edges(void)
{
    visible_candidate many[VISIBLE_DEVICES_LIMIT + 2];
    char list[1024] = "", longest[512];
    visible_devices seen;
    for (size_t i = 0; i < COUNT(many); i++) {
        many[i] = (visible_candidate){"GPU-x", "V100"};
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%zu", i == 0 ? "" : ",", i);
    }
    visible_devices_read(NULL, NULL, many, COUNT(many), &seen);
    is_int(seen.count, VISIBLE_DEVICES_LIMIT, "more GPUs than a process can have");
    has_str(seen.why, "no more than 64", "why");
    visible_devices_read(list, NULL, many, COUNT(many), &seen);
    is_int(seen.count, VISIBLE_DEVICES_LIMIT, "all of them by number");
    has_str(seen.why, "entry 65, '64'", "why");
    visible_devices_read("0", NULL, NULL, 0, &seen);
    is_int(seen.count, 0, "no GPUs");
    has_str(seen.why, "there are 0 GPUs", "why");
    visible_devices_read(NULL, NULL, NULL, 0, &seen);
    ok(seen.count == 0 && seen.why[0] == '\0', "no GPUs, none hidden");
    memset(longest, 'z', sizeof(longest));
    memcpy(longest, "MIG-", 4);
    longest[sizeof(longest) - 1] = '\0';
    visible_devices_read(longest, NULL, four, 4, &seen);
    ok(seen.count == 0 && strlen(seen.why) < sizeof(seen.why), "too long a name");
    has_str(seen.why, "no slice has so long a name", "why");
}

int main(void)
{
    plan((int)COUNT(cases) * 3 + 7 + 9);
    lists();
    orders();
    edges();
    return done();
}
