/* A small strict JSON reader: RFC 8259, one value in one text, into an array of tokens
 * that the caller gives. Numbers are checked, and read as integers only. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 16 };

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_type;

/* The members of an object are tokens in pairs: its name, then its value. */
typedef struct {
    json_type type;
    uint32_t start;  /* in the text; a string's without the quotes */
    uint32_t length; /* of the text; a string's after its escapes were resolved */
    uint32_t count;  /* elements of an array, members of an object */
    uint32_t next;   /* the token after this value */
} json_token;

typedef struct {
    char *text; /* escapes are resolved in place */
    uint32_t length;
    json_token *tokens;
    uint32_t capacity;
    uint32_t used;
    uint32_t at;
} json_doc;

/* True if text is one JSON value; it is token 0. A member name that stands twice in one
 * object is refused, as is what needs more than capacity tokens or JSON_MAX_DEPTH levels. */
bool json_parse(json_doc *d, char *text, uint32_t length, json_token *tokens, uint32_t capacity);

/* The member's value, or NULL if there is none or object is NULL or none. */
const json_token *json_member(const json_doc *d, const json_token *object, const char *name);

/* The first element; go on with json_after. */
const json_token *json_first(const json_doc *d, const json_token *array);
const json_token *json_after(const json_doc *d, const json_token *value);

/* False if the token is NULL or no plain integer; one outside int64_t becomes the nearest. */
bool json_int(const json_doc *d, const json_token *t, int64_t *v);

bool json_is(const json_token *t, json_type type);
bool json_equals(const json_doc *d, const json_token *t, const char *s);

/* A string's bytes, or NULL if the token is none. */
const char *json_text(const json_doc *d, const json_token *t);

#endif
