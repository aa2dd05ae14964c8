/*
 * The packet layer: sequence numbers, acks, fragments, round trip, loss and congestion
 * avoidance. It stands beside the chunk protocol of chunkwire.h and needs none of it.
 *
 * Comments such as PKR-1 name sentences of spec/PACKETS.md.
 *
 * Units       Times are microseconds from any fixed instant, 0 <= t < 2^62, of a clock that
 *             only runs forward (PKN-4). Sizes are bytes. Numbers of packets never wrap;
 *             where a field is uint16_t it has their low 16 bits, as on the wire.
 * Memory      An endpoint takes its rings once, by its configuration, and each fragment's
 *             bytes when it arrives, at most reassembly_bytes of them and one fragment.
 *             Everything else takes none.
 * Threads     No state but in the structs given.
 */
#ifndef CHUNKWIRE_PACKET_H
#define CHUNKWIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CWP_MAX_HEADER = 9,
    CWP_FRAGMENT_HEADER = 5, /* without the header of the packet in fragment 0 */
    CWP_MAX_REGULAR = 1160,      /* payload of a regular packet that is sent: the largest FRAGMENT_ABOVE */
    CWP_MAX_DATAGRAM = CWP_FRAGMENT_HEADER + CWP_MAX_HEADER + CWP_MAX_REGULAR,
    CWP_ACK_BITS = 32
};

typedef int64_t cwp_time;
#define CWP_NEVER INT64_MAX

/* ---- Sequence numbers (section 4) ------------------------------------------- */

uint16_t cwp_on_wire(int64_t number);

/* The number from behind on that the sequence means (PKS-2); false: it is stale. */
bool cwp_number_from(uint16_t sequence, int64_t behind, int64_t *number);

/* The newest number up to last with these low 16 bits (PKA-2); it may be negative. */
int64_t cwp_newest(uint16_t sequence, int64_t last);

/* ---- Codec (section 3) ------------------------------------------------------ */

typedef enum {
    CWP_OK = 0,
    CWP_TRUNCATED,
    CWP_RESERVED_BITS,
    CWP_NOT_MINIMAL,
    CWP_EMPTY_PAYLOAD,
    CWP_TOO_LARGE,
    CWP_TOO_MANY_FRAGMENTS,
    CWP_SINGLE_FRAGMENT,
    CWP_FRAGMENT_ID_OUT_OF_RANGE,
    CWP_SEQUENCE_MISMATCH,
    CWP_FRAGMENT_SIZE,
    CWP_STALE, /* from here on an endpoint's: the fault lies in no byte */
    CWP_DUPLICATE,
    CWP_DEAD,
    CWP_FRAGMENT_COUNT,
    CWP_FRAGMENT_DUPLICATE,
    CWP_REASSEMBLY_FULL,
    CWP_REFUSED, /* by the layer above */
    CWP_PAYLOAD_SIZE,
    CWP_NO_MEMORY, /* not a code of the protocol */
    CWP_ERRORS
} cwp_error;

/* The code's name as the document writes it, such as "truncated"; "ok" for CWP_OK. */
const char *cwp_error_name(cwp_error e);

/* PKT-1 */
typedef struct {
    uint16_t sequence;
    uint16_t ack;
    uint32_t ack_bits; /* bit n: ack - n arrived */
} cwp_header;

typedef enum { CWP_REGULAR, CWP_FRAGMENT } cwp_kind;

typedef struct {
    cwp_kind kind;
    uint16_t sequence;
    bool has_header; /* of a fragment: it is the first one */
    cwp_header header;
    uint32_t fragment_id;   /* of a fragment */
    uint32_t num_fragments; /* of a fragment */
    const uint8_t *data;    /* payload, or the fragment's piece of it; it lies in the datagram */
    size_t size;
} cwp_packet;

/* The bytes written (PKT-2). */
size_t cwp_encode_header(const cwp_header *h, uint8_t out[CWP_MAX_HEADER]);

/* Datagrams of a packet with size bytes of payload, of which those above `above` go as
 * fragments (PKF-1), and the bytes of one of them (PKF-2). */
uint32_t cwp_num_datagrams(size_t size, size_t fragment_size, size_t above);
size_t cwp_encode_datagram(const cwp_header *h, const uint8_t *payload, size_t size, size_t fragment_size,
                           size_t above, uint32_t i, uint8_t out[CWP_MAX_DATAGRAM]);

/* fragment_size is at least 1, max_fragments 1 to 256; with 1 every fragment is refused.
 * On an error *p holds nothing of use, and *place (may be NULL) the byte at fault (3.3). */
cwp_error cwp_decode(const uint8_t *in, size_t length, size_t fragment_size, uint32_t max_fragments,
                     cwp_packet *p, size_t *place);

/* ---- Estimates (section 8) -------------------------------------------------- */

#define CWP_LONGEST_SAMPLE ((cwp_time)1 << 40)
#define CWP_LONGEST_SHOWN ((cwp_time)1 << 26)
enum { CWP_SECONDS = 11, CWP_SHOWN = 512 }; /* ten whole seconds, and the one that now is in */

/* Each of these structs begins with all bytes 0. */

/* Read the fields up to the blank line as you like; they are 0 until measured. */
typedef struct {
    bool measured;
    cwp_time latest, srtt, jitter, min_rtt;

    cwp_time period_at, smallest, before;
} cwp_round_trip;

/* r is 0 to CWP_LONGEST_SAMPLE. */
void cwp_round_trip_sample(cwp_round_trip *t, cwp_time now, cwp_time r);

typedef struct {
    cwp_time value;
    int64_t second;
} cwp_patience;

/* The patience at a time (PKE-4). */
cwp_time cwp_patience_at(cwp_patience *p, cwp_time now);
void cwp_patience_overtaken(cwp_patience *p, cwp_time now, cwp_time latency, cwp_time srtt);

/* What happened in the last ten whole seconds (PKE-9). */
typedef struct {
    int64_t second[CWP_SECONDS];
    uint64_t sum[CWP_SECONDS];
} cwp_seconds;

void cwp_seconds_add(cwp_seconds *s, cwp_time now, uint64_t amount);
uint64_t cwp_seconds_sum(const cwp_seconds *s, cwp_time now);
uint64_t cwp_seconds_rate(const cwp_seconds *s, cwp_time now); /* of bytes: in bits a second (PKE-7) */

typedef struct {
    cwp_seconds settled, lost;
} cwp_loss;

void cwp_loss_settled(cwp_loss *l, cwp_time now, bool lost);

/* In tenths of a percent, or -1: unknown (PKE-5). */
int cwp_loss_per_mille(const cwp_loss *l, cwp_time now);

/* The latencies of the numbers acked last, for display (PKE-6). */
typedef struct {
    uint32_t latency[CWP_SHOWN];
    uint32_t next, count;
} cwp_shown;

typedef struct {
    cwp_time min, max, avg, jitter_avg, jitter_max, jitter_dev;
} cwp_figures;

void cwp_shown_add(cwp_shown *s, cwp_time latency);
bool cwp_shown_figures(const cwp_shown *s, cwp_figures *f); /* false: unknown */

/* ---- Congestion avoidance (section 9) --------------------------------------- */

typedef enum { CWP_BAD, CWP_GOOD } cwp_mode;
typedef enum { CWP_ARTICLE, CWP_DEFAULT } cwp_profile;

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    cwp_mode mode;
    cwp_time recovery;
    cwp_time next_at; /* when the next packet of the regular cadence goes (PKC-3) */

    cwp_profile profile;
    cwp_time latest;     /* PKN-3 */
    cwp_time good_since; /* CWP_NEVER: conditions are not good */
    cwp_time entered, halved;
    cwp_time last_sent; /* CWP_UNKNOWN: none */
} cwp_congestion;

void cwp_congestion_init(cwp_congestion *c, cwp_profile profile);

/* Conditions as of now, after each sample and each poll of the endpoint (PKC-1, PKC-2). */
cwp_mode cwp_congestion_evaluate(cwp_congestion *c, cwp_time now, const cwp_round_trip *t, bool silent);

/* A packet of the regular cadence has gone out (PKC-3). */
void cwp_congestion_sent(cwp_congestion *c, cwp_time now);

/* PKC-8 */
cwp_time cwp_congestion_deadline(const cwp_congestion *c);

/* ---- Endpoint (sections 5 to 7 and 10) -------------------------------------- */

#define CWP_LOST_AFTER ((cwp_time)1000000)
#define CWP_KEPT ((cwp_time)4000000)
#define CWP_REASSEMBLY_TIME ((cwp_time)1000000)
#define CWP_ACK_DELAY ((cwp_time)20000)
#define CWP_MOST_FIRST ((int64_t)1 << 32)
enum { CWP_ACK_EVERY = 16 };

/* The parameters of PKP-1. */
typedef struct {
    size_t fragment_size;        /* 1 to CWP_MAX_REGULAR; the same at both ends */
    uint32_t max_fragments;      /* 2 to 256; the same at both ends */
    size_t fragment_above;       /* fragment_size to CWP_MAX_REGULAR */
    uint32_t received;           /* a power of two, 64 to 16,384 */
    uint32_t sent_max;           /* a power of two, 256 to 16,384 */
    uint32_t reassembly;         /* a power of two, 1 to received / 2; 0: the default, here and below */
    uint32_t reassembly_packets; /* 1 to reassembly */
    size_t reassembly_bytes;     /* at least fragment_size * max_fragments */
    int64_t first_sent;          /* 0 to CWP_MOST_FIRST, and the next one */
    int64_t first_received;
} cwp_config;

cwp_config cwp_default_config(void);

/* take gives a block of at least size bytes, aligned for any type, or NULL; give gets it
 * back with the same size. */
typedef struct {
    void *(*take)(void *owner, size_t size);
    void (*give)(void *owner, void *block, size_t size);
    void *owner;
} cwp_memory;

typedef enum { CWP_TAKE, CWP_TAKE_QUIETLY, CWP_REFUSE } cwp_verdict;

/* A whole payload (5.2). */
typedef struct {
    int64_t number;
    int64_t known; /* the newest number that the peer knew of; -1: none */
    int64_t ack;   /* what its header says: a number, which is below -1 only if it lies, and the */
    uint32_t ack_bits; /* bits of ack - n */
    const uint8_t *payload;
    size_t size;
} cwp_arrival;

/* The layer above; each function may be NULL. They must not call the endpoint. */
typedef struct {
    cwp_verdict (*verdict)(void *owner, const cwp_arrival *a); /* NULL: all are taken */
    void (*acked)(void *owner, int64_t number);
    void (*lost)(void *owner, int64_t number);
    void *owner;
} cwp_above;

/* The rows of section 5.2. CWP_P_NONE is no row: there was no memory for a fragment; then
 * nothing happened, as if it had been lost. */
typedef enum {
    CWP_P_NONE = 0,
    CWP_P1, CWP_P2, CWP_P3, CWP_P4, CWP_P5, CWP_P6, CWP_P7, CWP_P8, CWP_P9, CWP_P10, CWP_P11, CWP_P12, CWP_P13
} cwp_row;

typedef struct {
    cwp_row row;
    cwp_error error;        /* CWP_OK: taken, or stored */
    int place;              /* the byte at fault; -1: it lies in no byte */
    int64_t number;         /* with CWP_P6, CWP_P11 and CWP_P13 */
    const uint8_t *payload; /* with CWP_P6 and CWP_P13, else NULL; lent until the next call */
    size_t size;
    bool sampled; /* it gave a sample of the round trip: evaluate congestion (PKC-2) */
} cwp_receipt;

/* A packet that goes out: encode its datagrams with cwp_sent_datagram, while the payload is there. */
typedef struct {
    int64_t number;
    cwp_header header;
    const uint8_t *payload; /* borrowed */
    size_t size;
    uint32_t datagrams;
} cwp_sent;

/* Of a number that was sent (section 7). */
typedef struct {
    cwp_time at;
    uint32_t bytes;
    uint8_t state;
} cwp_kept;

/* A packet in reassembly. */
typedef struct {
    bool used;
    int64_t number;
    cwp_time begun;
    cwp_header header; /* once fragment 0 is here */
    uint32_t count, have;
    size_t last_size; /* once the last fragment is here */
    size_t bytes;
    uint8_t **data; /* NULL: missing */
} cwp_parts;

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    int64_t next_to_send;
    int64_t next; /* PKR-6 */
    cwp_round_trip round_trip;
    cwp_patience patience;
    cwp_loss loss;
    cwp_shown shown;
    cwp_seconds bytes_sent, bytes_received, bytes_acked; /* PKE-7 */
    uint64_t refused[CWP_ERRORS];                        /* datagrams, by code (PKR-9) */

    cwp_config config;
    cwp_memory memory;
    cwp_above above;
    uint8_t *assembly;
    cwp_time latest; /* PKN-3 */
    uint32_t *received, *dead;
    cwp_parts *parts;
    uint8_t **pointers; /* of all parts */
    uint32_t unreported;
    cwp_time ack_at;
    cwp_kept *kept; /* of the numbers first_kept to next_to_send - 1 */
    uint32_t capacity;
    int64_t first_kept;
    int64_t oldest; /* in SENT, or next_to_send */
    int64_t newest_acked, newest_lost;
    int64_t path_from; /* the first number on this path */
} cwp_endpoint;

/* assembly has fragment_size * max_fragments bytes, in which packets are put together; it
 * outlives the endpoint, and endpoints that are used one after the other may share it.
 * False: a parameter is not allowed, or there is no memory; then e must not be used. */
bool cwp_endpoint_init(cwp_endpoint *e, const cwp_config *config, cwp_memory memory, cwp_above above,
                       uint8_t *assembly);

/* A datagram has arrived. */
void cwp_receive(cwp_endpoint *e, cwp_time now, const uint8_t *datagram, size_t length, cwp_receipt *r);

/* CWP_OK: the packet has its number and must go out now. CWP_PAYLOAD_SIZE: refused. With
 * quiet the peer will take it quietly (PKL-4). */
cwp_error cwp_send(cwp_endpoint *e, cwp_time now, const uint8_t *payload, size_t size, bool quiet, cwp_sent *s);

/* Writes datagram i of a packet, and returns its bytes. */
size_t cwp_sent_datagram(const cwp_endpoint *e, const cwp_sent *s, uint32_t i, uint8_t out[CWP_MAX_DATAGRAM]);

/* Timers. True: an ack-only packet of one datagram goes out (PKI-2). */
bool cwp_poll(cwp_endpoint *e, cwp_time now, cwp_sent *s);

/* The bytes of all datagrams of a packet. */
uint32_t cwp_sent_bytes(const cwp_sent *s);

/* Skips the next number, and whether a number was skipped and is kept (PKS-4). */
void cwp_skip(cwp_endpoint *e, cwp_time now);
bool cwp_skipped(const cwp_endpoint *e, int64_t number);

/* The path is another one: the estimates begin anew, and earlier packets give none. */
void cwp_forget_path(cwp_endpoint *e);

/* PKC-1 */
bool cwp_silent(const cwp_endpoint *e);

/* When to poll at the latest (PKI-4). */
cwp_time cwp_deadline(const cwp_endpoint *e);

/* Gives all blocks back; the endpoint must not be used any more. */
void cwp_endpoint_end(cwp_endpoint *e);

#ifdef __cplusplus
}
#endif

#endif
