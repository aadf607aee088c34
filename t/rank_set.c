/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets and lists of ranks in words.
 */
#include "base/rank_set.h"

#include <string.h>

#include "tap.h"

enum { MANY = 2000 };

static void set(const char *in, const char *expected)
{
    bool members[64] = {false};
    char text[64];
    int count = (int)strlen(in);
    for (int r = 0; r < count; r++)
        members[r] = in[r] == '1';
    is_str(rank_set_text(members, count, text, sizeof(text)), expected, "set '%s'", in);
}

/* Every room that a caller may have: the text ends, stays inside, and says where it was cut. */
static void cut(void)
{
    static bool odd[MANY];
    static int list[MANY];
    bool inside = true, marked = true;
    for (int r = 0; r < MANY; r++) {
        odd[r] = r % 2 != 0;
        list[r] = r;
    }
    for (size_t size = 1; size < 80; size++) {
        char text[80];
        memset(text, '!', sizeof(text));
        rank_set_text(odd, MANY, text, size);
        size_t length = strlen(text);
        inside = inside && length < size && (size == 80 || text[size] == '!');
        marked = marked && (size < 8 || strcmp(text + length - 3, "...") == 0);
        memset(text, '!', sizeof(text));
        rank_list_text(list, MANY, text, size);
        length = strlen(text);
        inside = inside && length < size && text[size] == '!';
        marked = marked && (size < 8 || strcmp(text + length - 3, "...") == 0);
    }
    ok(inside, "what does not fit stays inside of its room");
    ok(marked, "and ends in '...'");
}

int main(void)
{
    plan(14);
    set("", "no rank");
    set("000", "no rank");
    set("1", "rank 0");
    set("0001", "rank 3");
    set("11", "ranks 0-1");
    set("101", "ranks 0,2");
    set("1110011", "ranks 0-2,5-6");
    set("0110100", "ranks 1-2,4");
    char text[64];
    is_str(rank_list_text(NULL, 0, text, sizeof(text)), "{}", "an empty list");
    is_str(rank_list_text((int[]){7}, 1, text, sizeof(text)), "{7}", "a list of one");
    is_str(rank_list_text((int[]){3, 1, 2}, 3, text, sizeof(text)), "{3,1,2}", "its own order");
    is_str(rank_list_text((int[]){-5, 2147483647}, 2, text, sizeof(text)), "{-5,2147483647}",
           "numbers as they are");
    cut();
    return done();
}
