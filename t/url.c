/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading an init_method: every good form, every mistake.
 */
#include "net/url.h"

#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *text;
    url_kind kind;
    const char *place; /* host or path */
    int port;
    int rank;
    int world_size;
} good[] = {
    {"env://", URL_ENV, "", 0, -1, -1},
    {"ENV://", URL_ENV, "", 0, -1, -1},
    {"env://?", URL_ENV, "", 0, -1, -1},
    {"env://?rank=3", URL_ENV, "", 0, 3, -1},
    {"env://?rank=0&world_size=1", URL_ENV, "", 0, 0, 1},
    {"tcp://10.0.0.1:29500", URL_TCP, "10.0.0.1", 29500, -1, -1},
    {"tcp://10.0.0.1:29500/", URL_TCP, "10.0.0.1", 29500, -1, -1},
    {"tcp://10.0.0.1:1?world_size=131072&rank=131071", URL_TCP, "10.0.0.1", 1, 131071, 131072},
    {"tcp://node-1.example_x.org:65535/?rank=0", URL_TCP, "node-1.example_x.org", 65535, 0, -1},
    {"tcp://[::1]:29500", URL_TCP, "::1", 29500, -1, -1},
    {"tcp://[::ffff:127.0.0.1]:29500", URL_TCP, "::ffff:127.0.0.1", 29500, -1, -1},
    {"tcp://[fe80::1%25eth0]:29500", URL_TCP, "fe80::1%eth0", 29500, -1, -1},
    {"tcp://[fe80::1%eth0]:29500", URL_TCP, "fe80::1%eth0", 29500, -1, -1},
    {"tcp://h:1?%72ank=%31", URL_TCP, "h", 1, 1, -1},
    {"file:///tmp/x", URL_FILE, "/tmp/x", 0, -1, -1},
    {"file://localhost/tmp/x", URL_FILE, "/tmp/x", 0, -1, -1},
    {"file:///tmp/a%20b%3Fc%25", URL_FILE, "/tmp/a b?c%", 0, -1, -1},
    {"file:///tmp/a+b:c?rank=1&world_size=2", URL_FILE, "/tmp/a+b:c", 0, 1, 2},
};

static void good_urls(void)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        url parsed;
        muster_status status = url_parse(good[i].text, &parsed);
        if (!ok(status == MUSTER_OK, "%s is understood", good[i].text))
            diag("%s", muster_last_error());
        const char *place = parsed.kind == URL_FILE ? parsed.path : parsed.host;
        is_str(place, good[i].place, "its host or path");
        ok(parsed.kind == good[i].kind && parsed.port == good[i].port &&
               parsed.rank == good[i].rank && parsed.world_size == good[i].world_size,
           "its kind and numbers");
    }
}

static const struct {
    const char *text;
    const char *words;
} bad[] = {
    {"", "no scheme; expected env://, tcp://host:port or file:///path"},
    {"10.0.0.1:29500", "no scheme"},
    {"tcp:/10.0.0.1:29500", "no scheme"},
    {"://x", "the scheme \"\" is not known"},
    {"http://x:1", "the scheme \"http\" is not known; known are env, tcp and file"},
    {" env://", "the scheme \" env\" is not known"},
    {"env://host", "env:// takes the address from MASTER_ADDR"},
    {"env:///", "has no meaning"},
    {"tcp://", "the port is missing; expected tcp://host:port"},
    {"tcp://host", "the port is missing"},
    {"tcp://host:", "the port is missing"},
    {"tcp://:29500", "the host is missing"},
    {"tcp://host:0", "the port is \"0\"; expected a number from 1 to 65535"},
    {"tcp://host:65536", "\"65536\"; expected a number from 1 to 65535"},
    {"tcp://host:4294996796", "expected a number from 1 to 65535"},
    {"tcp://host:99999999999999999999999", "expected a number from 1 to 65535"},
    {"tcp://host:-1", "the port is \"-1\""},
    {"tcp://host:+1", "the port is \"+1\""},
    {"tcp://host: 1", "the port is \" 1\""},
    {"tcp://host:1 ", "the port is \"1 \""},
    {"tcp://host:0x10", "the port is \"0x10\""},
    {"tcp://host:1/path", "\"/path\" behind the port is not understood"},
    {"tcp://user@host:1", "\"user@host\" is not a host name"},
    {"tcp://ho st:1", "is not a host name"},
    {"tcp://h%6Fst:1", "is not a host name"},
    {"tcp://::1:29500", "an IPv6 address in brackets"},
    {"tcp://[::1:29500", "is not closed"},
    {"tcp://[::1]", "the port is missing"},
    {"tcp://[::1]x:29500", "the port is missing"},
    {"tcp://[::1]:29500:1", "more than one ':'"},
    {"tcp://[127.0.0.1]:29500", "in brackets is not an IPv6 address"},
    {"tcp://[]:29500", "in brackets is not an IPv6 address"},
    {"tcp://[fe80::1%]:29500", "in brackets is not an IPv6 address"},
    {"file://", "the path is missing; expected file:///folder/file"},
    {"file:///", "the path is missing"},
    {"file://?rank=0", "the path is missing"},
    {"file://tmp/x", "did you mean file:///tmp/x"},
    {"file://x", "did you mean file:///x"},
    {"file:///tmp/", "the path ends in '/'"},
    {"file:///tmp/%", "a % in the path"},
    {"file:///tmp/%2", "a % in the path"},
    {"file:///tmp/%zz", "a % in the path"},
    {"file:///tmp/%00x", "a % in the path"},
    {"file:///tmp/a#b", "in a path write %23"},
    {"env://?rank", "\"rank\" in the query is not name=value"},
    {"env://?=1", "\"=1\" in the query is not name=value"},
    {"env://?rank=1&", "is not name=value"},
    {"env://?rank=1&&world_size=2", "is not name=value"},
    {"env://?rank=1?world_size=2", "rank is \"1?world_size=2\""},
    {"env://?rank=", "rank is \"\"; expected a number from 0 to 131071"},
    {"env://?rank=-1", "rank is \"-1\""},
    {"env://?rank=+1", "rank is \"+1\""},
    {"env://?rank=%2B1", "rank is \"+1\""},
    {"env://?rank= 1", "rank is \" 1\""},
    {"env://?rank=1=2", "rank is \"1=2\""},
    {"env://?rank=1_0", "rank is \"1_0\""},
    {"env://?rank=x", "rank is \"x\""},
    {"env://?rank=131072", "expected a number from 0 to 131071"},
    {"env://?world_size=0", "world_size is \"0\"; expected a number from 1 to 131072"},
    {"env://?world_size=131073", "expected a number from 1 to 131072"},
    {"env://?world_size=18446744073709551617", "expected a number from 1 to 131072"},
    {"env://?rank=1&rank=1", "rank is given twice"},
    {"env://?world=2", "\"world\" is not known in the query; known are rank and world_size"},
    {"env://?Rank=2", "\"Rank\" is not known in the query"},
    {"env://?rank=%", "a % in the query"},
    {"env://?rank=%31%0", "a % in the query"},
};

static void bad_urls(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        url parsed;
        is_int(url_parse(bad[i].text, &parsed), MUSTER_ERR_ARGUMENT, "\"%s\" is refused",
               bad[i].text);
        char quoted[256] = "init_method \"";
        strcat(strcat(quoted, bad[i].text), "\": ");
        ok(strstr(muster_last_error(), bad[i].words) != NULL &&
               strncmp(muster_last_error(), quoted, strlen(quoted)) == 0,
           "the sentence quotes it and says: %s", muster_last_error());
    }
}

static void limits(void)
{
    static url parsed;
    static char text[URL_MAX_LENGTH + 2];
    is_int(url_parse(NULL, &parsed), MUSTER_ERR_ARGUMENT, "NULL is refused");
    is_int(url_parse("env://", NULL), MUSTER_ERR_ARGUMENT, "no place for the result is refused");
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "file:///", 8);
    is_int(url_parse(text, &parsed), MUSTER_ERR_ARGUMENT, "one character too many is refused");
    has_str(muster_last_error(), "4096 characters are more than the 4095", "saying how many");
    text[URL_MAX_LENGTH] = '\0';
    is_int(url_parse(text, &parsed), MUSTER_OK, "the longest is taken");
    is_int((long long)strlen(parsed.path), URL_MAX_LENGTH - 7, "whole");
    memcpy(text, "tcp://xx", 8);
    strcpy(text + 6 + 256, ":1");
    is_int(url_parse(text, &parsed), MUSTER_ERR_ARGUMENT, "a host of 256 characters is refused");
    strcpy(text + 6 + 255, ":1");
    is_int(url_parse(text, &parsed), MUSTER_OK, "one of 255 is taken");
    memcpy(text, "tcp://[::1%", 11);
    strcpy(text + 6 + 300, "]:1");
    is_int(url_parse(text, &parsed), MUSTER_ERR_ARGUMENT, "a scope that is too long is refused");
}

static const struct {
    const char *text;
    bool good;
} numbers[] = {{"5", true},   {"10", true},   {"007", true},  {"4", false},
               {"11", false}, {"", false},    {"-5", false},  {"5 ", false},
               {"5.", false}, {"5\n", false}, {"1e1", false}, {"9223372036854775813", false}};

static void reading_numbers(void)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        int number = -7;
        bool is = url_parse_number(numbers[i].text, 5, 10, &number);
        ok(is == numbers[i].good && (is ? number >= 5 && number <= 10 : number == -7),
           "\"%s\" is %s number from 5 to 10", i == 9 ? "5, newline" : numbers[i].text,
           numbers[i].good ? "a" : "no");
    }
}

int main(void)
{
    plan((int)(3 * COUNT(good) + 2 * COUNT(bad) + 9 + COUNT(numbers)));
    good_urls();
    bad_urls();
    limits();
    reading_numbers();
    return done();
}
