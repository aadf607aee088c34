/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parses and compares versions: numbers between dots, then what makes it older or newer than its
 * release (a, b, rc, dev, post), then what does not count ("+cuda13.0", "-1").
 */
#include "base/version.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define WORDS(a, b, c) #a "." #b "." #c
#define VERSION(a, b, c) WORDS(a, b, c) /* in between, so that macros become their numbers */

const char *muster_version(void)
{
    return VERSION(MUSTER_VERSION_MAJOR, MUSTER_VERSION_MINOR, MUSTER_VERSION_PATCH);
}

/* The locale has no say in what is a digit or a letter. */
static bool version_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool version_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes a number at *at; false if there is none or it is too large. */
static bool version_take_number(const char **at, int *number)
{
    const char *c = *at;
    int64_t value = 0;
    if (!version_is_digit(*c))
        return false;
    for (; version_is_digit(*c); c++) {
        value = value * 10 + (*c - '0');
        if (value > INT32_MAX)
            return false;
    }
    *number = (int)value;
    *at = c;
    return true;
}

static bool version_take_numbers(const char **at, version *parsed)
{
    size_t count = 0;
    if (!version_take_number(at, &parsed->numbers[count++]))
        return false;
    while ((*at)[0] == '.' && !version_is_letter((*at)[1])) {
        ++*at;
        if (count == VERSION_MAX_NUMBERS || !version_take_number(at, &parsed->numbers[count++]))
            return false;
    }
    return true;
}

static const struct version_word {
    const char *text;
    version_stage stage; /* VERSION_RELEASE stands for post */
} version_words[] = {
    {"alpha", VERSION_ALPHA},   {"beta", VERSION_BETA},    {"preview", VERSION_CANDIDATE},
    {"pre", VERSION_CANDIDATE}, {"post", VERSION_RELEASE}, {"rev", VERSION_RELEASE},
    {"rc", VERSION_CANDIDATE},  {"dev", VERSION_DEV},      {"a", VERSION_ALPHA},
    {"b", VERSION_BETA},        {"c", VERSION_CANDIDATE},
};

static const struct version_word *version_find_word(const char *text)
{
    size_t length = 0;
    while (version_is_letter(text[length]))
        length++;
    for (size_t i = 0; i < sizeof(version_words) / sizeof(version_words[0]); i++)
        if (strlen(version_words[i].text) == length &&
            strncasecmp(text, version_words[i].text, length) == 0)
            return &version_words[i];
    return NULL;
}

/* Where the word of the next suffix begins: "rc1", ".rc1", "-rc1", "~rc1"; NULL where none is. */
static const struct version_word *version_next_word(const char **at)
{
    const char *word = *at + (**at != '\0' && strchr(".-_~", **at) != NULL);
    const struct version_word *found = version_find_word(word);
    if (found != NULL)
        *at = word + strlen(found->text);
    return found;
}

/* Takes "rc1", then ".post1", then ".dev3", each of which may be absent. */
static bool version_take_suffixes(const char **at, version *parsed)
{
    int last = -1; /* pre-release, post and dev in this order, none of them twice */
    for (const struct version_word *word; (word = version_next_word(at)) != NULL;) {
        int kind = word->stage == VERSION_DEV ? 2 : word->stage == VERSION_RELEASE ? 1 : 0;
        int number = 0;
        const char *behind = *at + (**at == '.' || **at == '_');
        if (version_is_digit(*behind)) {
            *at = behind;
            if (!version_take_number(at, &number))
                return false;
        }
        if (kind <= last)
            return false;
        last = kind;
        if (kind == 0) {
            parsed->stage = word->stage;
            parsed->stage_number = number;
        } else if (kind == 1)
            parsed->post = number;
        else
            parsed->dev = number;
    }
    if (parsed->dev != INT_MAX && parsed->stage == VERSION_RELEASE && parsed->post < 0)
        parsed->stage = VERSION_DEV;
    return true;
}

/* "+local" and "-revision" do not count, but must look like one. */
static bool version_skip_rest(const char *at)
{
    if (*at == '\0')
        return true;
    if ((*at != '+' && *at != '-') || at[1] == '\0')
        return false;
    for (at++; *at != '\0'; at++)
        if (!version_is_letter(*at) && !version_is_digit(*at) && strchr(".+-~_", *at) == NULL)
            return false;
    return true;
}

bool version_read(const char *text, version *parsed)
{
    version found = {.stage = VERSION_RELEASE, .post = -1, .dev = INT_MAX};
    const char *at = text + (*text == 'v' || *text == 'V');
    if (!version_take_numbers(&at, &found) || !version_take_suffixes(&at, &found) ||
        !version_skip_rest(at))
        return false;
    *parsed = found;
    return true;
}

muster_status version_parse(const char *text, version *parsed)
{
    if (text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "a version is NULL; give text such as \"2.10.0\"");
    if (version_read(text, parsed))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "'%s' is not a version: give up to %d numbers, none over 2147483647, with "
                     "dots between them, such as 2.10.0 or 2.6.0rc1",
                     text, VERSION_MAX_NUMBERS);
}

static int version_order_int(int a, int b)
{
    return (a > b) - (a < b);
}

int version_order(const version *a, const version *b)
{
    int order = 0;
    for (size_t i = 0; order == 0 && i < VERSION_MAX_NUMBERS; i++)
        order = version_order_int(a->numbers[i], b->numbers[i]);
    if (order == 0)
        order = version_order_int((int)a->stage, (int)b->stage);
    if (order == 0)
        order = version_order_int(a->stage_number, b->stage_number);
    if (order == 0)
        order = version_order_int(a->post, b->post);
    if (order == 0)
        order = version_order_int(a->dev, b->dev);
    return order;
}

muster_status muster_version_compare(const char *a, const char *b, int *order)
{
    version left, right;
    if (order == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_version_compare: order is NULL");
    muster_status status = version_parse(a, &left);
    if (status == MUSTER_OK)
        status = version_parse(b, &right);
    if (status == MUSTER_OK)
        *order = version_order(&left, &right);
    return status;
}
