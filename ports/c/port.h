/* What the operations of the port share: the fields of a request and its answer. */
#ifndef PORT_H
#define PORT_H

#include "chunkwire.h"
#include "chunkwire_channel.h"
#include "chunkwire_repair.h"
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

/* The fields of a slice or ack, of the type in p, without the braces. */
bool get_packet_fields(const request *q, const json_token *t, cw_packet *p);
void print_packet_fields(const cw_packet *p);
bool get_repair_fields(const request *q, const json_token *t, cwr_packet *p);
void print_repair_fields(const cwr_packet *p);

/* The profile of the base algorithm (TRC-2), and of the sender's rule (RPO-5). */
bool get_base_profile(const request *q, const json_token *t, cw_profile *p);
bool get_rule_profile(const request *q, const json_token *t, cwr_profile *p);

/* Records of channels (CHO-6), in channels that take all kinds. */
cwc_config any_kind(void);
cwc_channels all_channels(const cwc_config *c);
bool get_channel_record(const request *q, const json_token *t, cwc_record *r);
void print_channel_record(const cwc_record *r);

/* The operations of the packet layer. Each answers and returns NULL, or returns the code
 * to refuse the request with. */
const char *packet_header(const request *q);
const char *packet_decode(const request *q);
const char *packet_endpoint(const request *q);
const char *packet_estimates(const request *q);
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
const char *connection_encode(const request *q);
const char *connection_decode(const request *q);
const char *connection(const request *q);
const char *connection_moves(const request *q);

#endif
