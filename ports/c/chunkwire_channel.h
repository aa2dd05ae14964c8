/*
 * Channels: messages that arrive, in order or not, over the packet layer of
 * chunkwire_packet.h, of which only the time, the memory and cwp_on_wire are used here.
 *
 * Comments such as CHR-1 name sentences of spec/CHANNELS.md.
 *
 * Units       As in chunkwire_packet.h. Sequences never wrap; in a record they have their
 *             low 16 bits, as on the wire.
 * Memory      A sender takes a ring of send_queue entries once, a receiver one of window;
 *             and a block for each record's data that waits: of a sender at most
 *             send_queue * data bytes, of a receiver window * data, with no block above
 *             data bytes. What a record only announces takes none (CHT-BND-1). The codec
 *             takes none.
 * Threads     No state but in the structs given.
 */
#ifndef CHUNKWIRE_CHANNEL_H
#define CHUNKWIRE_CHANNEL_H

#include "chunkwire_packet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CWC_CHANNELS = 64,
    CWC_MOST_GROUPS = 32,
    CWC_GROUP_SPAN = 33, /* sequences that a group of a report speaks of */
    CWC_MOST_SKIP = 256,
    CWC_PAYLOAD = 1160, /* CHC-2 */
    CWC_MOST_DATA = 1024,
    CWC_MOST_GROUP = 64,
    CWC_MOST_MESSAGE = CWC_MOST_GROUP * CWC_MOST_DATA,
    CWC_MOST_RECORD = 8 + CWC_MOST_DATA, /* bytes of a record of a reliable channel */
    CWC_FRESH = 128,
    CWC_OVERTAKEN = 2,
    CWC_BACKOFF_MOST = 16
};

#define CWC_HOLD_MARGIN ((cwp_time)10000)
#define CWC_HOLD_UNMEASURED ((cwp_time)250000)
#define CWC_PROBE_SOON ((cwp_time)20000)
#define CWC_PROBE_MARGIN ((cwp_time)20000)
#define CWC_LEAST_CAP ((cwp_time)250000)
#define CWC_REPEAT_LEAST ((cwp_time)20000)
#define CWC_REPEAT_UNMEASURED ((cwp_time)50000)
#define CWC_REPORT_DELAY ((cwp_time)20000)
#define CWC_REPORT_SPACING ((cwp_time)5000)
#define CWC_MOST_FIRST ((int64_t)1 << 32)

/* ---- Parameters (section 2.3) ----------------------------------------------- */

/* Of these a channel has one. The codec takes several: then records of each fit. */
enum { CWC_ORDERED = 1, CWC_UNORDERED = 2, CWC_UNRELIABLE = 4 };

/* The parameters of CHP-1. */
typedef struct {
    unsigned kind;       /* the same at both ends */
    uint32_t window;     /* sequences, a power of two, 32 to 16,384; the same at both ends */
    uint32_t data;       /* bytes, 1 to CWC_MOST_DATA; the same at both ends */
    uint32_t group;      /* fragments, 2 to CWC_MOST_GROUP; the same at both ends */
    uint32_t send_queue; /* entries, the smaller of group and window to 32,768 */
    cwp_time give_up;    /* 1 s to 3,600 s */
    int64_t first;       /* 0 to CWC_MOST_FIRST; the same at both ends */
} cwc_config;

cwc_config cwc_default_config(unsigned kind);
bool cwc_config_allowed(const cwc_config *c);

/* The most fragments of a message, and its most bytes (D1). */
uint32_t cwc_most_fragments(const cwc_config *c);
size_t cwc_most_message(const cwc_config *c);

/* By id. NULL: there is no such channel. */
typedef struct {
    const cwc_config *config[CWC_CHANNELS];
} cwc_channels;

/* ---- Records (section 3) ---------------------------------------------------- */

typedef enum {
    CWC_OK = 0,
    CWC_TRUNCATED,
    CWC_UNKNOWN_RECORD,
    CWC_UNKNOWN_CHANNEL,
    CWC_CHANNEL_KIND,
    CWC_LENGTH,
    CWC_FRAGMENT_COUNT,
    CWC_FRAGMENT_INDEX,
    CWC_ROOM,
    CWC_GROUP_COUNT,
    CWC_GROUP_START,
    CWC_GROUP_ORDER,
    CWC_GROUP_BITS,
    CWC_GROUP_BASE,
    CWC_INVALID_FIELD,
    CWC_MESSAGE_SIZE, /* from here on of a sender: the fault lies in no byte */
    CWC_QUEUE_FULL,
    CWC_FAILED,
    CWC_NO_SPACE, /* from here on no code of the protocol: a payload is full */
    CWC_NO_MEMORY,
    CWC_ERRORS
} cwc_error;

/* The code's name as the document writes it, such as "truncated"; "ok" for CWC_OK. */
const char *cwc_error_name(cwc_error e);

/* The types on the wire (CHR-8). */
enum { CWC_PAD, CWC_UNRELIABLE_MESSAGE, CWC_MESSAGE, CWC_FRAGMENT, CWC_SKIP, CWC_REPORT, CWC_STATUS };

typedef struct {
    int64_t start;
    int64_t bits; /* bit i: start - 1 - i is missing, too */
} cwc_group;

/* Fields are wider than on the wire, so that an encoder can refuse what does not fit. */
typedef struct {
    int64_t type;
    int64_t channel;
    int64_t sequence; /* of a skip its first, of a report its base, of a status its next */
    int64_t index;    /* of a fragment */
    int64_t count;    /* of a fragment or a skip */
    int64_t room;     /* of a report; and the rest of it */
    int64_t num_groups;
    cwc_group groups[CWC_MOST_GROUPS]; /* ascending */
    const uint8_t *data;               /* of messages and fragments; decoded it lies in the payload */
    size_t size;
} cwc_record;

/* Decodes the record at *at and moves *at behind it; on an error *at becomes the place of
 * the fault (3.2), and *r holds nothing of use. */
cwc_error cwc_decode(const cwc_channels *c, const uint8_t *payload, size_t size, size_t *at, cwc_record *r);

/* Decodes a whole payload, of which nothing counts before (CHR-1), and says whether it must be
 * taken quietly (CHR-4). On an error *place is the byte at fault; both may be NULL. */
cwc_error cwc_check(const cwc_channels *c, const uint8_t *payload, size_t size, bool *quiet, size_t *place);

/* Appends a record to a payload of *size bytes, which has room for capacity. On an error the
 * payload stays as it is, and *place (may be NULL) is where the field would be (CHR-7). */
cwc_error cwc_append(const cwc_channels *c, const cwc_record *r, uint8_t *payload, size_t capacity, size_t *size,
                     size_t *place);

/* The report of what is missing from base to below top (CHV-6), with at most `most` groups. */
typedef struct {
    bool (*missing)(const void *owner, int64_t n);
    const void *owner;
    int64_t base, top;
} cwc_missing;

void cwc_report(const cwc_missing *m, int64_t room, size_t most, cwc_record *r);

/* ---- What both machines share ----------------------------------------------- */

/* CHP-3 */
typedef struct {
    bool measured;
    cwp_time srtt;     /* 0 to 2^40; 0 while it is not measured */
    cwp_time patience; /* 0 to 2^40 */
} cwc_path;

/* ---- Receiver (section 5) --------------------------------------------------- */

/* The rows of section 5.2. CWC_V_NONE is no row: see each function. */
typedef enum {
    CWC_V_NONE = 0,
    CWC_V1, CWC_V2, CWC_V3, CWC_V4, CWC_V5, CWC_V6, CWC_V7, CWC_V8, CWC_V9, CWC_V10, CWC_V11, CWC_V12, CWC_V13,
    CWC_V14, CWC_V15, CWC_V16, CWC_V17, CWC_V18, CWC_V19, CWC_V20, CWC_V21
} cwc_receiver_row;

/* Of a sequence from tail on (CHV-15). */
typedef struct {
    uint8_t *data; /* NULL: skipped, or done with */
    uint16_t size;
    uint8_t kind;
    uint8_t index, count; /* of a fragment */
    bool done;
} cwc_held;

typedef struct {
    bool skipped;
    int64_t sequence; /* of a group its first */
    size_t size;      /* 0 if skipped */
} cwc_read;

/* Read the fields up to the blank line as you like; write none (CHV-8). */
typedef struct {
    bool failed;
    int64_t tail, base, top;
    uint64_t beyond, conflict; /* counters of what was refused */

    cwc_config config;
    uint8_t channel;
    cwp_memory memory;
    cwc_path path;
    cwp_time latest; /* CHN-3 */
    cwc_held *have;  /* of tail to tail + window - 1 */
    uint16_t *ready; /* unordered: places in have */
    uint32_t first_ready, num_ready;
    cwp_time progress_at, report_at, last_report;
    bool reported; /* there was a report */
    unsigned wait;
} cwc_receiver;

/* False: a parameter is not allowed, the channel is unreliable, or there is no memory; then
 * r must not be used (CHP-2). */
bool cwc_receiver_init(cwc_receiver *r, const cwc_config *config, uint8_t channel, cwp_memory memory);

void cwc_receiver_path(cwc_receiver *r, const cwc_path *path);

/* A record that was decoded with these parameters: a message, a fragment, a skip or a status.
 * CWC_V_NONE: it is another; or there is no memory for its data, and nothing happened, as if
 * it had been lost. */
cwc_receiver_row cwc_receiver_record(cwc_receiver *r, cwp_time now, const cwc_record *record);

/* The next thing that is ready; with CWC_V11 and CWC_V17 there is one. CWC_V_NONE: out is too
 * small for what->size bytes; nothing happened. cwc_most_message bytes are always enough. */
cwc_receiver_row cwc_receiver_read(cwc_receiver *r, cwp_time now, uint8_t *out, size_t capacity, cwc_read *what);

/* Timers. With CWC_V14 there is a report, of at most space bytes, to append to the payload. */
cwc_receiver_row cwc_receiver_poll(cwc_receiver *r, cwp_time now, size_t space, cwc_record *report);

/* CHV-11 */
cwp_time cwc_receiver_deadline(const cwc_receiver *r);

/* Gives all blocks back; the receiver must not be used any more. */
void cwc_receiver_end(cwc_receiver *r);

/* ---- Sender (section 4) ----------------------------------------------------- */

/* The rows of section 4.2. CWC_D_NONE is no row: see each function. */
typedef enum {
    CWC_D_NONE = 0,
    CWC_D1, CWC_D2, CWC_D3, CWC_D4, CWC_D5, CWC_D6, CWC_D7, CWC_D8, CWC_D9, CWC_D10, CWC_D11, CWC_D12, CWC_D13
} cwc_sender_row;

/* Of a sequence from base on (CHS-14). */
typedef struct {
    uint8_t *data; /* NULL: gone */
    cwp_time dies_at;
    int64_t packet; /* of its latest transmission, if it was sent */
    cwp_time at;
    uint16_t size;
    uint8_t index, count; /* of a fragment; count is 0 of a message */
    bool gone, due, again; /* again: it was sent more than once */
} cwc_entry;

/* Read the fields up to the blank line as you like; write none (CHS-7). */
typedef struct {
    bool failed;
    int64_t base, next, sent, limit; /* next - base: entries that are not released */
    uint64_t implausible;            /* counter of reports */

    cwc_config config;
    uint8_t channel;
    cwp_memory memory;
    cwc_path path;
    cwp_time latest;    /* CHN-3 */
    cwc_entry *entries; /* of base to next - 1 */
    int64_t resent; /* 1 + the highest sequence that was sent more than once */
    int64_t heard;
    cwp_time heard_at, said_at;
    unsigned backoff;
    int64_t packet_now, fresh;
    int64_t first_due; /* no entry below it is due */
    cwp_time dies_at;  /* the smallest of an entry that is not gone */
} cwc_sender;

/* False: as cwc_receiver_init. */
bool cwc_sender_init(cwc_sender *s, const cwc_config *config, uint8_t channel, cwp_memory memory);

void cwc_sender_path(cwc_sender *s, const cwc_path *path);

/* Copies a message. lifetime is 1 to 2^40, or CWP_NEVER for none. *refused (may be NULL) is
 * CWC_OK, or why not; CWC_D_NONE: CWC_NO_MEMORY, and nothing happened. */
cwc_sender_row cwc_sender_send(cwc_sender *s, cwp_time now, const uint8_t *data, size_t size, cwp_time lifetime,
                               cwc_error *refused);

/* A report that was decoded with these parameters, the number of its packet, and the newest
 * packet of ours that the peer knew of, -1 if none: number and known of cwp_arrival.
 * CWC_D_NONE: it is another record. */
cwc_sender_row cwc_sender_report(cwc_sender *s, cwp_time now, const cwc_record *report, int64_t number, int64_t ack);

/* For the packet of this number, with so many bytes left: with CWC_D8 and CWC_D9 there is a
 * record, to append to the payload before anything else is asked of s; then poll again (CHS-12). */
cwc_sender_row cwc_sender_poll(cwc_sender *s, cwp_time now, int64_t number, size_t space, cwc_record *record);

/* Whether something waits that was never sent, and may be (CHC-9). */
bool cwc_sender_pending(const cwc_sender *s);

/* When something is due that does not wait for that (CHC-10). */
cwp_time cwc_sender_prompt(const cwc_sender *s);

/* CHS-5 */
cwp_time cwc_sender_deadline(const cwc_sender *s);

/* Gives all blocks back; the sender must not be used any more. */
void cwc_sender_end(cwc_sender *s);

#ifdef __cplusplus
}
#endif

#endif
