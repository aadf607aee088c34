/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading an init_method.
 */
#include "net/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

static muster_status url_refuse(const char *text, const char *format, ...) MUSTER_PRINTF(2, 3);

/* The URL is cut here, so that what is wrong with it still fits into the sentence. */
static muster_status url_refuse(const char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_v(MUSTER_ERR_ARGUMENT, format, arguments);
    va_end(arguments);
    return error_prefix(MUSTER_ERR_ARGUMENT, "init_method \"%.400s%s\": ", text,
                        strlen(text) > 400 ? "..." : "");
}

bool url_parse_number(const char *text, int low, int high, int *number)
{
    long long value = 0;
    if (text[0] == '\0')
        return false;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9')
            return false;
        value = value * 10 + (*at - '0');
        if (value > high)
            return false;
    }
    if (value < low)
        return false;
    *number = (int)value;
    return true;
}

static int url_hex(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* Decodes %xx in place; false for what is not two hexadecimal digits, and for a zero byte. */
static bool url_decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (*from != '%') {
            *to = *from++;
            continue;
        }
        int high = url_hex(from[1]);
        int low = high < 0 ? -1 : url_hex(from[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *to = (char)(high * 16 + low);
        from += 3;
    }
    *to = '\0';
    return true;
}

static muster_status url_read_pair(const char *text, char *pair, url *parsed)
{
    char *value = strchr(pair, '=');
    if (value == NULL || value == pair)
        return url_refuse(text, "\"%.100s\" in the query is not name=value", pair);
    *value++ = '\0';
    if (!url_decode(pair) || !url_decode(value))
        return url_refuse(text, "a %% in the query is not followed by two hexadecimal digits that "
                                "mean a character");
    bool is_rank = strcmp(pair, "rank") == 0;
    if (!is_rank && strcmp(pair, "world_size") != 0)
        return url_refuse(
            text, "\"%.100s\" is not known in the query; known are rank and world_size", pair);
    int *field = is_rank ? &parsed->rank : &parsed->world_size;
    if (*field != -1)
        return url_refuse(text, "%s is given twice", pair);
    int low = is_rank ? 0 : 1, high = is_rank ? URL_MAX_WORLD - 1 : URL_MAX_WORLD;
    if (!url_parse_number(value, low, high, field))
        return url_refuse(text, "%s is \"%.100s\"; expected a number from %d to %d", pair, value,
                          low, high);
    return MUSTER_OK;
}

static muster_status url_read_query(const char *text, char *query, url *parsed)
{
    for (char *pair = query, *next; pair != NULL && *query != '\0'; pair = next) {
        next = strchr(pair, '&');
        if (next != NULL)
            *next++ = '\0';
        muster_status status = url_read_pair(text, pair, parsed);
        if (status != MUSTER_OK)
            return status;
    }
    return MUSTER_OK;
}

/* The part in brackets: IPv6, whose scope is written %25eth0 or, as people do, %eth0. */
static muster_status url_read_brackets(const char *text, char *inside, url *parsed)
{
    char *scope = strchr(inside, '%');
    if (scope != NULL) {
        *scope++ = '\0';
        if (strncmp(scope, "25", 2) == 0 && scope[2] != '\0')
            scope += 2;
    }
    struct in6_addr unused;
    if (inet_pton(AF_INET6, inside, &unused) != 1 || (scope != NULL && *scope == '\0'))
        return url_refuse(text, "\"%.100s\" in brackets is not an IPv6 address", inside);
    int length = snprintf(parsed->host, sizeof(parsed->host), "%s%s%s", inside,
                          scope != NULL ? "%" : "", scope != NULL ? scope : "");
    if (length < 0 || (size_t)length >= sizeof(parsed->host))
        return url_refuse(text, "the host is too long");
    return MUSTER_OK;
}

static muster_status url_read_name(const char *text, const char *host, url *parsed)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t length = strlen(host);
    if (length == 0)
        return url_refuse(text, "the host is missing; expected tcp://host:port");
    if (host[strspn(host, allowed)] != '\0')
        return url_refuse(text, "\"%.100s\" is not a host name or numeric address", host);
    if (length >= sizeof(parsed->host))
        return url_refuse(text, "the host has %zu characters, more than names have", length);
    memcpy(parsed->host, host, length + 1);
    return MUSTER_OK;
}

static muster_status url_read_tcp(const char *text, char *rest, url *parsed)
{
    char *slash = strchr(rest, '/');
    if (slash != NULL && slash[1] != '\0')
        return url_refuse(text,
                          "\"%.100s\" behind the port is not understood; expected "
                          "tcp://host:port",
                          slash);
    if (slash != NULL)
        *slash = '\0';
    bool brackets = rest[0] == '[';
    char *end = brackets ? strchr(rest, ']') : strchr(rest, ':');
    if (end == NULL && brackets)
        return url_refuse(text, "the bracket around the IPv6 address is not closed");
    char *port = end != NULL && brackets ? end + 1 : end;
    if (port == NULL || port[0] != ':' || port[1] == '\0')
        return url_refuse(text, "the port is missing; expected tcp://host:port");
    if (strchr(port + 1, ':') != NULL)
        return url_refuse(text, "more than one ':'; expected tcp://host:port, and an IPv6 address "
                                "in brackets as in tcp://[::1]:29500");
    *end = '\0';
    if (!url_parse_number(port + 1, 1, 65535, &parsed->port))
        return url_refuse(text, "the port is \"%.100s\"; expected a number from 1 to 65535",
                          port + 1);
    return brackets ? url_read_brackets(text, rest + 1, parsed) : url_read_name(text, rest, parsed);
}

static muster_status url_read_file(const char *text, char *rest, url *parsed)
{
    if (strncasecmp(rest, "localhost/", 10) == 0)
        rest += 9;
    size_t length = strlen(rest);
    if (length == 0 || strcmp(rest, "/") == 0)
        return url_refuse(text, "the path is missing; expected file:///folder/file");
    if (rest[0] != '/')
        return url_refuse(text,
                          "the path is not absolute, \"%.*s\" would be a host; did you mean "
                          "file:///%.400s",
                          (int)strcspn(rest, "/"), rest, rest);
    if (!url_decode(rest))
        return url_refuse(text, "a %% in the path is not followed by two hexadecimal digits that "
                                "mean a character; a %% itself is written %%25");
    length = strlen(rest);
    if (rest[length - 1] == '/')
        return url_refuse(text, "the path ends in '/'; expected a file, not a folder");
    memcpy(parsed->path, rest, length + 1);
    return MUSTER_OK;
}

static muster_status url_read_scheme(const char *text, char *copy, url *parsed)
{
    char *rest = strstr(copy, "://");
    if (rest == NULL)
        return url_refuse(text, "no scheme; expected env://, tcp://host:port or file:///path");
    *rest = '\0';
    rest += 3;
    if (strcasecmp(copy, "env") == 0) {
        parsed->kind = URL_ENV;
        if (rest[0] != '\0')
            return url_refuse(text,
                              "env:// takes the address from MASTER_ADDR and MASTER_PORT; "
                              "\"%.100s\" behind it has no meaning",
                              rest);
        return MUSTER_OK;
    }
    if (strcasecmp(copy, "tcp") == 0) {
        parsed->kind = URL_TCP;
        return url_read_tcp(text, rest, parsed);
    }
    if (strcasecmp(copy, "file") == 0) {
        parsed->kind = URL_FILE;
        return url_read_file(text, rest, parsed);
    }
    return url_refuse(text, "the scheme \"%.100s\" is not known; known are env, tcp and file",
                      copy);
}

muster_status url_parse(const char *text, url *parsed)
{
    if (text == NULL || parsed == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "there is no init_method to read");
    memset(parsed, 0, sizeof(*parsed));
    parsed->rank = -1;
    parsed->world_size = -1;
    size_t length = strlen(text);
    if (length > URL_MAX_LENGTH)
        return url_refuse(text, "%zu characters are more than the %d that are taken", length,
                          (int)URL_MAX_LENGTH);
    if (strchr(text, '#') != NULL)
        return url_refuse(text, "a '#' has no meaning here; in a path write %%23");
    char copy[URL_MAX_LENGTH + 1];
    memcpy(copy, text, length + 1);
    char *query = strchr(copy, '?');
    if (query != NULL)
        *query++ = '\0';
    muster_status status = url_read_scheme(text, copy, parsed);
    if (status == MUSTER_OK && query != NULL)
        status = url_read_query(text, query, parsed);
    return status;
}
