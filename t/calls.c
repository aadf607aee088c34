/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The latest collectives of a rank, and how those of two are compared.
 */
#include "collective/calls.h"

#include <pthread.h>
#include <string.h>

#include "tap.h"

static message_label label_of(message_kind kind, uint64_t number)
{
    return (message_label){
        .kind = kind, .type = MUSTER_INT8, .root = -1, .sequence = number, .count = 1};
}

static void texts(void)
{
    static call_list list;
    char text[CALLS_TEXT], words[CALLS_WORDS];
    is_str(calls_text(&list, false, text), "", "at first there is none");
    is_int((int)calls_latest(text, words, sizeof(words)), 0, "and no latest");
    is_str(words, "", "that has words");
    message_label last;
    ok(!calls_last(&list, &last), "nor is there one");
    message_label first = label_of(MESSAGE_BARRIER, 1), second = label_of(MESSAGE_BROADCAST, 2);
    calls_note(&list, &first);
    calls_note(&list, &second);
    calls_note(&list, &second);
    is_str(calls_text(&list, false, text), "2 broadcast #2 of 1 int8\n1 barrier #1\n",
           "each has a line, however often it is noted");
    ok(!calls_waits(text) && calls_waits(calls_text(&list, true, text)) && !calls_waits("waits"),
       "who waits says so");
    is_int((int)calls_latest(text, words, sizeof(words)), 2, "the latest has its number");
    is_str(words, "broadcast #2 of 1 int8", "and its words");
    ok(calls_last(&list, &last) && last.kind == MESSAGE_BROADCAST && last.root == -1 &&
           last.sequence == 2 && last.count == 1 && last.type == MUSTER_INT8,
       "and is what it was");
    ok(calls_find(&list, 1, &last) && last.kind == MESSAGE_BARRIER, "an earlier one is found");
    ok(!calls_find(&list, 0, &last) && !calls_find(&list, 3, &last) &&
           !calls_find(&list, 1 + CALLS_KEPT, &last),
       "and what is none is not");
    for (uint64_t n = 3; n <= 40; n++) {
        message_label more = label_of(MESSAGE_BARRIER, n);
        calls_note(&list, &more);
    }
    calls_text(&list, false, text);
    ok(calls_has(text, 40) && calls_has(text, 40 - CALLS_KEPT + 1), "the latest are kept");
    ok(!calls_has(text, 40 - CALLS_KEPT) && !calls_has(text, 41), "and no others");
    message_label far = label_of(MESSAGE_BARRIER, 46);
    calls_note(&list, &far);
    calls_text(&list, false, text);
    ok(calls_has(text, 46) && calls_has(text, 40) && !calls_has(text, 41) && !calls_has(text, 30),
       "numbers that were passed over are not there");
}

static call_list written;
static atomic_bool ended;

static void *write_many(void *unused)
{
    (void)unused;
    for (uint64_t n = 1; n <= 200000; n++) {
        message_label label = label_of(MESSAGE_BROADCAST, n);
        label.count = 3 * n;
        label.root = (int)(n % 1000);
        calls_note(&written, &label);
    }
    atomic_store(&ended, true);
    return NULL;
}

static void while_written(void)
{
    pthread_t writer;
    bool right = true;
    uint64_t before = 0;
    message_label last;
    pthread_create(&writer, NULL, write_many, NULL);
    while (!atomic_load(&ended)) {
        if (!calls_last(&written, &last))
            continue;
        right = right && last.count == 3 * last.sequence && last.sequence >= before &&
                last.root == (int)(last.sequence % 1000);
        before = last.sequence;
    }
    pthread_join(writer, NULL);
    ok(right, "what is read while another is written is of one call");
    ok(calls_find(&written, 200000 - CALLS_KEPT + 1, &last) && last.root == 985 &&
           !calls_find(&written, 200000 - CALLS_KEPT, &last) && !calls_find(&written, 0, &last),
       "calls of late are found by number");
    calls_clear(&written);
    ok(!calls_last(&written, &last) && !calls_find(&written, 200000, &last),
       "none are left of what was cleared");
}

static void differences(void)
{
    static const struct {
        const char *ours, *theirs;
        int number; /* 0: there is none */
        const char *our_words, *their_words;
        const char *name;
    } rows[] = {
        {"", "", 0, NULL, NULL, "nothing and nothing"},
        {"1 a\n", "", 0, NULL, NULL, "something and nothing"},
        {"1 a\n", "1 a\n", 0, NULL, NULL, "the same"},
        {"1 a\n", "1 b\n", 1, "a", "b", "another"},
        {"1 a\n", "2 c\n1 b\n", 1, "a", "b", "another, and gone on"},
        {"2 c\n1 b\n", "1 a\n", 1, "b", "a", "gone on from another"},
        {"3 z\n2 c\n1 b\n", "3 y\n2 d\n1 b\n", 2, "c", "d", "the first of two differences"},
        {"1 a\n", "12 b\n", 0, NULL, NULL, "other numbers"},
        {"1 a", "1 ab", 1, "a", "ab", "the beginning of another"},
        {"x\n1 a\n", "1 b\n", 0, NULL, NULL, "what is no text"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        calls_difference found = {.number = 0};
        bool differ = calls_differ(rows[i].ours, rows[i].theirs, &found);
        ok(differ == (rows[i].number > 0) && (int)found.number == rows[i].number &&
               (!differ || (strcmp(found.ours, rows[i].our_words) == 0 &&
                            strcmp(found.theirs, rows[i].their_words) == 0)),
           "%s", rows[i].name);
    }
}

int main(void)
{
    plan(14 + 3 + 10);
    texts();
    while_written();
    differences();
    return done();
}
