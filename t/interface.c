/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing a network interface: the grammar against made-up machines, and what this machine has.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "net/interface.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* User case 16: many interfaces, some down, some of one family only. */
static const interface_address laptop[] = {
    {"lo", "127.0.0.1", AF_INET, true, true, 24},
    {"lo", "::1", AF_INET6, true, true, 24},
    {"docker0", "172.17.0.1", AF_INET, false, true, 24},
    {"eth10", "10.8.0.10", AF_INET, false, true, 24},
    {"eth1", "fe80::1%eth1", AF_INET6, false, true, 24},
    {"eth1", "2001:db8::1", AF_INET6, false, true, 24},
    {"eth1", "10.9.0.7", AF_INET, false, true, 24},
    {"eth2", "10.9.1.7", AF_INET, false, false, 24},
    {"eth20", "10.9.2.7", AF_INET, false, true, 24},
    {"wlan0", "169.254.3.4", AF_INET, false, true, 24},
    {"wlan0", "2001:db8:1::9", AF_INET6, false, true, 24},
    {"ib0", "fe80::2%ib0", AF_INET6, false, true, 24},
    {"veth", "fd00::1", AF_INET6, false, true, 24},
};

static const struct {
    const char *grammar;
    int family;
    const char *expected; /* the address; NULL for MUSTER_ERR_NOT_FOUND */
} choices[] = {
    {"eth1", AF_UNSPEC, "10.9.0.7"},
    {"eth1", AF_INET, "10.9.0.7"},
    {"eth1", AF_INET6, "2001:db8::1"},
    {"=eth1", AF_UNSPEC, "10.9.0.7"},
    {"eth", AF_UNSPEC, "10.8.0.10"},
    {"eth", AF_INET6, "2001:db8::1"},
    {"=eth", AF_UNSPEC, NULL},
    {"eth2", AF_UNSPEC, NULL},
    {"eth2,eth20", AF_UNSPEC, "10.9.2.7"},
    {"=eth,eth1", AF_UNSPEC, "10.9.0.7"},
    {"=eth,wlan", AF_UNSPEC, NULL},
    {"eth9,=wlan0", AF_INET, "169.254.3.4"},
    {"wlan0,eth1", AF_UNSPEC, "2001:db8:1::9"},
    {"eth1,wlan0", AF_UNSPEC, "10.9.0.7"},
    {"ib0", AF_UNSPEC, "fe80::2%ib0"},
    {"ib0", AF_INET, NULL},
    {"lo", AF_UNSPEC, "127.0.0.1"},
    {"lo", AF_INET6, "::1"},
    {"^lo,docker", AF_UNSPEC, "10.8.0.10"},
    {"^lo,docker,eth", AF_UNSPEC, "2001:db8:1::9"},
    {"^lo,docker,eth", AF_INET, "169.254.3.4"},
    {"^=eth1,lo,docker", AF_UNSPEC, "172.17.0.1"},
    {"^=docker0,eth10,lo", AF_UNSPEC, "10.9.0.7"},
    {"^docker,eth,wlan,ib,veth", AF_UNSPEC, "127.0.0.1"},
    {"^lo,docker,eth,wlan,ib,veth", AF_UNSPEC, NULL},
    {"^10.8.0.0/13,172.16.0.0/12", AF_INET, "169.254.3.4"},
    {"10.9.0.0/24", AF_UNSPEC, "10.9.0.7"},
    {"10.9.0.99/24", AF_UNSPEC, "10.9.0.7"},
    {"10.9.0.0/16", AF_UNSPEC, "10.9.0.7"},
    {"10.9.1.0/24", AF_UNSPEC, NULL},
    {"10.9.0.0/29", AF_UNSPEC, "10.9.0.7"},
    {"10.9.0.8/29", AF_UNSPEC, NULL},
    {"10.9.0.0/24", AF_INET6, NULL},
    {"10.9.0.7", AF_UNSPEC, "10.9.0.7"},
    {"10.9.0.8,172.17.0.1/32", AF_UNSPEC, "172.17.0.1"},
    {"0.0.0.0/0", AF_UNSPEC, "172.17.0.1"},
    {"::/0", AF_UNSPEC, "2001:db8::1"},
    {"2001:db8:1::/48", AF_UNSPEC, "2001:db8:1::9"},
    {"2001:db8::/31", AF_UNSPEC, "2001:db8::1"},
    {"fd00::1", AF_UNSPEC, "fd00::1"},
    {"fe80::/10", AF_UNSPEC, "fe80::1%eth1"},
    {"::ffff:10.9.0.0/120", AF_UNSPEC, "10.9.0.7"},
    {"::ffff:10.9.0.7", AF_INET, "10.9.0.7"},
    {"nothing", AF_UNSPEC, NULL},
    {"veth", AF_INET, NULL},
};

static void networks(void)
{
    const interface_address a = {"a", "10.1.2.3", AF_INET, false, true, 20};
    static const struct {
        interface_address other;
        bool same;
    } rows[] = {{{"b", "10.1.15.9", AF_INET, false, true, 20}, true},
                {{"b", "10.1.16.9", AF_INET, false, true, 20}, false},
                {{"b", "10.1.2.9", AF_INET, false, true, 24}, false},
                {{"b", "10.1.2.9", AF_INET, false, true, -1}, false},
                {{"b", "fd00::1", AF_INET6, false, true, 20}, false},
                {{"b", "nonsense", AF_INET, false, true, 20}, false}};
    const interface_address v6 = {"a", "fd00::1:2", AF_INET6, false, true, 64};
    const interface_address beside = {"b", "fd00::9:2", AF_INET6, false, true, 64};
    const interface_address beyond = {"b", "fd00:0:0:1::2", AF_INET6, false, true, 64};
    for (size_t i = 0; i < COUNT(rows); i++)
        is_int(interface_same_network(&a, &rows[i].other), rows[i].same, "%s/%d and %s/%d",
               a.address, a.prefix, rows[i].other.address, rows[i].other.prefix);
    ok(interface_same_network(&v6, &beside) && !interface_same_network(&v6, &beyond),
       "networks of IPv6");
    interface_address none = a;
    none.prefix = -1;
    ok(!interface_same_network(&none, &none), "without a prefix nothing is known");
}

static void grammar_choices(void)
{
    for (size_t i = 0; i < COUNT(choices); i++) {
        interface_address chosen = {.address = "untouched"};
        muster_status status =
            interface_match(choices[i].grammar, choices[i].family, laptop, COUNT(laptop), &chosen);
        muster_status expected = choices[i].expected != NULL ? MUSTER_OK : MUSTER_ERR_NOT_FOUND;
        is_int(status, expected, "the status of \"%s\", family %d", choices[i].grammar,
               choices[i].family);
        is_str(chosen.address, expected == MUSTER_OK ? choices[i].expected : "untouched",
               "the address of \"%s\"", choices[i].grammar);
    }
}

static const struct {
    const char *grammar;
    const char *words;
} refused[] = {
    {NULL, "is empty"},
    {"", "is empty"},
    {",", "empty item"},
    {"eth0,", "empty item"},
    {"eth0,,eth1", "empty item"},
    {"^", "empty item"},
    {"=", "empty item"},
    {"^=", "empty item"},
    {"eth0,=", "empty item"},
    {"eth0,^lo", "in front of the whole list"},
    {"^^lo", "in front of the whole list"},
    {"eth0, eth1", "blank"},
    {"eth 0", "blank"},
    {"eth=0", "sign that no interface name has"},
    {"interface-of-16c", "longer than interface names"},
    {"10.9.0.0/", "number of bits"},
    {"10.9.0.0/33", "number of bits"},
    {"10.9.0.0/-1", "number of bits"},
    {"10.9.0.0/+8", "number of bits"},
    {"10.9.0.0/ 8", "blank"},
    {"10.9.0.0/0008", "number of bits"},
    {"10.9.0.0/8/8", "number of bits"},
    {"10.9.0.0/x", "number of bits"},
    {"2001:db8::/129", "number of bits"},
    {"::ffff:10.0.0.0/95", "number of bits"},
    {"10.9.0/24", "is no network"},
    {"10.9.0.256/24", "is no network"},
    {"fe80::1%eth0/64", "is no network"},
    {"/24", "is no network"},
    {"eth0/24", "is no network"},
};

static void grammar_refusals(void)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        interface_address chosen;
        const char *shown = refused[i].grammar != NULL ? refused[i].grammar : "NULL";
        is_int(interface_match(refused[i].grammar, AF_UNSPEC, laptop, COUNT(laptop), &chosen),
               MUSTER_ERR_ARGUMENT, "\"%s\" is refused", shown);
        has_str(muster_last_error(), refused[i].words, "and why: \"%s\"", shown);
    }
}

static void grammar_limits(void)
{
    interface_address chosen;
    char text[2100] = "e";
    for (int i = 1; i < 64; i++)
        strcat(text, ",e");
    is_int(interface_match(text, AF_UNSPEC, laptop, COUNT(laptop), &chosen), MUSTER_OK,
           "64 items are taken");
    strcat(text, ",e");
    is_int(interface_match(text, AF_UNSPEC, laptop, COUNT(laptop), &chosen), MUSTER_ERR_ARGUMENT,
           "65 are not");
    memset(text, 'e', sizeof(text) - 1);
    is_int(interface_match(text, AF_UNSPEC, laptop, COUNT(laptop), &chosen), MUSTER_ERR_ARGUMENT,
           "a text that is too long is refused");
    is_int(interface_match("lo", 99, laptop, COUNT(laptop), &chosen), MUSTER_ERR_ARGUMENT,
           "an unknown family is refused");
    is_int(interface_match("lo", AF_UNSPEC, laptop, COUNT(laptop), NULL), MUSTER_ERR_ARGUMENT,
           "no place for the choice is refused");
    is_int(interface_match("lo", AF_UNSPEC, NULL, 1, &chosen), MUSTER_ERR_ARGUMENT,
           "no list is refused");
    is_int(interface_match("lo", AF_UNSPEC, NULL, 0, &chosen), MUSTER_ERR_NOT_FOUND,
           "an empty list has nothing");
    has_str(muster_last_error(), "there is none", "and says so");
    is_int(interface_match("eth2", AF_INET, laptop, COUNT(laptop), &chosen), MUSTER_ERR_NOT_FOUND,
           "an interface that is down is not chosen");
    has_str(muster_last_error(), "eth2 10.9.1.7 (down)", "the sentence says that it is down");
    has_str(muster_last_error(), "lo 127.0.0.1 (loopback), lo ::1 (loopback), docker0 172.17.0.1",
            "and lists the others");
    has_str(muster_last_error(), "IPv4", "and the family that was wanted");
}

static void describing(void)
{
    char text[64];
    interface_describe(laptop, COUNT(laptop), text, sizeof(text));
    ok(strlen(text) < sizeof(text) && strcmp(text + strlen(text) - 3, "...") == 0,
       "a list that does not fit ends in dots");
    bool inside = true;
    for (size_t size = 4; size < 40; size++) {
        memset(text, 'x', sizeof(text));
        interface_describe(laptop, 2, text, size);
        inside = inside && memchr(text, '\0', size) != NULL && text[size] == 'x';
    }
    ok(inside, "whatever the room is, it is kept to");
}

static const struct {
    const char *text;
    int family; /* 0: not a number */
    unsigned char first;
} numbers[] = {
    {"127.0.0.1", AF_INET, 127},
    {"::1", AF_INET6, 0},
    {"::ffff:127.0.0.1", AF_INET, 127},
    {"fe80::1%eth0", AF_INET6, 0xfe},
    {"127.0.0.1%lo", 0, 0},
    {"127.1", 0, 0},
    {"", 0, 0},
    {"[::1]", 0, 0},
    {"::ffff:127.0.0.1::1::::::::::::::::::::::::::::::::::", 0, 0},
};

static void parsing_numbers(void)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        interface_number number;
        bool is = interface_parse_number(numbers[i].text, &number);
        ok(is == (numbers[i].family != 0) &&
               (!is || (number.family == numbers[i].family && number.bytes[0] == numbers[i].first)),
           "\"%s\" is read as it should be", numbers[i].text);
    }
}

static void this_machine(void)
{
    interface_address *list = NULL;
    size_t count = 0;
    is_int(interface_list(NULL, &count), MUSTER_ERR_ARGUMENT, "a list needs a place");
    is_int(interface_list(&list, NULL), MUSTER_ERR_ARGUMENT, "and its count another");
    is_int(interface_list(&list, &count), MUSTER_OK, "the interfaces are listed");
    bool loopback = false, sane = true;
    for (size_t i = 0; i < count; i++) {
        interface_number number;
        sane = sane && interface_parse_number(list[i].address, &number) &&
               number.family == list[i].family && if_nametoindex(list[i].name) != 0;
        if (strncmp(list[i].address, "fe80", 4) == 0)
            sane = sane && strchr(list[i].address, '%') != NULL;
        loopback = loopback || (list[i].loopback && strcmp(list[i].address, "127.0.0.1") == 0);
    }
    ok(sane, "each has a name that exists and an address of its family");
    ok(loopback, "127.0.0.1 is among them, on a loopback interface");
    interface_address chosen;
    is_int(interface_match("127.0.0.0/8", AF_UNSPEC, list, count, &chosen), MUSTER_OK,
           "the grammar applies to them");
    is_str(chosen.address, "127.0.0.1", "and finds the loopback address");
    free(list);
}

static const struct {
    const char *host;
    int family;
    const char *address; /* NULL: MUSTER_ERR_NOT_FOUND */
    const char *words;
} hosts[] = {
    {"127.0.0.1", AF_UNSPEC, "127.0.0.1", NULL},
    {"127.0.1.1", AF_UNSPEC, "127.0.1.1", NULL},
    {"127.0.0.1", AF_INET, "127.0.0.1", NULL},
    {"::ffff:127.0.0.1", AF_UNSPEC, "127.0.0.1", NULL},
    {"::ffff:127.0.0.1", AF_INET, "127.0.0.1", NULL},
    {"localhost", AF_INET, "127.0.0.1", NULL},
    {"127.0.0.1", AF_INET6, NULL, "no IPv6 address"},
    {"192.0.2.77", AF_UNSPEC, NULL, "\"192.0.2.77\" (192.0.2.77) is not an address of this"},
    {"2001:db8::77", AF_UNSPEC, NULL, "is not an address of this machine, which has"},
    {"192.0.2.77", AF_UNSPEC, NULL, "lo 127.0.0.1 (loopback)"},
    {"no host has blanks", AF_UNSPEC, NULL, "nor a name that resolves"},
};

static void addresses_of_this_machine(void)
{
    interface_address chosen;
    for (size_t i = 0; i < COUNT(hosts); i++) {
        muster_status status = interface_of_address(hosts[i].host, hosts[i].family, &chosen);
        if (hosts[i].address != NULL)
            ok(status == MUSTER_OK && strcmp(chosen.address, hosts[i].address) == 0 &&
                   chosen.loopback && chosen.up,
               "\"%s\" is found on the loopback interface", hosts[i].host);
        else
            ok(status == MUSTER_ERR_NOT_FOUND &&
                   strstr(muster_last_error(), hosts[i].words) != NULL,
               "\"%s\" is not found: %s", hosts[i].host, hosts[i].words);
    }
    is_int(interface_of_address(NULL, AF_UNSPEC, &chosen), MUSTER_ERR_ARGUMENT, "NULL is refused");
    is_int(interface_of_address("", AF_UNSPEC, &chosen), MUSTER_ERR_ARGUMENT, "nothing is refused");
    is_int(interface_of_address("127.0.0.1", AF_UNSPEC, NULL), MUSTER_ERR_ARGUMENT,
           "no place for the choice is refused");
    is_int(interface_of_address("127.0.0.1", 99, &chosen), MUSTER_ERR_ARGUMENT,
           "an unknown family is refused");
}

int main(void)
{
    plan((int)(2 * COUNT(choices) + 2 * COUNT(refused) + 12 + 2 + COUNT(numbers) + 7 +
               COUNT(hosts) + 4 + 8));
    networks();
    grammar_choices();
    grammar_refusals();
    grammar_limits();
    describing();
    parsing_numbers();
    this_machine();
    addresses_of_this_machine();
    return done();
}
