/*
 * The chunk protocol: codec, receiver, sender and the base algorithm.
 *
 * Comments such as RCV-13 name sentences of spec/PROTOCOL.md.
 *
 * Units       Times are microseconds from any fixed instant, 0 <= t < 2^62, of a
 *             clock that only runs forward (TIM-2). Sizes are bytes unless a bit is named.
 * Memory      Nothing is allocated. The caller gives every struct and buffer; what a
 *             function borrows for longer than the call is said at the function.
 * Threads     No state but in the structs given. Two threads must not use one struct
 *             at the same time; otherwise everything is reentrant.
 * Errors      The codec returns a cw_error. The machines return the row of the
 *             transition table that the event took; a refusal is a row as well.
 */
#ifndef CHUNKWIRE_H
#define CHUNKWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CW_SLICE_SIZE = 1024,   /* bytes in every slice but the last */
    CW_MAX_SLICES = 256,    /* slices in a chunk */
    CW_MAX_CHUNK = 262144,  /* bytes in a chunk */
    CW_MAX_BODY = 1030,     /* bytes in a bare body */
    CW_MAX_DATAGRAM = 1038, /* bytes in a datagram */
    CW_MAX_ACK = 44,        /* bytes in a datagram that holds an ack */
    CW_HEADER = 28          /* bytes that IPv4 and UDP add to a datagram */
};

typedef int64_t cw_time;
#define CW_NEVER INT64_MAX
#define CW_MAX_GIVE_UP ((cw_time)1 << 61)
#define CW_DEFAULT_GIVE_UP ((cw_time)10000000)

/* ---- Bit packing (section 3) ------------------------------------------------ */

/* Writes into data; what does not fit is left out and sets full. */
typedef struct {
    uint8_t *data;
    size_t capacity; /* bytes */
    size_t bit;      /* bits written */
    bool full;
} cw_writer;

void cw_writer_init(cw_writer *w, uint8_t *data, size_t capacity);
void cw_put_bits(cw_writer *w, uint32_t v, unsigned n); /* 1 <= n <= 32 */
void cw_put_int(cw_writer *w, uint32_t v, uint32_t low, uint32_t high);
void cw_put_bool(cw_writer *w, bool v);
void cw_put_align(cw_writer *w);
void cw_put_bytes(cw_writer *w, const uint8_t *b, size_t n);
size_t cw_writer_bytes(const cw_writer *w); /* the length, the last byte filled up */

/* Reads from data, never beyond length. A read that is refused moves nothing. */
typedef struct {
    const uint8_t *data;
    size_t length; /* bytes */
    size_t bit;    /* bits read */
} cw_reader;

void cw_reader_init(cw_reader *r, const uint8_t *data, size_t length);
bool cw_get_bits(cw_reader *r, unsigned n, uint32_t *v);                        /* false: truncated */
bool cw_get_int(cw_reader *r, uint32_t low, uint32_t high, uint32_t *v);        /* false: truncated */
bool cw_get_align(cw_reader *r);                                                /* false: nonzero padding */
const uint8_t *cw_get_bytes(cw_reader *r, size_t n); /* at a whole byte; NULL: truncated */

/* The CRC-32 of FRM-2, in pieces: begin with 0, go on with the result. */
uint32_t cw_crc32(uint32_t crc, const uint8_t *b, size_t n);

/* ---- Sets of slice ids ------------------------------------------------------ */

typedef struct {
    uint32_t word[CW_MAX_SLICES / 32];
} cw_set;

bool cw_set_has(const cw_set *s, uint32_t k); /* k < 256, here and below */
void cw_set_add(cw_set *s, uint32_t k);
void cw_set_remove(cw_set *s, uint32_t k);
void cw_set_clear(cw_set *s);
void cw_set_fill(cw_set *s, uint32_t n); /* the ids 0 to n - 1, n <= 256 */
uint32_t cw_set_count(const cw_set *s);
bool cw_set_empty(const cw_set *s);

/* ---- Packets (section 4) ---------------------------------------------------- */

typedef enum { CW_SLICE = 0, CW_ACK = 1 } cw_type; /* FRM-3 */

typedef struct {
    uint32_t chunk_id;   /* 0 to 65535 */
    uint32_t slice_id;   /* below num_slices */
    uint32_t num_slices; /* 1 to 256 */
    const uint8_t *data; /* borrowed: of a decoded slice it lies in the datagram */
    size_t size;         /* bytes of data: LIM-3 */
} cw_slice;

typedef struct {
    uint32_t chunk_id;   /* 0 to 65535 */
    uint32_t num_slices; /* 1 to 256 */
    cw_set acked;        /* of 0 to num_slices - 1 */
} cw_ack;

typedef struct {
    cw_type type;
    union {
        cw_slice slice;
        cw_ack ack;
    } as;
} cw_packet;

/* Slices of a chunk of size bytes (LIM-2), and the bytes of one of them (LIM-3). */
uint32_t cw_num_slices(size_t size);
size_t cw_slice_bytes(size_t size, uint32_t slice_id);

/* ---- Codec (sections 5 and 6) ----------------------------------------------- */

typedef enum {
    CW_OK = 0,
    CW_TRUNCATED,
    CW_CRC_MISMATCH,
    CW_SLICE_ID_OUT_OF_RANGE,
    CW_NONZERO_PADDING,
    CW_BAD_END_CHECK,
    CW_TRAILING_DATA,
    CW_INVALID_FIELD, /* encoder: the packet is none (6.2) */
    CW_NO_SPACE,      /* encoder: out is too small; not a code of the protocol */
    CW_HAVE_OUT_OF_RANGE /* of acks of repair slices, chunkwire_repair.h */
} cw_error;

/* The code's name as the document writes it, such as "truncated"; "ok" for CW_OK. */
const char *cw_error_name(cw_error e);

/* CW_OK or CW_INVALID_FIELD (ENC-1 to ENC-6). */
cw_error cw_check(const cw_packet *p);

/* Encode into out; *length becomes the bytes written. CW_MAX_BODY or CW_MAX_DATAGRAM
 * bytes always suffice. On an error out and *length hold nothing of use. */
cw_error cw_encode_body(const cw_packet *p, uint8_t *out, size_t capacity, size_t *length);
cw_error cw_encode_packet(uint32_t protocol_id, const cw_packet *p, uint8_t *out, size_t capacity,
                          size_t *length);

/* Decode; a slice's data stays in `in` and lives as long. On an error *p holds nothing
 * of use, and *place (may be NULL) the offset in bits that section 6.3 names. */
cw_error cw_decode_body(cw_type type, const uint8_t *in, size_t length, cw_packet *p, size_t *place);
cw_error cw_decode_packet(uint32_t protocol_id, const uint8_t *in, size_t length, cw_packet *p,
                          size_t *place);

/* The frame around a body (section 5), for packets with other bodies. A writer that is full has
 * no frame; a reader stays at the place of a fault. */
void cw_frame_begin(cw_writer *w, cw_type type);
void cw_frame_end(cw_writer *w, uint32_t protocol_id); /* with the crc */
cw_error cw_get_frame(cw_reader *r, uint32_t protocol_id, cw_type *type); /* up to the body */
cw_error cw_get_frame_end(cw_reader *r);                                  /* behind it, nothing left */
cw_error cw_get_end(const cw_reader *r);                                  /* CW_OK: nothing is left */

/* ---- When acks go out (section 8.6) ------------------------------------------ */

/* For receivers of this protocol and of its variants. */
enum { CW_DUE_PREVIOUS = 1, CW_DUE_CURRENT = 2, CW_DUE_HOLD = 4 };

typedef struct {
    unsigned due;    /* of these */
    cw_time at;      /* ack_at */
    cw_time sent_at; /* last_ack_at */
    bool sent_ever;
    uint32_t unreported;
    int last_new;
    bool after_gap;
} cw_acks;

void cw_acks_init(cw_acks *a);                                       /* nothing is due */
void cw_acks_start(cw_acks *a);                                      /* START */
void cw_acks_due(cw_acks *a, unsigned which, cw_time at);            /* at that time at the latest */
void cw_acks_due_soon(cw_acks *a, unsigned which, cw_time now);      /* AKT-2 */
void cw_acks_stored(cw_acks *a, cw_time now, uint32_t id);           /* STORE */
void cw_acks_completed(cw_acks *a, cw_time now);                     /* COMPLETE */
unsigned cw_acks_take(cw_acks *a, cw_time now); /* the one that goes out now, 0: none */

/* ---- Receiver (section 8) --------------------------------------------------- */

typedef enum { CW_WAITING, CW_RECEIVING, CW_READY, CW_RECEIVER_FAILED } cw_receiver_state;

/* The rows of section 8.3. CW_R_NONE is no row: the caller's memory did not suffice, or
 * the slice was not valid; then nothing happened, as if the slice had been lost. */
typedef enum {
    CW_R_NONE = 0,
    CW_R1, CW_R2, CW_R3, CW_R4, CW_R5, CW_R6, CW_R7, CW_R8, CW_R9, CW_R10, CW_R11, CW_R12, CW_R13,
    CW_R14, CW_R15, CW_R16, CW_R17, CW_R18, CW_R19, CW_R20, CW_R21, CW_R22, CW_R23, CW_R24, CW_R25,
    CW_R26, CW_R27, CW_R28
} cw_receiver_row;

/* Where the bytes of slices live. take gives a block of at least size bytes for a slice
 * that has arrived, or NULL; give gets it back when the chunk was read or dropped. A
 * receiver holds at most one chunk's blocks (RCV-18, BND-1). For a take with its slice_id
 * already held, which happens when a wrong num_slices is replaced, the two may be the same block. */
typedef struct {
    uint8_t *(*take)(void *owner, uint32_t slice_id, size_t size);
    void (*give)(void *owner, uint32_t slice_id, uint8_t *block);
    void *owner;
} cw_memory;

/* One fixed buffer of CW_MAX_CHUNK bytes as memory, for callers that allocate nothing. */
cw_memory cw_fixed_memory(uint8_t *buffer);

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    cw_receiver_state state;
    uint32_t chunk_id;
    uint32_t num_slices; /* 0 but in CW_RECEIVING */
    cw_set received;     /* empty but in CW_RECEIVING */
    uint32_t previous_slices;
    uint64_t conflicts; /* slices that conflicted (R8) */

    cw_time give_up;
    cw_memory memory;
    uint8_t *block[CW_MAX_SLICES];
    size_t last_size; /* bytes of the last slice, once it is here */
    cw_time latest;   /* TIM-1 */
    cw_time progress_at;
    uint32_t held_slices;
    cw_acks acks;
} cw_receiver;

/* first_id below 65536; give_up 1 to CW_MAX_GIVE_UP. False: outside these limits; then r
 * must not be used. */
bool cw_receiver_init(cw_receiver *r, uint32_t first_id, cw_time give_up, cw_memory memory);

/* A valid slice has arrived. Its data is copied. */
cw_receiver_row cw_receiver_slice(cw_receiver *r, cw_time now, const cw_slice *s);

/* The application asks for a chunk. With CW_R16 it is in out, *size bytes; with CW_R_NONE
 * capacity is below cw_receiver_size and the chunk stays; any other row: nothing to read. */
cw_receiver_row cw_receiver_read(cw_receiver *r, cw_time now, uint8_t *out, size_t capacity, size_t *size);

/* The bytes of the chunk that waits to be read; 0 if none does. */
size_t cw_receiver_size(const cw_receiver *r);

/* Which ack goes out now? With CW_R19, CW_R21 and CW_R24 it is in *ack: send it and poll
 * again (RCV-1). CW_R23 reports that the receiver gave up. */
cw_receiver_row cw_receiver_poll(cw_receiver *r, cw_time now, cw_ack *ack);

cw_time cw_receiver_deadline(const cw_receiver *r);

/* Gives all blocks back; the receiver must not be used any more. */
void cw_receiver_end(cw_receiver *r);

/* ---- Sender (section 7) ----------------------------------------------------- */

/* The interface of section 9: put a cw_scheduler first in your own struct. The times it
 * is given never go back. */
typedef struct cw_scheduler cw_scheduler;
struct cw_scheduler {
    void (*start)(cw_scheduler *s, cw_time now, size_t chunk_size);
    void (*news)(cw_scheduler *s, cw_time now, const cw_set *news); /* newly acked, not empty */
    void (*hold)(cw_scheduler *s, cw_time now);                     /* S8 */
    int (*next)(cw_scheduler *s, cw_time now);                      /* a slice to send, or -1 */
    cw_time (*deadline)(const cw_scheduler *s);
};

typedef enum { CW_IDLE, CW_SENDING, CW_SENDER_FAILED } cw_sender_state;

/* The rows of section 7.3. */
typedef enum {
    CW_S1 = 1, CW_S2, CW_S3, CW_S4, CW_S5, CW_S6, CW_S7, CW_S8, CW_S9, CW_S10, CW_S11, CW_S12, CW_S13,
    CW_S14, CW_S15, CW_S16
} cw_sender_row;

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    cw_sender_state state;
    uint32_t chunk_id;
    uint32_t num_slices; /* 0 but in CW_SENDING */
    cw_set sent;
    cw_set acked;

    const uint8_t *chunk; /* borrowed */
    size_t size;
    cw_time give_up;
    cw_time latest; /* TIM-1 */
    cw_time heard_at;
    cw_scheduler *scheduler; /* borrowed */
} cw_sender;

/* The scheduler must outlive the sender. Limits and result as for cw_receiver_init. */
bool cw_sender_init(cw_sender *s, uint32_t first_id, cw_time give_up, cw_scheduler *scheduler);

/* CW_S1: the chunk is taken, and must stay as it is until it is delivered (CW_S10) or the
 * sender gave up (CW_S15). CW_S2: refused, its size; CW_S3: busy; CW_S4: gave up. */
cw_sender_row cw_sender_submit(cw_sender *s, cw_time now, const uint8_t *chunk, size_t size);

/* A valid ack has arrived. CW_S10 reports the chunk as delivered. */
cw_sender_row cw_sender_ack(cw_sender *s, cw_time now, const cw_ack *ack);

/* What is to be sent now? With CW_S13 it is in *slice, its data in the chunk: send it and
 * poll again (SND-3). CW_S15 reports that the sender gave up. */
cw_sender_row cw_sender_poll(cw_sender *s, cw_time now, cw_slice *slice);

cw_time cw_sender_deadline(const cw_sender *s);

/* ---- The base algorithm (appendix G) ----------------------------------------- */

/* The limits are those of BUD-1. */
typedef struct {
    int64_t rate;         /* bytes a second, 1,066 to 10^9; 0: unlimited */
    int64_t cap;          /* bytes, 1,066 to 10^9 */
    int64_t burst;        /* bytes, 0 to cap */
    bool acks_pay;
    cw_time spacing;      /* us between two slices, 0 to CW_MAX_GIVE_UP */
    cw_time resend_delay; /* us, 0 to CW_MAX_GIVE_UP; 0: from the round trip */
} cw_profile;

cw_profile cw_profile_burst(void);
cw_profile cw_profile_fixed(int64_t rate);
cw_profile cw_profile_article(int64_t rate);

/* What is known of the round trip (9.3). */
typedef enum { CW_KNOWN_NOTHING, CW_KNOWN_BOUND, CW_MEASURED } cw_known;

/* All fields are the algorithm's own. */
typedef struct {
    cw_scheduler scheduler; /* give &base.scheduler to cw_sender_init */
    cw_profile profile;

    cw_known known;
    cw_time srtt, rttvar, min_rtt;
    cw_time bound; /* CW_NEVER: none */

    int64_t left, by_time; /* 9.5, millionths of a byte */
    cw_time paid_at;
    cw_time spaced_until;

    size_t size; /* the chunk's, from here on 9.2 */
    uint32_t num_slices;
    cw_set unacked, due;
    uint32_t cursor, probe;
    uint64_t count, arrived, at_best;
    uint64_t moved; /* up to this number slices were sent on another path */
    uint64_t first[CW_MAX_SLICES], last[CW_MAX_SLICES]; /* 0: never sent */
    cw_time first_at[CW_MAX_SLICES], last_at[CW_MAX_SLICES];
    cw_time sent_at, news_at, held_at;
    bool held;
    unsigned backoff;
} cw_base;

/* False: a figure is outside its limits (BUD-1); then b must not be used. */
bool cw_base_init(cw_base *b, cw_profile profile);

/* The path is another one: the round trip is unknown, and slices first sent before give no sample. */
void cw_base_forget_path(cw_base *b);

#ifdef __cplusplus
}
#endif

#endif
