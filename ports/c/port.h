/* What the operations of the port share: the fields of a request and its answer. */
#ifndef PORT_H
#define PORT_H

#include "chunkwire.h"
#include "chunkwire_packet.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests of 500,000 events and more; memory that a request does not use is not touched. */
enum { MAX_LINE = 1 << 26, MAX_TOKENS = 1 << 22, MAX_BYTES = MAX_LINE / 2 };

#define TIME_END ((int64_t)1 << 62)

typedef struct {
    json_doc doc;
    const json_token *root;
    const json_token *id; /* an integer, answered as it was written */
} request;

/* The code to refuse a request with whose fields are none. */
#define BAD "bad_request"

extern uint8_t bytes[MAX_BYTES]; /* what a hex field holds */

void answer_error(const request *q, const char *code);
void answer_error_at(const request *q, const char *code, int place);
void answer_ok(const request *q, const char *field); /* up to the field's value */
void print_hex(const uint8_t *b, size_t n);
void print_deadline(const char *field, int64_t deadline); /* at the end of a step; INT64_MAX: never */

const json_token *member(const request *q, const json_token *object, const char *name);
bool get_int(const request *q, const json_token *object, const char *name, int64_t *v);
bool get_int_in(const request *q, const json_token *object, const char *name, int64_t low, int64_t high, int64_t *v);
/* A number of a packet: what does not fit becomes UINT32_MAX. */
bool get_field(const request *q, const json_token *object, const char *name, uint32_t *v);
bool get_bool(const request *q, const json_token *object, const char *name, bool *v);
bool get_hex(const request *q, const json_token *object, const char *name, size_t *n); /* into bytes */

/* Traces (appendix B of spec/PROTOCOL.md). */
uint8_t content(uint32_t id, size_t i); /* TRC-1 */
void begin_step(uint32_t position);
void print_error(const char *code);
cw_memory heap_memory(void); /* so that the sanitizers see every mistake */
cwp_memory heap_of_layers(void);

/* The operations of the packet layer. Each answers and returns NULL, or returns the code
 * to refuse the request with. */
const char *packet_header(const request *q);
const char *packet_decode(const request *q);
const char *packet_endpoint(const request *q);
const char *packet_congestion(const request *q);

/* The operations of the channels, the same way. */
const char *records_encode(const request *q);
const char *records_decode(const request *q);
const char *channel_report(const request *q);
const char *channel_receiver(const request *q);
const char *channel_sender(const request *q);

/* The operations of repair slices. */
const char *repair_row(const request *q);
const char *repair_slice(const request *q);
const char *repair_rebuild(const request *q);
const char *repair_encode(const request *q);
const char *repair_decode(const request *q);
const char *repair_receiver(const request *q);
const char *repair_sender(const request *q);

/* The operations of sessions, where there is libcrypto. */
const char *session_encode(const request *q);
const char *session_decode(const request *q);
const char *session_seal(const request *q);
const char *session_open(const request *q);
const char *session_keys(const request *q);
const char *session_cookie(const request *q);
const char *session_client(const request *q);
const char *session_server(const request *q);

#endif
