/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What there is to say of a placement: too few devices, too few cores, devices far away.
 */
#include "config.h"

#include "placement/placement_words.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/rank_set.h"

enum { SET_SIZE = 200 };

/* Text that grows, as open_memstream() has it. */
typedef struct words {
    FILE *out;
    char *text;
    size_t size;
    bool *in; /* of each rank up to the highest */
    int ranks;
} words;

typedef bool (*which)(const placement *p, const placement_seat *seat);

static bool has_none(const placement *p, const placement_seat *seat)
{
    (void)p;
    return seat->device < 0;
}

static bool shares_device(const placement *p, const placement_seat *seat)
{
    return seat->device >= 0 && p->devices[seat->device].ranks > 1;
}

static bool shares_cores(const placement *p, const placement_seat *seat)
{
    (void)p;
    return seat->cores_shared && !seat->cores_kept && !seat->cores_listed;
}

static bool shares_by_list(const placement *p, const placement_seat *seat)
{
    (void)p;
    return seat->cores_shared && seat->cores_listed;
}

static bool is_remote(const placement *p, const placement_seat *seat)
{
    (void)p;
    return seat->nearness == PLACEMENT_REMOTE;
}

/* "ranks 4-5" of those that are so; how many they are. */
static int name_ranks(words *w, const placement *p, which is, char text[SET_SIZE])
{
    int count = 0;
    for (int r = 0; r < p->count; r++) {
        w->in[p->seats[r].rank] = is(p, &p->seats[r]);
        count += w->in[p->seats[r].rank];
    }
    rank_set_text(w->in, w->ranks, text, SET_SIZE);
    return count;
}

static muster_status begin(words *w, const placement *p)
{
    *w = (words){.ranks = p->count == 0 ? 0 : p->seats[p->count - 1].rank + 1};
    w->in = calloc((size_t)w->ranks + 1, sizeof(*w->in));
    w->out = w->in == NULL ? NULL : open_memstream(&w->text, &w->size);
    if (w->out != NULL)
        return MUSTER_OK;
    free(w->in);
    return error_no_memory((size_t)w->ranks + 512, "words on the placement");
}

static muster_status end(words *w, char **text)
{
    bool failed = ferror(w->out);
    free(w->in);
    if (fclose(w->out) == 0 && !failed) {
        *text = w->text;
        return MUSTER_OK;
    }
    free(w->text);
    return error_no_memory(512, "words on the placement");
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static muster_status say_shortage(placement *p, const placement_wish *wish)
{
    words w;
    char set[SET_SIZE];
    muster_status status = begin(&w, p);
    if (status != MUSTER_OK)
        return status;
    int none = name_ranks(&w, p, has_none, set);
    bool placed = wish->policy != PLACEMENT_NONE && p->count > 0;
    if (placed && p->num_devices == 0)
        fprintf(w.out, "host '%s' has no GPU that its ranks can use", wish->host);
    else if (placed && none > 0)
        fprintf(w.out, "host '%s' has %d GPU%s for %d rank%s: %s %s none", wish->host,
                p->num_devices, plural(p->num_devices), p->count, plural(p->count), set,
                none == 1 ? "has" : "have");
    if (name_ranks(&w, p, shares_device, set) > 0)
        fprintf(w.out, "%shost '%s' has %d GPU%s for %d ranks: %s share theirs",
                none > 0 && placed ? "; " : "", wish->host, p->num_devices, plural(p->num_devices),
                p->count, set);
    return end(&w, &p->shortage);
}

static muster_status say_remarks(placement *p, const placement_wish *wish)
{
    words w;
    char set[SET_SIZE];
    muster_status status = begin(&w, p);
    if (status != MUSTER_OK)
        return status;
    int cores = name_ranks(&w, p, shares_cores, set);
    if (cores > 0)
        fprintf(w.out, "host '%s' has too few free cores for its ranks: %s %s cores with others",
                wish->host, set, cores == 1 ? "shares" : "share");
    int listed = name_ranks(&w, p, shares_by_list, set);
    if (listed > 0)
        fprintf(w.out, "%shost '%s': the list gives CPUs of %s to %s too", cores > 0 ? "; " : "",
                wish->host, set, listed > 1 ? "others of them" : "another");
    int remote = name_ranks(&w, p, is_remote, set);
    if (remote > 0)
        fprintf(w.out, "%shost '%s': the GPU%s of %s %s not near to %s cores",
                cores + listed > 0 ? "; " : "", wish->host, plural(remote), set,
                remote == 1 ? "is" : "are", remote == 1 ? "its" : "their");
    return end(&w, &p->remarks);
}

muster_status placement_words(placement *p, const placement_wish *wish)
{
    muster_status status = say_shortage(p, wish);
    return status == MUSTER_OK ? say_remarks(p, wish) : status;
}
