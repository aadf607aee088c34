/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a launcher is told of a failure: the file that torchrun reads.
 */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <signal.h>

#include "muster.h"
#include "tap.h"

static char folder[512], path[600];

static muster_status report(const char *sentence)
{
    unlink(path);
    return muster_report_failure(sentence);
}

/* Parts of the message in the file: "message", or that of extraInfo. NULL where it is no JSON. */
static const char *told(const char *name, json_t **file)
{
    *file = json_load_file(path, 0, NULL);
    json_t *message = json_object_get(*file, "message");
    const char *text = json_string_value(json_object_get(message, name));
    return text != NULL
               ? text
               : json_string_value(json_object_get(json_object_get(message, "extraInfo"), name));
}

static void is_told(const char *sentence, const char *expected)
{
    json_t *file;
    struct stat found;
    is_int(report(sentence), MUSTER_OK, "a sentence is reported");
    is_str(told("message", &file), expected, "as the message");
    json_decref(file);
    is_str(told("py_callstack", &file), expected, "and as what torchrun prints");
    json_decref(file);
    ok(stat(path, &found) == 0 && (found.st_mode & 0777) == 0644, "in a file that all can read");
}

static void sentences(void)
{
    is_told("rank 2 was lost", "rank 2 was lost");
    is_told("\"C:\\new\"\n\t\x01", "\"C:\\new\"\n\t\x01");
    is_told("gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80",
            "gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80");
    /* A lone continuation, one too few, an overlong one, a surrogate, beyond the last character. */
    is_told("\x80", "\xef\xbf\xbd");
    is_told("\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd");
    is_told("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
    is_told("\xc0\xaf!", "\xef\xbf\xbd\xef\xbf\xbd!");
    is_told("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    is_told("\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    is_told("\xff", "\xef\xbf\xbd");
}

static void bytes(void)
{
    char text[512] = "";
    report("gr\xc3\xbc\xc3\x9f");
    FILE *file = fopen(path, "re");
    size_t size = file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file);
    bool ascii = size > 0;
    for (size_t i = 0; i < size; i++)
        ascii = ascii && (unsigned char)text[i] < 0x80;
    ok(ascii, "the file is ASCII, whatever the reader's locale");
    if (file != NULL)
        fclose(file);
    json_t *whole;
    const char *when = told("timestamp", &whole);
    long long seconds = when == NULL ? 0 : atoll(when), now = (long long)time(NULL);
    ok(seconds <= now && seconds > now - 60, "the time is text, in seconds");
    json_decref(whole);
}

static void which(void)
{
    json_t *file;
    is_int(report(""), MUSTER_ERR_ARGUMENT, "no sentence is no report");
    is_int(report(NULL), MUSTER_OK, "but the last error is one");
    has_str(told("message", &file), "muster_report_failure: there is no sentence", "as it stands");
    json_decref(file);
    is_int(report("first"), MUSTER_OK, "a first report");
    is_int(muster_report_failure("second"), MUSTER_OK, "a second one");
    is_str(told("message", &file), "first", "does not replace it");
    json_decref(file);
}

static void no_place(void)
{
    unlink(path);
    setenv("TORCHELASTIC_ERROR_FILE", "", 1);
    is_int(muster_report_failure("x"), MUSTER_OK, "an empty variable is none");
    unsetenv("TORCHELASTIC_ERROR_FILE");
    is_int(muster_report_failure("x"), MUSTER_OK, "without a variable nothing happens");
    ok(access(path, F_OK) != 0, "no file comes of it");
    setenv("TORCHELASTIC_ERROR_FILE", "/no/such/folder/error.json", 1);
    is_int(muster_report_failure("x"), MUSTER_ERR_SYSTEM, "a file that can't be made is an error");
    has_str(muster_last_error(), "/no/such/folder/error.json", "with its path");
    setenv("TORCHELASTIC_ERROR_FILE", path, 1);
    struct rlimit few = {10, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &few);
    muster_status status = report("x");
    setrlimit(RLIMIT_FSIZE, &all);
    is_int(status, MUSTER_ERR_SYSTEM, "a file that can't be written too");
    ok(access(path, F_OK) != 0, "and half of one does not stay");
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    plan(10 * 4 + 2 + 6 + 7);
    snprintf(folder, sizeof(folder), "%s/muster-report-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(folder) == NULL)
        bail_out("no folder %s", folder);
    snprintf(path, sizeof(path), "%s/error.json", folder);
    setenv("TORCHELASTIC_ERROR_FILE", path, 1);
    which();
    sentences();
    bytes();
    no_place();
    unlink(path);
    rmdir(folder);
    return done();
}
