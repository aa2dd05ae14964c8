#include "json.h"

#include <string.h>

static bool value(json_doc *d, unsigned depth);

static char peek(const json_doc *d) { return d->at < d->length ? d->text[d->at] : '\0'; }

static void space(json_doc *d)
{
    while (peek(d) == ' ' || peek(d) == '\t' || peek(d) == '\r' || peek(d) == '\n') {
        d->at++;
    }
}

static bool take(json_doc *d, char c)
{
    if (peek(d) != c || d->at == d->length) {
        return false;
    }
    d->at++;
    return true;
}

/* A new token that begins here; NULL: too many. */
static json_token *open_token(json_doc *d, json_type type)
{
    json_token *t;
    if (d->used == d->capacity) {
        return NULL;
    }
    t = &d->tokens[d->used++];
    t->type = type;
    t->start = d->at;
    t->length = 0;
    t->count = 0;
    t->next = d->used;
    return t;
}

static bool literal(json_doc *d, const char *word, json_type type)
{
    size_t n = strlen(word);
    if (d->length - d->at < n || memcmp(d->text + d->at, word, n) != 0 || open_token(d, type) == NULL) {
        return false;
    }
    d->at += (uint32_t)n;
    return true;
}

static bool digits(json_doc *d)
{
    uint32_t start = d->at;
    while (peek(d) >= '0' && peek(d) <= '9') {
        d->at++;
    }
    return d->at > start;
}

static bool number(json_doc *d)
{
    json_token *t = open_token(d, JSON_NUMBER);
    if (t == NULL) {
        return false;
    }
    (void)take(d, '-');
    if (!take(d, '0') && !digits(d)) {
        return false;
    }
    if (take(d, '.') && !digits(d)) {
        return false;
    }
    if (take(d, 'e') || take(d, 'E')) {
        if (!take(d, '+')) {
            (void)take(d, '-');
        }
        if (!digits(d)) {
            return false;
        }
    }
    t->length = d->at - t->start;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits of \uXXXX, or -1. */
static long hex4(json_doc *d)
{
    long v = 0;
    for (int i = 0; i < 4; i++) {
        int x = hex_digit(peek(d));
        if (x < 0) {
            return -1;
        }
        v = v * 16 + x;
        d->at++;
    }
    return v;
}

/* One code point behind \u, as two halves if need be; -1: none. */
static long code_point(json_doc *d)
{
    long low;
    long c = hex4(d);
    if (c < 0xD800 || c > 0xDFFF) {
        return c;
    }
    if (c > 0xDBFF || !take(d, '\\') || !take(d, 'u')) {
        return -1;
    }
    low = hex4(d);
    if (low < 0xDC00 || low > 0xDFFF) {
        return -1;
    }
    return 0x10000 + (c - 0xD800) * 1024 + (low - 0xDC00);
}

/* UTF-8 is never longer than its escape, so it fits where the escape stood. */
static uint32_t put_utf8(char *out, long c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* Behind a backslash; 0: no escape. */
static uint32_t escape(json_doc *d, char *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const char *p;
    char c = peek(d);
    d->at++;
    if (c == 'u') {
        long point = code_point(d);
        return point < 0 ? 0 : put_utf8(out, point);
    }
    p = c != '\0' ? strchr(names, c) : NULL;
    if (p == NULL) {
        return 0;
    }
    *out = values[p - names];
    return 1;
}

static bool string(json_doc *d)
{
    char *out;
    json_token *t;
    if (!take(d, '"')) {
        return false;
    }
    t = open_token(d, JSON_STRING);
    if (t == NULL) {
        return false;
    }
    out = d->text + d->at;
    while (d->at < d->length && d->text[d->at] != '"') {
        char c = d->text[d->at++];
        uint32_t n = 1;
        if ((unsigned char)c < 0x20) {
            return false;
        }
        if (c == '\\') {
            n = escape(d, out);
        } else {
            *out = c;
        }
        if (n == 0) {
            return false;
        }
        out += n;
    }
    t->length = (uint32_t)(out - d->text) - t->start;
    return take(d, '"');
}

static bool elements(json_doc *d, json_token *t, unsigned depth)
{
    space(d);
    if (take(d, ']')) {
        return true;
    }
    do {
        t->count++;
        if (!value(d, depth)) {
            return false;
        }
    } while (take(d, ','));
    return take(d, ']');
}

/* The name that was read last is none of the members before it. */
static bool name_is_new(const json_doc *d, const json_token *object, const json_token *name)
{
    const json_token *t = object + 1;
    for (uint32_t i = 0; i < object->count; i++) {
        if (t->length == name->length && memcmp(d->text + t->start, d->text + name->start, t->length) == 0) {
            return false;
        }
        t = d->tokens + (t + 1)->next;
    }
    return true;
}

static bool members(json_doc *d, json_token *t, unsigned depth)
{
    space(d);
    if (take(d, '}')) {
        return true;
    }
    do {
        json_token *name = d->tokens + d->used;
        space(d);
        if (!string(d) || !name_is_new(d, t, name)) {
            return false;
        }
        space(d);
        if (!take(d, ':') || !value(d, depth)) {
            return false;
        }
        t->count++;
    } while (take(d, ','));
    return take(d, '}');
}

static bool container(json_doc *d, unsigned depth)
{
    bool object = peek(d) == '{';
    json_token *t = open_token(d, object ? JSON_OBJECT : JSON_ARRAY);
    if (t == NULL || depth == 0) {
        return false;
    }
    d->at++;
    if (!(object ? members(d, t, depth - 1) : elements(d, t, depth - 1))) {
        return false;
    }
    t->length = d->at - t->start;
    t->next = d->used;
    return true;
}

static bool bare(json_doc *d, unsigned depth)
{
    switch (peek(d)) {
    case 'n': return literal(d, "null", JSON_NULL);
    case 't': return literal(d, "true", JSON_TRUE);
    case 'f': return literal(d, "false", JSON_FALSE);
    case '"': return string(d);
    case '[':
    case '{': return container(d, depth);
    default: return number(d);
    }
}

/* A value with the space around it. */
static bool value(json_doc *d, unsigned depth)
{
    bool ok;
    space(d);
    ok = bare(d, depth);
    space(d);
    return ok;
}

bool json_parse(json_doc *d, char *text, uint32_t length, json_token *tokens, uint32_t capacity)
{
    d->text = text;
    d->length = length;
    d->tokens = tokens;
    d->capacity = capacity;
    d->used = 0;
    d->at = 0;
    return value(d, JSON_MAX_DEPTH) && d->at == d->length;
}

const json_token *json_after(const json_doc *d, const json_token *v) { return d->tokens + v->next; }

const json_token *json_first(const json_doc *d, const json_token *array)
{
    (void)d;
    return array + 1;
}

bool json_is(const json_token *t, json_type type) { return t != NULL && t->type == type; }

bool json_equals(const json_doc *d, const json_token *t, const char *s)
{
    return json_is(t, JSON_STRING) && t->length == strlen(s) && memcmp(d->text + t->start, s, t->length) == 0;
}

const char *json_text(const json_doc *d, const json_token *t)
{
    return json_is(t, JSON_STRING) ? d->text + t->start : NULL;
}

const json_token *json_member(const json_doc *d, const json_token *object, const char *name)
{
    const json_token *t;
    if (!json_is(object, JSON_OBJECT)) {
        return NULL;
    }
    t = object + 1;
    for (uint32_t i = 0; i < object->count; i++) {
        if (json_equals(d, t, name)) {
            return t + 1;
        }
        t = json_after(d, t + 1);
    }
    return NULL;
}

/* Counted below zero, where there is room for one more. */
bool json_int(const json_doc *d, const json_token *t, int64_t *v)
{
    const char *s;
    bool negative;
    int64_t n = 0;
    if (!json_is(t, JSON_NUMBER)) {
        return false;
    }
    s = d->text + t->start;
    negative = *s == '-';
    for (uint32_t i = negative ? 1 : 0; i < t->length; i++) {
        int64_t x = s[i] - '0';
        if (s[i] < '0' || s[i] > '9') {
            return false;
        }
        n = n < (INT64_MIN + x) / 10 ? INT64_MIN : 10 * n - x;
    }
    if (!negative) {
        n = n == INT64_MIN ? INT64_MAX : -n;
    }
    *v = n;
    return true;
}
