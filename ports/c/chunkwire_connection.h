/*
 * Connections: messages, packets and chunks together, under the keys of a session.
 *
 * Comments such as CXR-5 name sentences of spec/CONNECTION.md.
 *
 * Units       As in chunkwire_packet.h.
 * Errors      Codes are texts, as the documents write them, such as "truncated"; NULL: none. The
 *             place of a fault is in bytes, -1: in no byte.
 * Threads     No state but in the structs given.
 */
#ifndef CHUNKWIRE_CONNECTION_H
#define CHUNKWIRE_CONNECTION_H

#include "chunkwire_channel.h"
#include "chunkwire_recovery.h"
#include "chunkwire_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Records (section 7) ------------------------------------------------------ */

/* The types on the wire, besides those of channels. */
enum { CWN_CLOSE = 7, CWN_SLICE, CWN_CHUNK_ACK, CWN_ECN };

enum {
    CWN_MOST_TEXT = 128,
    CWN_MOST_SLICE = 1032, /* bytes of a record */
    CWN_MOST_CHUNK_ACK = 38,
    CWN_ECN_BYTES = 5
};

/* The codes of CLOSE that an end gives itself (CXR-4). */
enum { CWN_DONE, CWN_FAILED, CWN_LIED, CWN_WORN, CWN_FIRST_CODE = 256 };

/* Fields are wider than on the wire, so that an encoder can refuse what does not fit. */
typedef struct {
    int64_t type;
    cwc_record channel; /* of types 0 to 6; its type is the same */
    uint32_t code;      /* of a CLOSE */
    const uint8_t *text; /* of a CLOSE, valid UTF-8; decoded it lies in the payload */
    size_t text_size;
    int64_t lane;
    union {
        cw_packet named;  /* in variant CWS_NAMED */
        cwr_packet repair; /* in variant CWS_REPAIR */
    } body;                /* of a SLICE or CHUNK_ACK */
    uint32_t arrived, congested; /* of an ECN, 16 bits */
} cwn_record;

/* What both ends agreed on of records. */
typedef struct {
    const cwc_channels *channels;
    uint32_t lanes;
    uint32_t variant; /* CWS_NAMED or CWS_REPAIR, also without lanes */
    bool marks;
} cwn_limits;

/* Decodes the record at *at and moves *at behind it; on an error *at is the place of the fault
 * (CXR-5), and *r holds nothing of use. */
const char *cwn_decode(const cwn_limits *l, const uint8_t *payload, size_t size, size_t *at, cwn_record *r);

/* Decodes a whole payload, of which nothing counts before; on an error *place is where. */
const char *cwn_check(const cwn_limits *l, const uint8_t *payload, size_t size, size_t *place);

/* Whether a record requests no ack (CXR-6). */
bool cwn_is_quiet(const cwn_record *r);

/* A payload that is written, of at most capacity bytes. All fields but bytes and capacity are 0 at
 * first. */
typedef struct {
    uint8_t *bytes;
    size_t capacity;
    size_t size;
    int64_t last; /* the type of the record that was appended last; CWC_PAD if none */
    bool loud;    /* a record is not quiet */
} cwn_payload;

/* Appends a record; on an error the payload stays as it is, and *place is where the field would
 * be (CXR-8). "no_space": it is full. */
const char *cwn_append(const cwn_limits *l, const cwn_record *r, cwn_payload *p, size_t *place);

#ifdef __cplusplus
}
#endif

#endif
