/* The parts of a connection. Not installed. See chunkwire_connection.h. */
#ifndef CONNECTION_PARTS_H
#define CONNECTION_PARTS_H

#include "chunkwire_connection.h"

/* ---- All channels (sections 6 and 7 of spec/CHANNELS.md) ------------------------ */

/* A message that waits; its bytes stand behind it. */
typedef struct cwn_item cwn_item;
struct cwn_item {
    cwn_item *next;
    int64_t number;
    size_t size;
};

typedef struct {
    cwn_item *first, *last;
    size_t bytes;
} cwn_queue;

typedef struct {
    cwn_channel setup;
    cwc_sender sender; /* of a reliable one, as the receiver */
    cwc_receiver receiver;
    cwn_queue to_send, to_read; /* of an unreliable one */
    int64_t newest;             /* CHU-8 */
} cwn_muxed;

typedef struct {
    cwp_memory memory;
    cwc_channels configs;
    cwn_muxed *channel[CWC_CHANNELS];
    uint8_t order[CWC_CHANNELS]; /* ids by priority, of equal ones in the order of turns */
    uint32_t count;
    int alone; /* the channel whose large message was passed over; -1: none */
} cwn_mux;

bool cwn_mux_init(cwn_mux *m, const cwn_channel *const channels[CWC_CHANNELS], cwp_time give_up, cwp_memory memory);
void cwn_mux_end(cwn_mux *m);
const char *cwn_mux_send(cwn_mux *m, cwp_time now, uint8_t channel, const uint8_t *data, size_t size,
                         cwp_time lifetime);
bool cwn_mux_read(cwn_mux *m, cwp_time now, uint8_t channel, uint8_t *out, size_t capacity, cwc_read *what);

/* A record of packet `number`, whose header acks our packet `ack`, or -1 (CHC-3). */
void cwn_mux_take(cwn_mux *m, cwp_time now, int64_t number, int64_t ack, const cwc_record *r);
void cwn_mux_path(cwn_mux *m, const cwc_path *path);
bool cwn_mux_rests(const cwn_mux *m); /* everything reliable is at the peer */

/* What is due, as much as fits into so many bytes more. */
void cwn_mux_reports(cwn_mux *m, cwp_time now, const cwn_limits *l, cwn_payload *p, size_t space);
void cwn_mux_messages(cwn_mux *m, cwp_time now, int64_t number, const cwn_limits *l, cwn_payload *p, size_t space);
void cwn_mux_large(cwn_mux *m, const cwn_limits *l, cwn_payload *p); /* the message that is sent alone */

bool cwn_mux_pending(const cwn_mux *m); /* CXM-3 */
cwp_time cwn_mux_prompt(const cwn_mux *m);
cwp_time cwn_mux_report_at(const cwn_mux *m);

/* ---- Acks that lie (section 8.3) ------------------------------------------------ */

/* What the header of a packet says. */
typedef struct {
    int64_t ack;
    uint32_t bits;
} cwn_said;

typedef struct {
    int64_t number; /* of its packet */
    uint16_t id;    /* of the slice */
    bool acked;
} cwn_transmission;

/* The latest chunk of a lane. */
typedef struct {
    int64_t count; /* of chunks before it; -1: no chunk yet */
    uint32_t num_slices;
    cwn_transmission *sent;
    uint32_t num_sent, capacity;
    bool unknown; /* there were too many to keep */
    cw_set accepted;
    uint32_t on_credit;
} cwn_witnessed;

typedef struct {
    cwp_memory memory;
    uint32_t lanes;
    cwn_witnessed lane[CWS_MOST_LANES];
    bool has_seed;
    uint8_t seed[CWS_KEY];
    uint64_t draws;
    uint32_t until, credit;
    int64_t from; /* the first number on this path */
    uint32_t tried;
    bool arrived;
    cwp_time held_until; /* no slice is sent before (CXM-23) */
} cwn_witness;

void cwn_witness_init(cwn_witness *w, uint32_t lanes, const uint8_t *seed, cwp_memory memory);
void cwn_witness_end(cwn_witness *w);

/* A packet with a slice or messages is sent: whether the number after it is skipped (CXM-18). */
bool cwn_witness_heavy(cwn_witness *w);

/* A packet with a slice is sent. */
void cwn_witness_sent(cwn_witness *w, cwp_time now, int64_t number, const cwn_record *slice, uint32_t variant);
void cwn_witness_acked(cwn_witness *w, int64_t number);
void cwn_witness_settle(cwn_witness *w, bool rests); /* the end of an event */
void cwn_witness_forget_path(cwn_witness *w, int64_t next_to_send);

/* When something held is due, that must not be after `latest`. */
cwp_time cwn_witness_hold(const cwn_witness *w, cwp_time at, cwp_time latest);

/* CXM-20, CXM-21; and what the sender gets of one that does not lie (CXM-22). */
bool cwn_witness_lies(const cwn_witness *w, const cwn_said *said, const cwn_record *ack, uint32_t variant);
void cwn_witness_believe(cwn_witness *w, const cwn_said *said, cwn_record *ack, uint32_t variant);

/* ---- Marks of congestion (section 8.2) ------------------------------------------ */

enum { CWN_ECN_NUMBERS = 1024 };

typedef struct {
    uint64_t arrived, congested;
    bool failed;
    uint64_t sent, acked, counted;
    uint32_t probes;
    cwp_time grew_at; /* CWP_NEVER: it has not */
    uint32_t ect0[CWN_ECN_NUMBERS / 32];
    int64_t largest;                      /* ECT(0) number */
    uint32_t said_arrived, said_congested; /* by the peer, and when last judged */
    uint32_t judged_arrived, judged_congested;
    int64_t newest, latest; /* numbers of packets with a record that counts, and of all */
    bool heard;
} cwn_marks;

void cwn_marks_init(cwn_marks *m);
void cwn_marks_came(cwn_marks *m, cwn_ecn ecn);
bool cwn_marks_sends(cwn_marks *m, cwp_time now, int64_t number); /* CXM-15 */
void cwn_marks_took(cwn_marks *m, int64_t number);
void cwn_marks_heard(cwn_marks *m, int64_t number, const cwn_record *ecn); /* NULL: of a CHUNK_ACK */
void cwn_marks_acked(cwn_marks *m, int64_t number);
uint32_t cwn_marks_settle(cwn_marks *m, cwp_time now); /* CXM-16: marks to report */
void cwn_marks_forget_path(cwn_marks *m);

/* ---- Clocks (section 8.4) -------------------------------------------------------- */

typedef struct {
    cwp_time said_at; /* CWP_NEVER: nothing was said */
    int64_t newest;   /* the number of the packet of the newest record; -1: none came */
    uint64_t sent_there;
    cwp_time came_at;
    bool measured;
    cwn_remote remote;
} cwn_clock;

void cwn_clock_init(cwn_clock *k);
bool cwn_clock_due(const cwn_clock *k, cwp_time now);
void cwn_clock_say(cwn_clock *k, cwp_time now, cwn_record *r); /* CXM-29 */
void cwn_clock_take(cwn_clock *k, cwp_time now, int64_t number, const cwn_record *r); /* CXM-30 */

/* ---- Lanes (appendix D of spec/PROTOCOL.md) --------------------------------------- */

/* A chunk that waits or is sent; its bytes stand behind it. */
typedef struct cwn_chunk cwn_chunk;
struct cwn_chunk {
    cwn_chunk *next;
    size_t size;
};

/* Both directions of a lane; the sender with its scheduler and the receiver are made when used. */
typedef struct cwn_lane_sender cwn_lane_sender;
typedef struct cwn_lane_receiver cwn_lane_receiver;

typedef struct {
    cwp_memory memory;
    uint32_t count, variant;
    cwp_time give_up;
    const cw_profile *base;
    cwr_control path; /* of all lanes (LAN-9), with the recommended schedulers */
    uint32_t most_waiting, num_waiting;
    cwn_chunk *waiting; /* the first */
    cwn_lane_sender *sender[CWS_MOST_LANES];
    cwn_lane_receiver *receiver[CWS_MOST_LANES];
    uint64_t begun, delivered;
} cwn_lanes;

bool cwn_lanes_init(cwn_lanes *l, const cwn_config *config);
void cwn_lanes_end(cwn_lanes *l);
const char *cwn_lanes_send(cwn_lanes *l, cwp_time now, const uint8_t *chunk, size_t size);
bool cwn_lanes_read(cwn_lanes *l, cwp_time now, uint8_t *out, size_t capacity, size_t *size);
void cwn_lanes_take(cwn_lanes *l, cwp_time now, const cwn_record *r);
bool cwn_lanes_rest(const cwn_lanes *l);
bool cwn_lanes_failed(const cwn_lanes *l); /* LAN-6 */

/* The next chunk ack that is due, by ascending lane; false: none is. */
bool cwn_lanes_ack(cwn_lanes *l, cwp_time now, cwn_record *r);
/* The slice that is sent now; false: none is. */
bool cwn_lanes_slice(cwn_lanes *l, cwp_time now, const cwn_witness *w, cwn_record *r);

cwp_time cwn_lanes_slice_at(const cwn_lanes *l, const cwn_witness *w);
cwp_time cwn_lanes_ack_at(const cwn_lanes *l);
void cwn_lanes_yield(cwn_lanes *l, bool yields);
void cwn_lanes_marks(cwn_lanes *l, uint32_t count);
void cwn_lanes_forget_path(cwn_lanes *l, cwp_time now);

#endif
