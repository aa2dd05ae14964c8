/* What the tests share: checks that are counted, and bytes as hex. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int checks = 0;
static int failures = 0;

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

static void check(bool ok, const char *what, const char *file, int line)
{
    checks++;
    if (!ok) {
        failures++;
        printf("%s:%d: %s\n", file, line, what);
    }
}

static bool hex_is(const uint8_t *b, size_t n, const char *hex)
{
    if (strlen(hex) != 2 * n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char text[3];
        sprintf(text, "%02x", (unsigned)b[i]);
        if (memcmp(text, hex + 2 * i, 2) != 0) {
            return false;
        }
    }
    return true;
}

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        unsigned v = 0;
        sscanf(hex + 2 * i, "%2x", &v);
        out[i] = (uint8_t)v;
    }
    return n;
}

static int test_result(void)
{
    printf("%d checks, %d failures\n", checks, failures);
    return failures == 0 ? 0 : 1;
}

#endif
