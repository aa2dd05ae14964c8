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

/* The types on the wire; channels have others. */
enum { CWN_CLOSE = 7, CWN_SLICE, CWN_CHUNK_ACK, CWN_ECN, CWN_CLOCK };

enum {
    CWN_MOST_TEXT = 128,
    CWN_MOST_SLICE = 1032, /* bytes of a record */
    CWN_MOST_CHUNK_ACK = 38,
    CWN_ECN_BYTES = 5,
    CWN_CLOCK_BYTES = 15
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
    uint64_t sent;               /* of a CLOCK, 48 bits; microseconds, as the two below */
    uint32_t echo, wait;
} cwn_record;

/* What both ends agreed on of records. */
typedef struct {
    const cwc_channels *channels;
    uint32_t lanes;
    uint32_t variant; /* CWS_NAMED or CWS_REPAIR, also without lanes */
    bool marks, clocks;
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

/* ---- One end (sections 8 and 9) ----------------------------------------------- */

enum {
    CWN_MOST_UNRELIABLE = 16380, /* bytes of a message of an unreliable channel */
    CWN_MOST_PAYLOAD = 16384,
    CWN_MOST_ROWS = 4 /* of one poll */
};

/* A channel: its parameters, of which only kind counts if that is CWC_UNRELIABLE. A give_up of 0 is
 * the one of chunks (CXP-6). */
typedef struct {
    cwc_config config;
    bool latest;      /* with CWC_UNRELIABLE: of kind latest */
    uint8_t priority; /* more is sent first */
} cwn_channel;

/* FORMAT of channels by id, NULL where there is no channel (CXP-4). False: libcrypto failed. */
bool cwn_format(const cwn_channel *const channels[CWC_CHANNELS], uint8_t format[CWS_FORMAT]);

typedef enum { CWN_CLIENT, CWN_SERVER } cwn_side;

/* The channels and the base profile are borrowed while the connection lives. */
typedef struct {
    cwn_side side;
    cws_agreed agreed;
    const cwn_channel *channels[CWC_CHANNELS]; /* by id; NULL: none */
    cwp_time tick;                             /* 5 ms to 100 ms */
    int64_t message_rate;                      /* 64,000 to 8 * 10^9 bit/s */
    cwp_time give_up;                          /* of chunks */
    bool has_seed;
    uint8_t seed[16];        /* secret; finds peers that lie (CXM-18) */
    const cw_profile *base;  /* the base algorithm for named slices; NULL: the recommended one */
    cwr_profile profile;     /* of the recommended ones */
    uint32_t waiting_chunks; /* that can wait behind those that are sent */
    /* Takes: rings of channels and of the packet layer at once; each lane when it is used, at most 20
     * KiB for a receiver and 40 KiB for a sender; blocks for what arrives, bounded as in
     * chunkwire_packet.h, chunkwire_channel.h and chunkwire.h, and 64 KiB of messages (each counts 10
     * bytes more) for an unreliable channel; copies of what is sent; 16 bytes for each slice that was
     * sent of the latest chunk of a lane, at most 8,192. */
    cwp_memory memory;
} cwn_config;

/* Of CXP-1, CXP-6, for the agreed terms; without channels, seed and memory. */
cwn_config cwn_default_config(cwn_side side, const cws_agreed *agreed);

typedef struct cwn_connection cwn_connection;

/* Begins at a time. The envelope is borrowed. NULL: a parameter is not allowed, or no memory. */
cwn_connection *cwn_new(cwp_time now, cws_envelope *envelope, const cwn_config *config);
void cwn_free(cwn_connection *c);

typedef enum { CWN_OPEN, CWN_CLOSING, CWN_CLOSED } cwn_state;

/* Why a connection has ended (CXL-7). */
typedef enum { CWN_E_NONE, CWN_E_CLOSED, CWN_E_TIMEOUT, CWN_E_FAILED, CWN_E_LIED, CWN_E_ENDED } cwn_why;

typedef struct {
    cwn_why why;
    uint32_t code; /* of CWN_E_CLOSED, as the two below */
    uint8_t text[CWN_MOST_TEXT];
    size_t text_size;
    bool remote; /* the peer closed */
} cwn_ending;

cwn_state cwn_state_of(const cwn_connection *c);
const cwn_ending *cwn_ending_of(const cwn_connection *c);
bool cwn_is_delivered(const cwn_connection *c);               /* all that is reliable is at the peer */
bool cwn_has_failed(const cwn_connection *c, uint8_t channel); /* at this end (CXL-17) */
const cwp_endpoint *cwn_packets(const cwn_connection *c);      /* figures of the path */
cwp_mode cwn_mode(const cwn_connection *c);

/* What an end knows of the round trip, without what the peer waited, and of the peer's clock: at known_at
 * it showed between low and high more than ours (section 8.4). */
typedef struct {
    cwp_time rtt, low, high, known_at;
} cwn_remote;

/* False: nothing is known yet, or clocks were not agreed on. */
bool cwn_remote_clock(const cwn_connection *c, cwn_remote *r);

/* The field ECN of an IP header. */
typedef enum { CWN_NOT_ECT, CWN_ECT1, CWN_ECT0, CWN_CE } cwn_ecn;

typedef struct {
    int row;             /* the number of a row of section 9.2, such as 3 for K3 */
    const char *refused; /* the datagram, its packet or its payload */
    int place;
    bool news;       /* it acked a packet that none before had acked (CXL-15) */
    uint32_t marked; /* marks of congestion that the schedulers were told of */
} cwn_receipt;

/* A datagram of data has arrived. */
void cwn_receive(cwn_connection *c, cwp_time now, const uint8_t *datagram, size_t length, cwn_ecn ecn, cwn_receipt *r);

/* The body of a datagram that the envelope has opened, before there was a connection. */
void cwn_receive_opened(cwn_connection *c, cwp_time now, const uint8_t *body, size_t size, cwn_ecn ecn, cwn_receipt *r);

/* Sends a message; lifetime as in cwc_sender_send. NULL, or a code: "ended", "unknown_channel", or
 * one of cwc_error. */
const char *cwn_send(cwn_connection *c, cwp_time now, uint8_t channel, const uint8_t *data, size_t size,
                     cwp_time lifetime);

/* Ends a tick of the application (CXM-28). */
void cwn_end_tick(cwn_connection *c, cwp_time now);

/* What a channel delivers next, also after the end (CXL-12). False: nothing is ready, or out is
 * too small for what->size bytes. */
bool cwn_read(cwn_connection *c, cwp_time now, uint8_t channel, uint8_t *out, size_t capacity, cwc_read *what);

/* Sends a chunk, which is copied. NULL, or a code: "ended", "no_lanes", "chunk_size", "busy", "no_memory". */
const char *cwn_send_chunk(cwn_connection *c, cwp_time now, const uint8_t *chunk, size_t size);

/* The next chunk, also after the end. False: none is ready, or out is too small for *size bytes. */
bool cwn_read_chunk(cwn_connection *c, cwp_time now, uint8_t *out, size_t capacity, size_t *size);

/* Closes, with a code that is 0 or from CWN_FIRST_CODE on. NULL, or a code (CXR-4), and the row. */
const char *cwn_close(cwn_connection *c, cwp_time now, uint32_t code, const uint8_t *text, size_t size, int *row);

/* The session has no such connection any more: K20 to K22. */
int cwn_end(cwn_connection *c, cwp_time now);

/* The client moves: until it is linked again it sends nothing (CXL-16). */
void cwn_move(cwn_connection *c, cwp_time now);

/* A client has taken LINKED again, or a server has answered a PROOF of the connection (CXL-11). */
void cwn_relinked(cwn_connection *c, cwp_time now, bool other_path);

typedef struct {
    int rows[CWN_MOST_ROWS];
    uint32_t num_rows;
    size_t size; /* of the datagram; 0: none */
    bool ect;    /* it is to be sent with ECT(0) */
} cwn_poll_result;

/* Takes rows until one gives a datagram or none will; poll again until none is given (CXL-14). */
void cwn_poll(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], cwn_poll_result *r);

/* CXM-9 */
cwp_time cwn_deadline(const cwn_connection *c);

/* ---- Ends: the session and the connection together -------------------------------- */

/* What both kinds of ends have. The channels are borrowed. */
typedef struct {
    cws_random random;
    uint32_t protocol; /* the same at both ends, as mode and channels */
    uint32_t mode;
    const cwn_channel *channels[CWC_CHANNELS];
    uint32_t lanes;    /* 0 to CWS_MOST_LANES */
    uint32_t variants; /* CWS_NAMED, CWS_REPAIR or both */
    uint32_t timeout;  /* in units of 100 ms */
    bool marks;        /* the driver reads and sets the field ECN of each datagram */
    cwp_time tick;
    int64_t message_rate;
    uint32_t waiting_chunks;
    cwp_memory memory;
} cwn_end_config;

/* Mode aead, one lane, both variants, 10 s; without channels. */
cwn_end_config cwn_default_end_config(cws_random random, cwp_memory memory);

/* Read the fields as you like; write none, and use the connection for all but to receive and to poll. */
typedef struct {
    cwn_end_config config;
    cws_client session;
    cwn_connection *connection; /* NULL before the server has answered */
} cwn_client;

/* Of `session` identity, key and server key are given, the rest is made from config. Limits and
 * result as for cws_client_init. */
bool cwn_client_init(cwn_client *c, cwp_time now, const cwn_end_config *config, cws_client_config session);

/* A datagram of the server has arrived. NULL, or why it is refused. */
const char *cwn_client_receive(cwn_client *c, cwp_time now, const uint8_t *datagram, size_t length, cwn_ecn ecn);

/* The next datagram to be sent: its bytes, or 0; poll again until it is 0. */
size_t cwn_client_poll(cwn_client *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], bool *ect);

/* The address of this end has changed: the client links again, and the connection continues. */
void cwn_client_move(cwn_client *c, cwp_time now);

/* Closes, also before there is a connection. NULL, or a code (CXR-4). */
const char *cwn_client_close(cwn_client *c, cwp_time now, uint32_t code, const uint8_t *text, size_t size);

/* Whether nothing more is to be sent: linking failed, or the connection is CLOSED and owes nothing. */
bool cwn_client_is_over(const cwn_client *c);
cwp_time cwn_client_deadline(const cwn_client *c);
void cwn_client_free(cwn_client *c);

/* A connection at its server. Set `above` as you like; write no other field. */
typedef struct {
    void *above; /* NULL at first */
    cwn_connection *connection;
    cws_entry *entry; /* with the identity and the address */
} cwn_peer;

/* Read the fields as you like; write none. */
typedef struct {
    cwn_end_config config;
    cws_server session;
    /* A connection is over, for whatever reason, and will be freed: what arrived can still be read. */
    void (*over)(void *owner, cwn_peer *peer);
    void *owner;
    uint32_t next; /* the entry to be polled next */
} cwn_server;

/* Of `session` the keys, anonymous, secret and the limits are given, the rest is made from config; over
 * can be NULL. Limits and result as for cws_server_init. */
bool cwn_server_init(cwn_server *s, const cwn_end_config *config, cws_server_config session,
                     void (*over)(void *owner, cwn_peer *peer), void *owner);

typedef enum { CWN_NOTHING, CWN_ACCEPTED, CWN_MOVED } cwn_event;

typedef struct {
    const char *refused;
    cwn_event event;
    cwn_peer *peer; /* whose the datagram is, or NULL */
    uint8_t answer[CWS_MAX_MESSAGE];
    size_t size; /* 0: no answer to where the datagram came from */
} cwn_received;

/* A datagram has arrived from an address. */
void cwn_server_receive(cwn_server *s, cwp_time now, const uint8_t from[CWS_ADDRESS], const uint8_t *datagram,
                        size_t length, cwn_ecn ecn, cwn_received *r);

/* The next datagram to be sent, and its peer: its bytes, or 0; poll again until it is 0. */
size_t cwn_server_poll(cwn_server *s, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], bool *ect, const cwn_peer **to);

/* It looks at each connection, as a poll does: for some hundreds of them. */
cwp_time cwn_server_deadline(const cwn_server *s);
void cwn_server_free(cwn_server *s);

#ifdef __cplusplus
}
#endif

#endif
