/*
 * Repair slices: a variant of the chunk protocol in which nothing is sent again. It uses the
 * frame, the limits, the codes and the memory of chunkwire.h.
 *
 * Comments such as RPC-4 name sentences of spec/REPAIR.md, others those of spec/PROTOCOL.md.
 *
 * Units       As in chunkwire.h. An id is what a slice carries, below CWR_IDS; a number
 *             counts transmissions and grows beyond that.
 * Memory      Nothing is allocated. A receiver takes the blocks of what it holds through a
 *             cw_memory, as that of chunkwire.h does; cwr_fixed_memory gives them without an
 *             allocator. Rebuilding takes 20 KiB of stack.
 * Threads     No state but in the structs given.
 */
#ifndef CHUNKWIRE_REPAIR_H
#define CHUNKWIRE_REPAIR_H

#include "chunkwire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CWR_IDS = 8192,                                  /* ids of slices */
    CWR_MAX_ACK = 14,                                /* bytes in a datagram that holds an ack (RPA-3) */
    CWR_BLOCK = CW_SLICE_SIZE + CW_MAX_SLICES,       /* the most bytes of a block */
    CWR_BLOCKS = CW_MAX_SLICES + 1,                  /* a slot for each dimension, and one for a spare equation */
    CWR_MEMORY = CWR_BLOCKS * CWR_BLOCK              /* 328,960 */
};

/* ---- The code (section 3) --------------------------------------------------- */

/* The exponents a(j, i) of slice id in a chunk of num_slices, of which it is a repair slice:
 * num_slices <= id < CWR_IDS. */
void cwr_row(uint32_t num_slices, uint32_t id, uint8_t exponents[CW_MAX_SLICES]);

/* The bytes of slice id of a chunk of num_slices with last_bytes in the last (RPS-2). */
size_t cwr_slice_bytes(uint32_t num_slices, size_t last_bytes, uint32_t id);

/* Slice id of a chunk of 1 to CW_MAX_CHUNK bytes into out; returns its bytes. It depends on
 * the chunk and the id alone: who sends one chunk to many keeps the repair slices. */
size_t cwr_encode_slice(const uint8_t *chunk, size_t size, uint32_t id, uint8_t out[CW_SLICE_SIZE]);

/* The slices of one chunk that are here, and what they amount to. All fields are its own, but
 * num_slices, count and id may be read. */
typedef struct {
    uint32_t num_slices; /* 0: no chunk */
    uint32_t last_bytes;
    uint32_t count;             /* slices held, all independent: the rank */
    uint16_t id[CW_MAX_SLICES]; /* of the slices held, in the order in which they came */

    uint8_t *block[CW_MAX_SLICES]; /* of a repair slice with its row behind the data */
    uint16_t pivot[CW_MAX_SLICES]; /* the column that a slot's row alone has */
    uint8_t place[CW_MAX_SLICES];  /* the slot of a source slice that is here */
    uint8_t missing[CW_MAX_SLICES]; /* the columns whose source slice is not here */
    uint32_t num_missing;
    cw_memory memory;
} cwr_decoder;

typedef enum { CWR_ADDED, CWR_DEPENDENT, CWR_NO_MEMORY } cwr_added;

/* One fixed buffer of CWR_MEMORY bytes as memory, for callers that allocate nothing. */
cw_memory cwr_fixed_memory(uint8_t *buffer);

void cwr_decoder_init(cwr_decoder *d, cw_memory memory);

/* Drops what is held and takes the first slice of a chunk. Its data, here and below, are
 * cwr_slice_bytes and are copied. False: no memory, and nothing happened. */
bool cwr_decoder_begin(cwr_decoder *d, uint32_t num_slices, uint32_t last_bytes, uint32_t id, const uint8_t *data);

/* Takes another slice, unless it follows from those held (RPC-5). */
cwr_added cwr_decoder_add(cwr_decoder *d, uint32_t id, const uint8_t *data);

bool cwr_decoder_has(const cwr_decoder *d, uint32_t id);

/* Once count is num_slices: makes the source slices that are not here from the repair slices,
 * in their place. False: the last one is longer than last_bytes, so some slice was forged. */
bool cwr_decoder_rebuild(cwr_decoder *d);

/* Then: source slice i, and whether a repair slice is what the chunk gives. */
const uint8_t *cwr_decoder_slice(const cwr_decoder *d, uint32_t i);
bool cwr_decoder_agrees(const cwr_decoder *d, uint32_t id, const uint8_t *data);

/* Drops what is held. */
void cwr_decoder_release(cwr_decoder *d);

/* ---- Packets (section 4) ---------------------------------------------------- */

typedef struct {
    uint32_t chunk_id;   /* 0 to 65535 */
    uint32_t id;         /* below CWR_IDS */
    uint32_t num_slices; /* 1 to 256 */
    uint32_t last_bytes; /* 1 to 1024 */
    const uint8_t *data; /* borrowed: of a decoded slice it lies in the datagram */
    size_t size;         /* bytes of data: cwr_slice_bytes */
} cwr_slice;

typedef struct {
    uint32_t chunk_id;   /* 0 to 65535 */
    uint32_t num_slices; /* 1 to 256 */
    uint32_t have;       /* 0 to num_slices */
    uint32_t top;        /* an id, below CWR_IDS */
} cwr_ack;

typedef struct {
    cw_type type;
    union {
        cwr_slice slice;
        cwr_ack ack;
    } as;
} cwr_packet;

/* CW_OK or CW_INVALID_FIELD. */
cw_error cwr_check(const cwr_packet *p);

/* As cw_encode_body and the others of chunkwire.h. */
cw_error cwr_encode_body(const cwr_packet *p, uint8_t *out, size_t capacity, size_t *length);
cw_error cwr_encode_packet(uint32_t protocol_id, const cwr_packet *p, uint8_t *out, size_t capacity, size_t *length);
cw_error cwr_decode_body(cw_type type, const uint8_t *in, size_t length, cwr_packet *p, size_t *place);
cw_error cwr_decode_packet(uint32_t protocol_id, const uint8_t *in, size_t length, cwr_packet *p, size_t *place);

/* The protocol id of a lane with repair slices (RPI-1). */
uint32_t cwr_protocol_id(uint32_t protocol_id, uint32_t lanes, uint32_t lane);

/* The id of a transmission (RPN-2), and the largest number up to most that has this id;
 * -1 if there is none (RPN-5). */
uint32_t cwr_id(uint32_t num_slices, uint64_t number);
int64_t cwr_number(uint32_t num_slices, uint32_t id, uint64_t most);

/* ---- Receiver (section 6) --------------------------------------------------- */

/* The rows of table U. CWR_U_NONE is no row: the caller's memory did not suffice, or the slice
 * was not valid; then nothing happened, as if the slice had been lost. */
typedef enum {
    CWR_U_NONE = 0,
    CWR_U1, CWR_U2, CWR_U3, CWR_U4, CWR_U5, CWR_U6, CWR_U7, CWR_U8, CWR_U9, CWR_U10, CWR_U11, CWR_U12, CWR_U13,
    CWR_U14, CWR_U15, CWR_U16, CWR_U17, CWR_U18, CWR_U19, CWR_U20, CWR_U21, CWR_U22, CWR_U23, CWR_U24, CWR_U25,
    CWR_U26, CWR_U27, CWR_U28, CWR_U29
} cwr_receiver_row;

/* Read the fields up to the blank line as you like; write none. The states are those of
 * chunkwire.h. */
typedef struct {
    cw_receiver_state state;
    uint32_t chunk_id;
    uint32_t num_slices; /* 0 but in CW_RECEIVING, as the three below */
    uint32_t last_bytes;
    uint32_t have;
    uint64_t top; /* a number */
    uint32_t previous_slices;
    uint64_t previous_top;
    uint64_t conflicts;    /* slices that conflicted (U9) */
    uint64_t inconsistent; /* what RPR-11 has counted: some slice was forged */

    cw_time give_up;
    cw_time latest; /* TIM-1 */
    cw_time progress_at;
    uint32_t held_slices;
    cw_acks acks;
    cwr_decoder decoder; /* of the current chunk; in CW_READY of the one that waits */
    uint8_t *spare;      /* the data of a dependent slice */
    uint32_t spare_id;
    bool compared;       /* in CW_READY, with a slice that came then */
} cwr_receiver;

/* first_id below 65536; give_up 1 to CW_MAX_GIVE_UP. False: outside these limits; then r must
 * not be used. The memory's take gets a slot, below CWR_BLOCKS, in place of a slice id, and
 * sizes of CWR_BLOCK at most. */
bool cwr_receiver_init(cwr_receiver *r, uint32_t first_id, cw_time give_up, cw_memory memory);

/* A valid slice has arrived. Its data is copied. */
cwr_receiver_row cwr_receiver_slice(cwr_receiver *r, cw_time now, const cwr_slice *s);

/* The application asks for a chunk. With CWR_U17 it is in out, *size bytes; with CWR_U_NONE
 * capacity is below cwr_receiver_size and the chunk stays; any other row: nothing to read. */
cwr_receiver_row cwr_receiver_read(cwr_receiver *r, cw_time now, uint8_t *out, size_t capacity, size_t *size);

/* The bytes of the chunk that waits to be read; 0 if none does. */
size_t cwr_receiver_size(const cwr_receiver *r);

/* Which ack goes out now? With CWR_U20, CWR_U22 and CWR_U25 it is in *ack: send it and poll
 * again. CWR_U24 reports that the receiver gave up. */
cwr_receiver_row cwr_receiver_poll(cwr_receiver *r, cw_time now, cwr_ack *ack);

cw_time cwr_receiver_deadline(const cwr_receiver *r);

/* Gives all blocks back; the receiver must not be used any more. */
void cwr_receiver_end(cwr_receiver *r);

/* ---- Sender (section 5) ----------------------------------------------------- */

/* What decides when the next id goes out: put a cwr_scheduler first in your own struct. The
 * times it is given never go back. */
typedef struct cwr_scheduler cwr_scheduler;
struct cwr_scheduler {
    void (*start)(cwr_scheduler *s, cw_time now, uint32_t num_slices);
    void (*news)(cwr_scheduler *s, cw_time now, uint32_t have, uint64_t top); /* grown or equal */
    void (*hold)(cwr_scheduler *s, cw_time now);                              /* T8 */
    bool (*next)(cwr_scheduler *s, cw_time now); /* true: the next id goes out, and counts as sent */
    cw_time (*deadline)(const cwr_scheduler *s);
};

/* The rows of table T. */
typedef enum {
    CWR_T1 = 1, CWR_T2, CWR_T3, CWR_T4, CWR_T5, CWR_T6, CWR_T7, CWR_T8, CWR_T9, CWR_T10, CWR_T11, CWR_T12,
    CWR_T13, CWR_T14, CWR_T15, CWR_T16
} cwr_sender_row;

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    cw_sender_state state;
    uint32_t chunk_id;
    uint32_t num_slices; /* 0 but in CW_SENDING, as the three below */
    uint64_t sent;       /* transmissions */
    uint32_t have;
    uint64_t top; /* a number */

    const uint8_t *chunk; /* borrowed */
    size_t size;
    cw_time give_up;
    cw_time latest; /* TIM-1 */
    cw_time heard_at;
    cwr_scheduler *scheduler;    /* borrowed */
    uint8_t slice[CW_SLICE_SIZE]; /* the one that goes out */
} cwr_sender;

/* The scheduler must outlive the sender. Limits and result as for cwr_receiver_init. */
bool cwr_sender_init(cwr_sender *s, uint32_t first_id, cw_time give_up, cwr_scheduler *scheduler);

/* CWR_T1: the chunk is taken, and must stay as it is until it is delivered (CWR_T10) or the
 * sender gave up (CWR_T15). CWR_T2: refused, its size; CWR_T3: busy; CWR_T4: gave up. */
cwr_sender_row cwr_sender_submit(cwr_sender *s, cw_time now, const uint8_t *chunk, size_t size);

/* A valid ack has arrived. CWR_T10 reports the chunk as delivered. */
cwr_sender_row cwr_sender_ack(cwr_sender *s, cw_time now, const cwr_ack *ack);

/* What is to be sent now? With CWR_T13 it is in *slice, its data in the sender until the next
 * poll: send it and poll again. CWR_T15 reports that the sender gave up. */
cwr_sender_row cwr_sender_poll(cwr_sender *s, cw_time now, cwr_slice *slice);

cw_time cwr_sender_deadline(const cwr_sender *s);

/* ---- The sender's rule (section 7) ------------------------------------------- */

enum { CWR_KEPT_TIMES = 1024 };

/* Of the last three at most one is true. */
typedef struct {
    int64_t limit; /* bits a second with IP and UDP headers, 8,528 to 8 * 10^9; 0: none, not with fixed */
    bool burst;
    bool fixed;
    bool redundant;
} cwr_profile;

cwr_profile cwr_profile_adaptive(void); /* the default: no limit */

/* What a sender knows of the path, and when that lets a slice go: the controller of
 * spec/RECOVERY.md. All fields are its own, except yields. */
typedef struct {
    cwr_profile profile;
    int64_t limit_interval; /* of the profile's limit, ns; 0: none */
    bool yields;            /* other packets on the path must not wait behind slices (ROOM-3) */

    cw_known known; /* the round trip */
    cw_time srtt, rttvar, bound, latest;
    bool sampled; /* in the event at hand */

    cw_time min_rtt; /* without a queue; 0: none */
    cw_time sample_at, drain_at;
    cw_time drain_until; /* 0: there is no drain */
    cw_time drain_full_at, drain_min;
    int misses;
    bool fell;

    int64_t limit, step, most, ceiling, low; /* 64ths */
    int quiet;
    bool opening;
    cw_time decides_at, counts_at, least; /* of a decision; 0: none */
    cw_time began_at;
    cw_time waits, samples, least_wait;
    int64_t round_lost, round_passed, marked;

    bool others, hit; /* the queue is that of others */
    int above;
    int64_t from, from_speed;

    int phase; /* the answer to loss */
    struct {   /* before the latest cut */
        int64_t limit, ceiling, lost, passed;
        bool opening;
    } before;
    int64_t sum_lost, sum_passed;
    int64_t calm_lost, calm_passed; /* sixteenths */

    bool broken; /* the circuit breaker */
    cw_time calm_at;
    int64_t group_lost, group_passed;

    int64_t lost, arrived; /* sixteenths */

    cw_time pace_at; /* and pace_ns */
    int64_t pace_ns;

    int64_t wanting; /* senders that had something to send when last asked */
    int64_t flight;  /* slices, of all senders */
    int64_t active;  /* senders with a chunk in flight */
    cw_time heard_at;
    int64_t timeouts, unanswered, suspects;
    bool silenced;
    cw_time probe_at;
} cwr_control;

/* The part of one sender in its controller, which several lanes of a path share (LAN-9). All fields
 * are the controller's own, and 0 at first. */
typedef struct {
    int64_t flight;
    bool active, wants;
} cwr_share;

/* False: a figure is outside its limits; then c must not be used. */
bool cwr_control_init(cwr_control *c, cwr_profile profile);

/* The path is another one: what a new controller has that has sent one slice, of which nothing is
 * in flight. Then each of its senders takes its part again: a chunk that is sent stays so. */
void cwr_control_forget_path(cwr_control *c, cw_time now);
void cwr_control_take(cwr_control *c, cwr_share *s);

/* A chunk begins; so many slices are in flight (REC-2). */
void cwr_control_start(cwr_control *c, cwr_share *s, cw_time now);
void cwr_control_flight(cwr_control *c, cwr_share *s, int64_t slices);
void cwr_control_leave(cwr_control *c, cwr_share *s); /* all of the chunk has arrived */

/* What went out at a time has arrived: that one, or perhaps a later one of the same number. */
void cwr_control_sample(cwr_control *c, cw_time now, cw_time at);
void cwr_control_bound(cwr_control *c, cw_time now, cw_time at);

/* What was sent again at a time has arrived: it moves the estimate, and tells of the queue (EST-3). */
void cwr_control_resample(cwr_control *c, cw_time now, cw_time at);

/* So many slices are new, and so many are lost; missing is negative if some came late (REC-11). */
void cwr_control_news(cwr_control *c, cw_time now, int64_t gained, int64_t missing);

/* So many new marks of congestion (ECN-1). */
void cwr_control_marks(cwr_control *c, int64_t count);

/* Whether the limit lets a slice be sent (ROOM-1). */
bool cwr_control_has_room(const cwr_control *c);

/* How many slices may be in flight (ROOM-1). */
int64_t cwr_control_path_slices(const cwr_control *c);

/* Whether what is wanted goes out: then it counts as sent. And from when on it may. */
bool cwr_control_go(cwr_control *c, cwr_share *s, cw_time now, bool wants, bool fresh);
cw_time cwr_control_next(const cwr_control *c);

/* The delays of the timer, which ran out without news. */
cw_time cwr_control_delay(const cwr_control *c);
cw_time cwr_control_margin(const cwr_control *c);
cw_time cwr_control_hold_delay(const cwr_control *c, cw_time lasted);
void cwr_control_timed_out(cwr_control *c, cw_time now, int64_t given_up);
void cwr_control_late(cwr_control *c, int64_t n); /* so many of these have arrived (SUS-2) */
cw_time cwr_control_silent_at(const cwr_control *c); /* from then on ROOM-7 holds */

/* The square root of 0 to 2^60, rounded down. */
int64_t cwr_root(int64_t x);

/* All fields are the rule's own, but control.yields. */
typedef struct {
    cwr_scheduler scheduler; /* give &rule.scheduler to cwr_sender_init */
    cwr_control control;
    cwr_control *shared; /* in place of control, with other lanes; or NULL */
    cwr_share share;
    bool was_held;

    uint32_t num_slices, have; /* the chunk's, from here on */
    uint64_t sent, top, gone;
    uint64_t moved; /* up to this number slices were sent on another path (RPL-16) */
    cw_time sent_at[CWR_KEPT_TIMES];
    cw_time main_at, last_at, news_at, held_at;
    int quota; /* -1: none */
    bool held;
    bool wanted; /* after the latest event */
} cwr_rule;

/* False: a figure is outside its limits; then r must not be used. */
bool cwr_rule_init(cwr_rule *r, cwr_profile profile);

/* Lanes of one path: they share a controller that was initialized (LAN-9). Refresh each after an
 * event of another one, before its deadline is asked for. */
void cwr_rule_share(cwr_rule *r, cwr_control *shared);
void cwr_rule_refresh(cwr_rule *r);

/* Whether more slices must be under way, if the controller allows. */
bool cwr_rule_needed(const cwr_rule *r);

/* After cwr_control_forget_path of its controller: slices sent before say nothing of the path (RPL-16). */
void cwr_rule_forget_path(cwr_rule *r);

#ifdef __cplusplus
}
#endif

#endif
