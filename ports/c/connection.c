/* One end of a connection (sections 8 and 9). See chunkwire_connection.h. */
#include "connection_parts.h"
#include "session_keys.h"

#include <string.h>

#define MS ((cwp_time)1000)
#define SECOND ((cwp_time)1000000)
#define TICK ((cwp_time)16667)
#define LEAST_TICK (5 * MS)
#define BAD_TICK (100 * MS)
#define MOST_RATE ((int64_t)8000000000)
#define BYTE ((int64_t)8000000) /* the unit of budgets is a millionth of a bit (CXM-4) */
#define BURST (BYTE * 16384)
#define LONGEST_REFILL ((cwp_time)1000000000)
#define CLOSE_FIRST (20 * MS)
#define CLOSE_TIME SECOND
#define KEY_TIME (86400 * SECOND)
#define YIELD_TIME SECOND
#define MOST_KEEP_ALIVE (15 * SECOND)
#define LONGEST_GIVE_UP (3600 * SECOND)

enum {
    LEAST_RATE = 64000,
    MESSAGE_RATE = 1000000,
    WAITING_CHUNKS = 8,
    CONNECTION_RECEIVED = 2048,
    CHANNEL_WINDOW = 256, /* CXM-26 */
    HEADERS = 28,         /* of IP and UDP */
    BESIDE_SLICE = CWC_PAYLOAD - CWN_MOST_SLICE,
    CLOSE_TIMES = 6,
    MOST_CLOSE = 4 + CWN_MOST_TEXT
};

/* What the payload of a datagram was found to be (CXM-7). */
typedef struct {
    const char *refused;
    int place;
    bool closes, lies, news;
} taking;

struct cwn_connection {
    cwn_config config;
    cws_envelope *envelope;
    cwn_limits limits;
    cwp_endpoint endpoint;
    cwp_congestion congestion;
    cwn_mux mux;
    cwn_lanes lanes;
    cwn_witness witness;
    cwn_marks marks;
    cwn_clock clock;
    cwn_state state;
    cwn_ending ended;
    cwp_time latest; /* CXN-3 */
    cwp_time timeout, heard_at, worn_at;
    cwp_time unacked_at;  /* CWP_NEVER: none (CXL-18) */
    cwp_time sent_at;     /* CWP_NEVER: nothing was sent */
    cwp_time messages_at; /* CWP_NEVER: no messages were sent */
    cwp_time tick_at, budget_at;
    cwp_time polled_at; /* when a poll gave nothing, and no event came since; CWP_NEVER: none */
    int64_t budget, reports;
    bool confirmed, ticking, moving;
    uint32_t code; /* of our CLOSE, with the text of `ended` if the application closed */
    bool with_text;
    cwp_time close_at, said_at;
    uint32_t said;
    bool again, owed;
    taking taking;    /* of the event at hand */
    uint32_t told;    /* marks */
    cwp_sent out;     /* the packet whose fragments are sealed */
    uint32_t next_out; /* of them; out.datagrams: none waits */
    uint8_t payload[CWN_MOST_PAYLOAD];
    uint8_t assembly[CWN_MOST_PAYLOAD];
};

static cwp_time earlier(cwp_time a, cwp_time b) { return a < b ? a : b; }
static cwp_time later(cwp_time a, cwp_time b) { return a > b ? a : b; }
static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- Begin and end -------------------------------------------------------------- */

cwn_config cwn_default_config(cwn_side side, const cws_agreed *agreed)
{
    cwn_config f;
    memset(&f, 0, sizeof f);
    f.side = side;
    f.agreed = *agreed;
    f.tick = TICK;
    f.message_rate = MESSAGE_RATE;
    f.give_up = earlier(2 * (cwp_time)agreed->timeout * CWS_TIMEOUT_UNIT, LONGEST_GIVE_UP); /* CXP-6 */
    f.profile = cwr_profile_adaptive();
    f.waiting_chunks = WAITING_CHUNKS;
    return f;
}

static cwp_verdict judge(void *owner, const cwp_arrival *a);

static void on_acked(void *owner, int64_t number)
{
    cwn_connection *c = (cwn_connection *)owner;
    c->taking.news = true;
    c->unacked_at = CWP_NEVER;
    cwn_witness_acked(&c->witness, number);
    cwn_marks_acked(&c->marks, number);
}

static bool open_parts(cwn_connection *c)
{
    const cwn_config *f = &c->config;
    cwp_above above = {judge, on_acked, NULL, NULL};
    cwp_config packets = cwp_default_config();
    packets.received = CONNECTION_RECEIVED;
    above.owner = c;
    if (!cwn_lanes_init(&c->lanes, f) || !cwn_mux_init(&c->mux, f->channels, f->give_up, f->memory)) {
        return false;
    }
    if (!cwp_endpoint_init(&c->endpoint, &packets, f->memory, above, c->assembly)) {
        cwn_mux_end(&c->mux);
        return false;
    }
    return true;
}

static void begin_variables(cwn_connection *c, cwp_time now)
{
    const cws_agreed *a = &c->config.agreed;
    c->limits.channels = &c->mux.configs;
    c->limits.lanes = a->lanes;
    c->limits.variant = a->lanes > 0 ? a->variant : CWS_NAMED;
    c->limits.marks = (a->extensions & CWS_MARKS) != 0;
    c->limits.clocks = (a->extensions & CWS_CLOCKS) != 0;
    c->timeout = (cwp_time)a->timeout * CWS_TIMEOUT_UNIT;
    c->confirmed = c->config.side == CWN_SERVER;
    c->latest = c->heard_at = c->tick_at = c->budget_at = now;
    c->worn_at = c->envelope->mode == CWS_CRC ? CWP_NEVER : now + KEY_TIME; /* CXE-12 */
    c->sent_at = c->messages_at = c->said_at = c->polled_at = c->unacked_at = CWP_NEVER;
    c->budget = c->reports = BURST;
    cwp_congestion_init(&c->congestion, CWP_DEFAULT);
    cwn_marks_init(&c->marks);
    cwn_clock_init(&c->clock);
    cwn_witness_init(&c->witness, a->lanes, c->config.has_seed ? c->config.seed : NULL,
                     c->config.memory);
}

static bool is_allowed(const cwn_config *f)
{
    return f->agreed.lanes <= CWS_MOST_LANES && f->tick >= LEAST_TICK && f->tick <= BAD_TICK &&
           f->message_rate >= LEAST_RATE && f->message_rate <= MOST_RATE;
}

cwn_connection *cwn_new(cwp_time now, cws_envelope *envelope, const cwn_config *config)
{
    cwp_memory memory = config->memory;
    cwn_connection *c = is_allowed(config) ? (cwn_connection *)memory.take(memory.owner, sizeof *c) : NULL;
    if (c == NULL) {
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->config = *config;
    c->envelope = envelope;
    if (!open_parts(c)) {
        memory.give(memory.owner, c, sizeof *c);
        return NULL;
    }
    begin_variables(c, now);
    return c;
}

void cwn_free(cwn_connection *c)
{
    cwp_memory memory = c->config.memory;
    cwn_witness_end(&c->witness);
    cwn_lanes_end(&c->lanes);
    cwn_mux_end(&c->mux);
    cwp_endpoint_end(&c->endpoint);
    cws_wipe(c, sizeof *c);
    memory.give(memory.owner, c, sizeof *c);
}

cwn_state cwn_state_of(const cwn_connection *c) { return c->state; }
const cwn_ending *cwn_ending_of(const cwn_connection *c) { return &c->ended; }
const cwp_endpoint *cwn_packets(const cwn_connection *c) { return &c->endpoint; }
cwp_mode cwn_mode(const cwn_connection *c) { return c->congestion.mode; }

bool cwn_remote_clock(const cwn_connection *c, cwn_remote *r)
{
    *r = c->clock.remote;
    return c->clock.measured;
}

bool cwn_is_delivered(const cwn_connection *c) { return cwn_lanes_rest(&c->lanes) && cwn_mux_rests(&c->mux); }

bool cwn_has_failed(const cwn_connection *c, uint8_t channel)
{
    const cwn_muxed *m = channel < CWC_CHANNELS ? c->mux.channel[channel] : NULL;
    return m != NULL && (m->sender.failed || m->receiver.failed);
}

/* ---- What each event does ------------------------------------------------------- */

static bool is_good(const cwn_connection *c) { return c->congestion.mode == CWP_GOOD; }

static int64_t rate(const cwn_connection *c)
{
    return is_good(c) ? c->config.message_rate : c->config.message_rate / 4;
}

/* At first: CXN-3, CXM-4, CXM-25. */
static cwp_time begin(cwn_connection *c, cwp_time time)
{
    cwp_time now = later(time, c->latest);
    int64_t passed = lesser(now - c->budget_at, LONGEST_REFILL);
    c->budget = lesser(c->budget + passed * rate(c), BURST);
    c->reports = lesser(c->reports + passed * (rate(c) / 4), BURST);
    c->latest = c->budget_at = now;
    c->polled_at = CWP_NEVER;
    memset(&c->taking, 0, sizeof c->taking);
    c->told = 0;
    return now;
}

/* At last: CXM-6, CXM-16. */
static void learn(cwn_connection *c, cwp_time now)
{
    const cwp_round_trip *t = &c->endpoint.round_trip;
    cwc_path path = {t->measured, t->srtt, 0};
    uint32_t told = c->limits.marks ? cwn_marks_settle(&c->marks, now) : 0;
    cwn_witness_settle(&c->witness, cwn_lanes_rest(&c->lanes));
    c->told += told;
    cwn_lanes_marks(&c->lanes, told);
    path.patience = cwp_patience_at(&c->endpoint.patience, now);
    cwn_mux_path(&c->mux, &path);
}

/* PKC-2 */
static void evaluate(cwn_connection *c, cwp_time now)
{
    (void)cwp_congestion_evaluate(&c->congestion, now, &c->endpoint.round_trip, cwp_silent(&c->endpoint));
}

/* CXL-10 */
static void forget_path(cwn_connection *c, cwp_time now)
{
    c->unacked_at = CWP_NEVER;
    cwp_forget_path(&c->endpoint);
    cwp_congestion_init(&c->congestion, CWP_DEFAULT);
    cwn_lanes_forget_path(&c->lanes, now);
    cwn_marks_forget_path(&c->marks);
    cwn_witness_forget_path(&c->witness, c->endpoint.next_to_send);
    learn(c, now);
}

static void drop_fragments(cwn_connection *c) { c->next_out = c->out.datagrams; }

static void end(cwn_connection *c, cwn_why why)
{
    c->state = CWN_CLOSED;
    c->ended.why = why;
    drop_fragments(c);
}

/* CXL-5 */
static void start_closing(cwn_connection *c, cwp_time now, cwn_why why, uint32_t code)
{
    c->state = CWN_CLOSING;
    c->ended.why = why;
    c->code = code;
    c->with_text = why == CWN_E_CLOSED;
    c->close_at = now;
    c->said = 0;
    drop_fragments(c);
}

/* ---- Receiving ------------------------------------------------------------------ */

static bool is_reliable(const cwn_record *r) { return r->type >= CWC_MESSAGE && r->type <= CWC_STATUS; }

/* CXM-19 */
static bool header_lies(const cwn_connection *c, const cwn_said *said)
{
    if (said->ack < -1 || cwp_skipped(&c->endpoint, said->ack)) {
        return true;
    }
    for (int n = 0; n < CWP_ACK_BITS; n++) {
        int64_t number = said->ack - n;
        if ((said->bits >> n & 1) != 0 && (number < 0 || cwp_skipped(&c->endpoint, number))) {
            return true;
        }
    }
    return false;
}

/* Whether a payload that was checked has a record that is so. */
static bool has_record(cwn_connection *c, const cwp_arrival *a, bool (*is)(cwn_connection *, const cwn_said *, cwn_record *))
{
    cwn_said said = {0, 0};
    cwn_record r;
    said.ack = a->ack;
    said.bits = a->ack_bits;
    for (size_t at = 0; at < a->size;) {
        (void)cwn_decode(&c->limits, a->payload, a->size, &at, &r);
        if (is(c, &said, &r)) {
            return true;
        }
    }
    return false;
}

static bool of_a_channel(cwn_connection *c, const cwn_said *said, cwn_record *r)
{
    (void)c, (void)said;
    return is_reliable(r);
}

static bool an_ack_that_lies(cwn_connection *c, const cwn_said *said, cwn_record *r)
{
    return r->type == CWN_CHUNK_ACK && cwn_witness_lies(&c->witness, said, r, c->limits.variant);
}

static bool not_quiet(cwn_connection *c, const cwn_said *said, cwn_record *r)
{
    (void)c, (void)said;
    return !cwn_is_quiet(r);
}

static void take_close(cwn_connection *c, const cwn_record *r)
{
    c->taking.closes = true;
    if (c->state == CWN_OPEN) {
        c->ended.code = r->code;
        c->ended.text_size = r->text_size;
        memcpy(c->ended.text, r->text, r->text_size);
        c->ended.remote = true;
    }
}

static void take_record(cwn_connection *c, const cwp_arrival *a, cwn_record *r)
{
    cwn_said said = {0, 0};
    said.ack = a->ack;
    said.bits = a->ack_bits;
    if (r->type == CWN_CLOSE) {
        take_close(c, r);
    } else if (c->state != CWN_OPEN) {
        return;
    } else if (r->type == CWN_ECN) {
        cwn_marks_heard(&c->marks, a->number, r);
    } else if (r->type == CWN_CLOCK) {
        cwn_clock_take(&c->clock, c->latest, a->number, r);
    } else if (r->type == CWN_CHUNK_ACK) {
        cwn_witness_believe(&c->witness, &said, r, c->limits.variant);
        cwn_lanes_take(&c->lanes, c->latest, r);
        cwn_marks_heard(&c->marks, a->number, NULL);
    } else if (r->type == CWN_SLICE) {
        cwn_lanes_take(&c->lanes, c->latest, r);
    } else {
        cwn_mux_take(&c->mux, c->latest, a->number, a->known, &r->channel);
    }
}

static void take_records(cwn_connection *c, const cwp_arrival *a)
{
    cwn_record r;
    cwn_marks_took(&c->marks, a->number);
    for (size_t at = 0; at < a->size;) {
        (void)cwn_decode(&c->limits, a->payload, a->size, &at, &r);
        take_record(c, a, &r);
    }
}

static cwp_verdict refuse(cwn_connection *c, const char *code, int place)
{
    c->taking.refused = code;
    c->taking.place = place;
    return CWP_REFUSE;
}

/* The verdict on a payload, and what is done with its records (CXM-7). */
static cwp_verdict judge(void *owner, const cwp_arrival *a)
{
    cwn_connection *c = (cwn_connection *)owner;
    cwn_said said = {0, 0};
    size_t place;
    const char *code = cwn_check(&c->limits, a->payload, a->size, &place);
    bool quiet;
    said.ack = a->ack;
    said.bits = a->ack_bits;
    if (code != NULL) {
        return refuse(c, code, (int)place);
    }
    if (a->number < c->endpoint.next - CHANNEL_WINDOW && has_record(c, a, of_a_channel)) {
        return CWP_REFUSE; /* CXM-26 */
    }
    if (c->state == CWN_OPEN && (header_lies(c, &said) || has_record(c, a, an_ack_that_lies))) {
        c->taking.lies = true;
        return refuse(c, "lie", -1);
    }
    quiet = c->state != CWN_OPEN || !has_record(c, a, not_quiet);
    take_records(c, a);
    return quiet ? CWP_TAKE_QUIETLY : CWP_TAKE;
}

/* CXL-4, CXL-6; the row of a datagram that was opened. */
static int hear(cwn_connection *c, cwp_time now, bool was_closing)
{
    c->heard_at = now;
    c->confirmed = true;
    if (was_closing) {
        c->again = c->again || !c->taking.closes;
        c->state = c->taking.closes ? CWN_CLOSED : CWN_CLOSING;
        return c->taking.closes ? 10 : 11;
    }
    if (!c->taking.closes) {
        return 3;
    }
    c->owed = true;
    c->code = CWN_DONE;
    c->with_text = false;
    c->close_at = now;
    c->said = 0;
    end(c, CWN_E_CLOSED);
    return 2;
}

void cwn_receive_opened(cwn_connection *c, cwp_time time, const uint8_t *body, size_t size, cwn_ecn ecn, cwn_receipt *r)
{
    cwp_time now = begin(c, time);
    bool was_closing = c->state == CWN_CLOSING;
    cwp_receipt packet;
    cwn_marks_came(&c->marks, ecn);
    cwp_receive(&c->endpoint, now, body, size, &packet);
    if (packet.sampled) {
        evaluate(c, now);
    }
    if (packet.error != CWP_OK && c->taking.refused == NULL) {
        (void)refuse(c, cwp_error_name(packet.error), packet.place);
    }
    learn(c, now);
    r->refused = c->taking.refused;
    r->place = c->taking.place;
    r->news = c->taking.news;
    r->marked = c->told;
    if (c->taking.lies) {
        start_closing(c, now, CWN_E_LIED, CWN_LIED);
        r->row = 23;
    } else {
        r->row = hear(c, now, was_closing);
    }
}

void cwn_receive(cwn_connection *c, cwp_time now, const uint8_t *datagram, size_t length, cwn_ecn ecn, cwn_receipt *r)
{
    cws_opened opened;
    cws_error e;
    memset(r, 0, sizeof *r);
    if (c->state == CWN_CLOSED) {
        (void)begin(c, now);
        r->row = 16;
        return;
    }
    e = cws_open(c->envelope, datagram, length, &opened, &r->place);
    if (e == CWS_OK) {
        cwn_receive_opened(c, now, opened.body, opened.size, ecn, r);
        return;
    }
    (void)begin(c, now);
    r->row = c->state == CWN_CLOSING ? 9 : 1;
    r->refused = cws_error_name(e);
}

/* ---- The application ------------------------------------------------------------ */

const char *cwn_send(cwn_connection *c, cwp_time time, uint8_t channel, const uint8_t *data, size_t size,
                     cwp_time lifetime)
{
    cwp_time now = begin(c, time);
    return c->state == CWN_OPEN ? cwn_mux_send(&c->mux, now, channel, data, size, lifetime) : "ended";
}

void cwn_end_tick(cwn_connection *c, cwp_time time)
{
    cwp_time now = begin(c, time);
    if (is_good(c)) {
        c->tick_at = earlier(c->tick_at, now);
    }
}

bool cwn_read(cwn_connection *c, cwp_time time, uint8_t channel, uint8_t *out, size_t capacity, cwc_read *what)
{
    cwp_time now = begin(c, time);
    return cwn_mux_read(&c->mux, now, channel, out, capacity, what);
}

const char *cwn_send_chunk(cwn_connection *c, cwp_time time, const uint8_t *chunk, size_t size)
{
    cwp_time now = begin(c, time);
    return c->state == CWN_OPEN ? cwn_lanes_send(&c->lanes, now, chunk, size) : "ended";
}

bool cwn_read_chunk(cwn_connection *c, cwp_time time, uint8_t *out, size_t capacity, size_t *size)
{
    cwp_time now = begin(c, time);
    return cwn_lanes_read(&c->lanes, now, out, capacity, size);
}

/* CXR-4 */
static const char *check_close(const cwn_connection *c, uint32_t code, const uint8_t *text, size_t size)
{
    uint8_t bytes[MOST_CLOSE];
    cwn_payload p = {bytes, sizeof bytes, 0, CWC_PAD, false};
    cwn_record r;
    size_t place;
    if ((code != CWN_DONE && code < CWN_FIRST_CODE) || code > UINT16_MAX) {
        return "reserved";
    }
    memset(&r, 0, sizeof r);
    r.type = CWN_CLOSE;
    r.code = code;
    r.text = text;
    r.text_size = size;
    return cwn_append(&c->limits, &r, &p, &place);
}

const char *cwn_close(cwn_connection *c, cwp_time time, uint32_t code, const uint8_t *text, size_t size, int *row)
{
    const char *refused = check_close(c, code, text, size);
    cwp_time now;
    *row = 0;
    if (refused != NULL) {
        return refused;
    }
    now = begin(c, time);
    if (c->state != CWN_OPEN) {
        *row = c->state == CWN_CLOSING ? 15 : 17;
        return NULL;
    }
    start_closing(c, now, CWN_E_CLOSED, code);
    c->ended.code = code;
    c->ended.text_size = size;
    if (size > 0) {
        memcpy(c->ended.text, text, size);
    }
    *row = 4;
    return NULL;
}

int cwn_end(cwn_connection *c, cwp_time now)
{
    static const int rows[] = {20, 21, 22};
    int row = rows[c->state];
    (void)begin(c, now);
    if (c->state == CWN_OPEN) {
        end(c, CWN_E_ENDED);
    }
    c->state = CWN_CLOSED;
    return row;
}

void cwn_move(cwn_connection *c, cwp_time now)
{
    forget_path(c, begin(c, now));
    c->moving = true;
}

void cwn_relinked(cwn_connection *c, cwp_time time, bool other_path)
{
    cwp_time now = begin(c, time);
    c->heard_at = now;
    c->unacked_at = CWP_NEVER;
    c->moving = false;
    if (other_path) {
        forget_path(c, now);
    }
}

/* ---- Times ---------------------------------------------------------------------- */

static cwp_time alive_at(const cwn_connection *c)
{
    if (c->sent_at == CWP_NEVER) {
        return 0;
    }
    return c->sent_at + (c->confirmed ? earlier(c->timeout / 8, MOST_KEEP_ALIVE) : CWS_LINK_INTERVAL);
}

/* How long until a budget is not below 0 (CXM-9). */
static cwp_time until(int64_t budget, int64_t pace) { return budget >= 0 ? 0 : (-budget + pace - 1) / pace; }

static cwp_time report_at(const cwn_connection *c)
{
    cwp_time at = cwn_mux_report_at(&c->mux);
    return at == CWP_NEVER || c->reports >= 0 ? at : later(at, c->latest + until(c->reports, rate(c) / 4));
}

/* CXM-9 6 */
static cwp_time messages_at(const cwn_connection *c)
{
    cwp_time wanted = c->ticking ? 0 : cwn_mux_prompt(&c->mux);
    if (!c->ticking && cwn_mux_pending(&c->mux)) {
        wanted = earlier(wanted, c->tick_at);
    }
    return wanted == CWP_NEVER ? wanted : later(wanted, c->latest + until(c->budget, rate(c)));
}

/* How many of the times of CXL-5 have passed, and the one after them. */
static const int64_t close_times[CLOSE_TIMES] = {0, 1, 3, 7, 15, 31};

static uint32_t close_times_passed(const cwn_connection *c, cwp_time now)
{
    uint32_t n = 0;
    while (n < CLOSE_TIMES && now - c->close_at >= close_times[n] * CLOSE_FIRST) {
        n++;
    }
    return n;
}

static cwp_time next_close(const cwn_connection *c)
{
    cwp_time at = c->said < CLOSE_TIMES ? c->close_at + close_times[c->said] * CLOSE_FIRST : CWP_NEVER;
    return c->again && c->said_at != CWP_NEVER ? earlier(at, c->said_at + CLOSE_FIRST) : at;
}

static bool is_worn(const cwn_connection *c) { return cws_envelope_worn(c->envelope) || c->latest >= c->worn_at; }

static bool has_failed(const cwn_connection *c) { return cwn_lanes_failed(&c->lanes) || is_worn(c); }

/* When it times out (CXL-3). */
static cwp_time ends_at(const cwn_connection *c) { return earlier(c->heard_at, c->unacked_at) + c->timeout; }

static cwp_time open_deadline(const cwn_connection *c)
{
    cwp_time at = ends_at(c);
    if (c->moving) {
        return at;
    }
    if (c->next_out < c->out.datagrams || has_failed(c)) {
        return c->latest;
    }
    at = earlier(at, earlier(alive_at(c), c->worn_at));
    at = earlier(at, earlier(cwp_deadline(&c->endpoint), cwp_congestion_deadline(&c->congestion)));
    at = earlier(at, earlier(cwn_lanes_ack_at(&c->lanes), cwn_lanes_slice_at(&c->lanes, &c->witness)));
    return earlier(at, earlier(report_at(c), messages_at(c)));
}

cwp_time cwn_deadline(const cwn_connection *c)
{
    cwp_time at = c->owed ? c->latest : CWP_NEVER;
    if (c->state == CWN_OPEN) {
        at = open_deadline(c);
    } else if (c->state == CWN_CLOSING) {
        at = earlier(c->moving ? CWP_NEVER : next_close(c), c->close_at + CLOSE_TIME);
    }
    return at == CWP_NEVER ? at : later(at, c->polled_at == c->latest ? c->latest + 1 : c->latest);
}

/* ---- Composition (section 8.1) -------------------------------------------------- */

/* A payload that is composed (CXM-1): the bytes of its parts. */
typedef struct {
    cwn_payload payload;
    size_t free;    /* of steps 3 and 4, and of these the reports; and a CLOCK */
    size_t reports;
    size_t charged; /* of steps 2 and 5 */
    bool has_slice;
    cwn_record slice;
} composed;

/* CXM-3 1 */
static void tick(cwn_connection *c, cwp_time now)
{
    if (c->ticking || now < c->tick_at || c->budget < 0 || !cwn_mux_pending(&c->mux)) {
        return;
    }
    c->ticking = true;
    c->tick_at = now + (is_good(c) ? c->config.tick : later(c->config.tick, BAD_TICK));
}

static size_t left(const composed *p) { return CWC_PAYLOAD - p->payload.size; }

/* CXM-14 */
static void add_ecn(cwn_connection *c, composed *p)
{
    cwn_record r;
    size_t place;
    memset(&r, 0, sizeof r);
    r.type = CWN_ECN;
    r.arrived = (uint32_t)(c->marks.arrived & UINT16_MAX);
    r.congested = (uint32_t)(c->marks.congested & UINT16_MAX);
    (void)cwn_append(&c->limits, &r, &p->payload, &place);
}

/* Steps 3 and 4. */
static void add_free(cwn_connection *c, cwp_time now, composed *p)
{
    bool counted = c->limits.marks && c->marks.arrived > 0;
    size_t least = CWN_MOST_CHUNK_ACK + (counted ? CWN_ECN_BYTES : 0);
    size_t place;
    size_t before;
    cwn_record r;
    while (left(p) >= least && cwn_lanes_ack(&c->lanes, now, &r)) {
        (void)cwn_append(&c->limits, &r, &p->payload, &place);
    }
    if (counted && p->payload.size > 0) {
        add_ecn(c, p);
    }
    before = p->payload.size;
    if (c->reports >= 0) {
        cwn_mux_reports(&c->mux, now, &c->limits, &p->payload, left(p));
    }
    p->reports = p->payload.size - before;
    p->free = p->payload.size;
}

/* CXM-29 */
static bool add_clock(cwn_connection *c, cwp_time now, composed *p)
{
    cwn_record r;
    size_t place;
    if (!c->limits.clocks || left(p) < CWN_CLOCK_BYTES || !cwn_clock_due(&c->clock, now)) {
        return false;
    }
    cwn_clock_say(&c->clock, now, &r);
    (void)cwn_append(&c->limits, &r, &p->payload, &place);
    p->free += CWN_CLOCK_BYTES;
    return true;
}

/* Steps 5 and 6; others: a reason besides *slice* holds. */
static void add_rest(cwn_connection *c, cwp_time now, bool others, composed *p)
{
    bool slice_due = now >= cwn_lanes_slice_at(&c->lanes, &c->witness);
    bool clock = (others || slice_due) && add_clock(c, now, p);
    size_t place;
    if (c->budget >= 0 && (others || slice_due)) {
        size_t beside = clock ? BESIDE_SLICE - CWN_CLOCK_BYTES : BESIDE_SLICE;
        size_t space = others || left(p) < beside ? left(p) : beside;
        cwn_mux_messages(&c->mux, now, c->endpoint.next_to_send, &c->limits, &p->payload, space);
        p->charged = p->payload.size - p->free;
    }
    if (p->charged > 0) {
        c->messages_at = now;
    }
    if (slice_due && p->payload.size + CWN_MOST_SLICE <= CWC_PAYLOAD) {
        p->has_slice = cwn_lanes_slice(&c->lanes, now, &c->witness, &p->slice);
        if (p->has_slice) {
            (void)cwn_append(&c->limits, &p->slice, &p->payload, &place);
        }
    }
}

static void compose_records(cwn_connection *c, cwp_time now, bool messages, composed *p)
{
    bool ack_due = now >= cwn_lanes_ack_at(&c->lanes);
    cwn_lanes_yield(&c->lanes, c->messages_at != CWP_NEVER && now < c->messages_at + YIELD_TIME);
    if (messages && c->mux.alone >= 0) { /* step 2 */
        cwn_mux_large(&c->mux, &c->limits, &p->payload);
        p->charged = p->payload.size;
        c->messages_at = now;
        return;
    }
    add_free(c, now, p);
    add_rest(c, now, ack_due || p->free > 0 || messages || alive_at(c) <= now || now >= c->endpoint.ack_at, p);
}

/* CXM-4, CXM-25 */
static void charge(cwn_connection *c, const composed *p)
{
    static const size_t tags[] = {4, 8, 16};
    int64_t around = (int64_t)(CWS_HEAD + tags[c->envelope->mode - CWS_CRC]) + HEADERS;
    int64_t whole = cwp_sent_bytes(&c->out) + c->out.datagrams * around;
    int64_t reports = (int64_t)p->reports;
    if (reports > 0 && p->charged == 0 && !p->has_slice) {
        reports += whole - (int64_t)p->free;
    }
    c->reports -= BYTE * reports;
    if (p->charged > 0) {
        c->budget -= BYTE * (p->has_slice ? (int64_t)p->charged : whole - (int64_t)p->free);
    }
}

static void send_payload(cwn_connection *c, cwp_time now, size_t size, bool quiet)
{
    c->next_out = 0;
    if (cwp_send(&c->endpoint, now, c->payload, size, quiet, &c->out) != CWP_OK) {
        c->out.datagrams = 0;
    }
}

/* A PAD for *alive*, or an ack alone. */
static void compose_nothing(cwn_connection *c, cwp_time now)
{
    c->payload[0] = CWC_PAD;
    if (alive_at(c) <= now) {
        send_payload(c, now, 1, true);
        return;
    }
    c->next_out = 0;
    if (!cwp_poll(&c->endpoint, now, &c->out)) {
        c->out.datagrams = 0;
    }
    evaluate(c, now);
}

/* CXM-18, CXL-18 */
static void sent_heavy(cwn_connection *c, cwp_time now)
{
    c->unacked_at = c->unacked_at == CWP_NEVER ? now : c->unacked_at;
    if (cwn_witness_heavy(&c->witness)) {
        cwp_skip(&c->endpoint, now);
    }
}

/* Whether the datagram is sent with ECT(0). */
static bool compose(cwn_connection *c, cwp_time now, bool messages)
{
    int64_t number = c->endpoint.next_to_send;
    bool ect;
    composed p;
    memset(&p, 0, sizeof p);
    p.payload.bytes = c->payload;
    p.payload.capacity = sizeof c->payload;
    compose_records(c, now, messages, &p);
    c->ticking = c->ticking && cwn_mux_pending(&c->mux); /* CXM-3 2 */
    if (p.payload.size == 0) {
        compose_nothing(c, now);
        return false;
    }
    ect = p.has_slice && c->limits.marks && cwn_marks_sends(&c->marks, now, number);
    send_payload(c, now, p.payload.size, !p.payload.loud);
    if (p.has_slice) {
        cwn_witness_sent(&c->witness, now, number, &p.slice, c->limits.variant);
    }
    if (p.has_slice || p.charged > 0) {
        sent_heavy(c, now);
    }
    charge(c, &p);
    return ect;
}

/* ---- Polls (CXL-14) -------------------------------------------------------------- */

/* A row of a poll; last: no further one is taken. */
typedef struct {
    int row;
    bool last;
} polled;

static size_t seal(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM])
{
    uint8_t body[CWP_MAX_DATAGRAM];
    size_t size = cwp_sent_datagram(&c->endpoint, &c->out, c->next_out++, body);
    c->sent_at = now;
    return cws_seal(c->envelope, body, size, out);
}

/* SAY */
static size_t say(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM])
{
    cwn_payload p = {NULL, sizeof c->payload, 0, CWC_PAD, false};
    cwn_record r;
    size_t place;
    memset(&r, 0, sizeof r);
    p.bytes = c->payload;
    r.type = CWN_CLOSE;
    r.code = c->code;
    r.text = c->ended.text;
    r.text_size = c->with_text ? c->ended.text_size : 0;
    (void)cwn_append(&c->limits, &r, &p, &place);
    send_payload(c, now, p.size, true);
    c->said = close_times_passed(c, now);
    c->said_at = now;
    c->again = c->owed = false;
    return seal(c, now, out);
}

/* The next datagram, if a packet is due (CXM-2). */
static size_t send_packet(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], bool *ect)
{
    *ect = false;
    if (c->next_out == c->out.datagrams) {
        tick(c, now);
        *ect = compose(c, now, c->budget >= 0 && (c->ticking || now >= cwn_mux_prompt(&c->mux)));
        learn(c, now);
    }
    return c->next_out < c->out.datagrams ? seal(c, now, out) : 0;
}

static polled poll_open(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], cwn_poll_result *r)
{
    polled p = {8, true};
    if (now >= ends_at(c)) {
        end(c, CWN_E_TIMEOUT);
        p.row = 5;
        p.last = false;
    } else if (!c->moving) {
        r->size = has_failed(c) ? 0 : send_packet(c, now, out, &r->ect);
        if (r->size > 0) {
            p.row = 7;
        } else if (has_failed(c)) {
            start_closing(c, now, CWN_E_FAILED, cwn_lanes_failed(&c->lanes) ? CWN_FAILED : CWN_WORN);
            p.row = 6;
            p.last = false;
        }
    }
    return p;
}

static polled poll_closing(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], cwn_poll_result *r)
{
    polled p = {14, true};
    if (now - c->close_at >= CLOSE_TIME) {
        c->state = CWN_CLOSED;
        p.row = 12;
        p.last = false;
    } else if (!c->moving && now >= next_close(c)) {
        r->size = say(c, now, out);
        p.row = 13;
    }
    return p;
}

static polled poll_closed(cwn_connection *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], cwn_poll_result *r)
{
    polled p = {19, true};
    if (c->owed) {
        r->size = say(c, now, out);
        p.row = 18;
    }
    return p;
}

void cwn_poll(cwn_connection *c, cwp_time time, uint8_t out[CWS_MAX_DATAGRAM], cwn_poll_result *r)
{
    cwp_time now = begin(c, time);
    polled p;
    memset(r, 0, sizeof *r);
    do {
        p = c->state == CWN_OPEN      ? poll_open(c, now, out, r)
            : c->state == CWN_CLOSING ? poll_closing(c, now, out, r)
                                      : poll_closed(c, now, out, r);
        r->rows[r->num_rows++] = p.row;
    } while (!p.last && r->num_rows < CWN_MOST_ROWS);
    c->polled_at = r->size == 0 ? now : CWP_NEVER;
}
