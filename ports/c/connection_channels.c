/* All channels of one end (sections 6 and 7 of spec/CHANNELS.md). See connection_parts.h. */
#include "connection_parts.h"
#include "session_keys.h"

#include <string.h>

enum {
    UNRELIABLE_HEAD = 4,
    QUEUED = 10, /* what a message counts for in a queue, besides its bytes */
    MOST_QUEUED = 65536,
    FORMAT_HEAD = 5,
    FORMAT_CHANNEL = 7
};

/* ---- FORMAT (CXP-4) ----------------------------------------------------------- */

static unsigned kind_number(const cwn_channel *c)
{
    if (c->config.kind == CWC_UNRELIABLE) {
        return c->latest ? 3 : 2;
    }
    return c->config.kind == CWC_ORDERED ? 0 : 1;
}

static void put_channel(uint8_t out[FORMAT_CHANNEL], int id, const cwn_channel *c)
{
    const cwc_config *f = &c->config;
    memset(out, 0, FORMAT_CHANNEL);
    out[0] = (uint8_t)id;
    out[1] = (uint8_t)kind_number(c);
    if (f->kind != CWC_UNRELIABLE) {
        out[2] = (uint8_t)(f->window & 0xFF);
        out[3] = (uint8_t)(f->window >> 8);
        out[4] = (uint8_t)(f->data & 0xFF);
        out[5] = (uint8_t)(f->data >> 8);
        out[6] = (uint8_t)f->group;
    }
}

bool cwn_format(const cwn_channel *const channels[CWC_CHANNELS], uint8_t format[CWS_FORMAT])
{
    uint8_t in[FORMAT_HEAD + CWC_CHANNELS * FORMAT_CHANNEL];
    uint8_t whole[CWS_KEY];
    cwp_config c = cwp_default_config();
    size_t n = FORMAT_HEAD;
    bool ok;
    for (int id = 0; id < CWC_CHANNELS; id++) {
        if (channels[id] != NULL) {
            put_channel(in + n, id, channels[id]);
            n += FORMAT_CHANNEL;
        }
    }
    in[0] = (uint8_t)(c.fragment_size & 0xFF);
    in[1] = (uint8_t)(c.fragment_size >> 8);
    in[2] = (uint8_t)(c.max_fragments & 0xFF);
    in[3] = (uint8_t)(c.max_fragments >> 8);
    in[4] = (uint8_t)((n - FORMAT_HEAD) / FORMAT_CHANNEL);
    ok = cws_sha256(in, n, whole);
    memcpy(format, whole, CWS_FORMAT);
    return ok;
}

/* ---- Queues of unreliable channels (section 6) ---------------------------------- */

static uint8_t *data_of(const cwn_item *i) { return (uint8_t *)(uintptr_t)(i + 1); }

static size_t counted(size_t size) { return size + QUEUED; }

static bool push(cwn_queue *q, cwp_memory memory, int64_t number, const uint8_t *data, size_t size)
{
    cwn_item *i = (cwn_item *)memory.take(memory.owner, sizeof *i + size);
    if (i == NULL) {
        return false;
    }
    i->next = NULL;
    i->number = number;
    i->size = size;
    memcpy(data_of(i), data, size);
    if (q->first == NULL) {
        q->first = i;
    } else {
        q->last->next = i;
    }
    q->last = i;
    q->bytes += counted(size);
    return true;
}

static void shift(cwn_queue *q, cwp_memory memory)
{
    cwn_item *i = q->first;
    q->first = i->next;
    q->bytes -= counted(i->size);
    memory.give(memory.owner, i, sizeof *i + i->size);
}

static void clear(cwn_queue *q, cwp_memory memory)
{
    while (q->first != NULL) {
        shift(q, memory);
    }
}

/* ---- Channels ----------------------------------------------------------------- */

static bool is_reliable(const cwn_muxed *c) { return c->setup.config.kind != CWC_UNRELIABLE; }

static bool open_channel(cwn_mux *m, uint8_t id, const cwn_channel *setup)
{
    cwn_muxed *c = (cwn_muxed *)m->memory.take(m->memory.owner, sizeof *c);
    if (c == NULL) {
        return false;
    }
    memset(c, 0, sizeof *c);
    c->setup = *setup;
    if (is_reliable(c)) {
        bool sends = cwc_sender_init(&c->sender, &setup->config, id, m->memory);
        if (!sends || !cwc_receiver_init(&c->receiver, &setup->config, id, m->memory)) {
            if (sends) {
                cwc_sender_end(&c->sender);
            }
            m->memory.give(m->memory.owner, c, sizeof *c);
            return false;
        }
    }
    m->channel[id] = c;
    m->configs.config[id] = &c->setup.config;
    return true;
}

static void close_channel(cwn_mux *m, cwn_muxed *c)
{
    if (is_reliable(c)) {
        cwc_sender_end(&c->sender);
        cwc_receiver_end(&c->receiver);
    }
    clear(&c->to_send, m->memory);
    clear(&c->to_read, m->memory);
    m->memory.give(m->memory.owner, c, sizeof *c);
}

/* The higher priority first, of equal ones the lower id. */
static void put_in_order(cwn_mux *m, uint8_t id)
{
    uint32_t at = m->count++;
    while (at > 0 && m->channel[m->order[at - 1]]->setup.priority < m->channel[id]->setup.priority) {
        m->order[at] = m->order[at - 1];
        at--;
    }
    m->order[at] = id;
}

bool cwn_mux_init(cwn_mux *m, const cwn_channel *const channels[CWC_CHANNELS], cwp_time give_up, cwp_memory memory)
{
    memset(m, 0, sizeof *m);
    m->memory = memory;
    m->alone = -1;
    for (uint8_t id = 0; id < CWC_CHANNELS; id++) {
        cwn_channel setup;
        if (channels[id] == NULL) {
            continue;
        }
        setup = *channels[id];
        setup.config.give_up = setup.config.give_up == 0 ? give_up : setup.config.give_up;
        if (!cwc_config_allowed(&setup.config) || !open_channel(m, id, &setup)) {
            cwn_mux_end(m);
            return false;
        }
        put_in_order(m, id);
    }
    return true;
}

void cwn_mux_end(cwn_mux *m)
{
    for (uint32_t i = 0; i < CWC_CHANNELS; i++) {
        if (m->channel[i] != NULL) {
            close_channel(m, m->channel[i]);
            m->channel[i] = NULL;
        }
    }
    m->count = 0;
}

static const char *send_unreliable(cwn_mux *m, uint8_t channel, const uint8_t *data, size_t size)
{
    cwn_muxed *c = m->channel[channel];
    if (size < 1 || size > CWN_MOST_UNRELIABLE) {
        return cwc_error_name(CWC_MESSAGE_SIZE);
    }
    if (c->setup.latest) { /* CHU-7 */
        clear(&c->to_send, m->memory);
        m->alone = m->alone == channel ? -1 : m->alone;
    }
    if (c->to_send.bytes + counted(size) > MOST_QUEUED) {
        return cwc_error_name(CWC_QUEUE_FULL);
    }
    return push(&c->to_send, m->memory, 0, data, size) ? NULL : cwc_error_name(CWC_NO_MEMORY);
}

const char *cwn_mux_send(cwn_mux *m, cwp_time now, uint8_t channel, const uint8_t *data, size_t size,
                         cwp_time lifetime)
{
    cwc_error e;
    cwn_muxed *c = channel < CWC_CHANNELS ? m->channel[channel] : NULL;
    if (c == NULL) {
        return cwc_error_name(CWC_UNKNOWN_CHANNEL);
    }
    if (!is_reliable(c)) {
        return send_unreliable(m, channel, data, size);
    }
    (void)cwc_sender_send(&c->sender, now, data, size, lifetime, &e);
    return e == CWC_OK ? NULL : cwc_error_name(e);
}

static bool read_unreliable(cwn_mux *m, cwn_muxed *c, uint8_t *out, size_t capacity, cwc_read *what)
{
    const cwn_item *i = c->to_read.first;
    if (i == NULL) {
        return false;
    }
    what->skipped = false;
    what->sequence = i->number;
    what->size = i->size;
    if (i->size > capacity) {
        return false;
    }
    memcpy(out, data_of(i), i->size);
    shift(&c->to_read, m->memory);
    return true;
}

bool cwn_mux_read(cwn_mux *m, cwp_time now, uint8_t channel, uint8_t *out, size_t capacity, cwc_read *what)
{
    cwn_muxed *c = channel < CWC_CHANNELS ? m->channel[channel] : NULL;
    cwc_receiver_row row;
    what->size = 0;
    if (c == NULL) {
        return false;
    }
    if (!is_reliable(c)) {
        return read_unreliable(m, c, out, capacity, what);
    }
    row = cwc_receiver_read(&c->receiver, now, out, capacity, what);
    return row == CWC_V11 || row == CWC_V17;
}

/* CHU-5, CHU-6, CHU-8; without memory it is as if the queue had no room. */
static void take_unreliable(cwn_mux *m, cwn_muxed *c, int64_t number, const cwc_record *r)
{
    if (c->setup.latest) {
        if (number < c->newest) {
            return;
        }
        c->newest = number;
        clear(&c->to_read, m->memory);
    }
    (void)push(&c->to_read, m->memory, number, r->data, r->size);
    while (c->to_read.bytes > MOST_QUEUED) {
        shift(&c->to_read, m->memory);
    }
}

void cwn_mux_take(cwn_mux *m, cwp_time now, int64_t number, int64_t ack, const cwc_record *r)
{
    cwn_muxed *c = r->type == CWC_PAD ? NULL : m->channel[r->channel];
    if (c == NULL) {
        return;
    }
    if (r->type == CWC_UNRELIABLE_MESSAGE) {
        take_unreliable(m, c, number, r);
    } else if (r->type == CWC_REPORT) {
        (void)cwc_sender_report(&c->sender, now, r, number, ack);
    } else {
        (void)cwc_receiver_record(&c->receiver, now, r);
    }
}

void cwn_mux_path(cwn_mux *m, const cwc_path *path)
{
    for (uint32_t i = 0; i < m->count; i++) {
        cwn_muxed *c = m->channel[m->order[i]];
        if (is_reliable(c)) {
            cwc_sender_path(&c->sender, path);
            cwc_receiver_path(&c->receiver, path);
        }
    }
}

bool cwn_mux_rests(const cwn_mux *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const cwn_muxed *c = m->channel[m->order[i]];
        if (is_reliable(c) && c->sender.base < c->sender.next) {
            return false;
        }
    }
    return true;
}

/* ---- Composition (section 7.1) -------------------------------------------------- */

/* Appends a record of a channel; true: it fitted. */
static bool append(const cwc_record *from, const cwn_limits *l, cwn_payload *p)
{
    size_t place;
    cwn_record r;
    r.type = from->type;
    r.channel = *from;
    return cwn_append(l, &r, p, &place) == NULL;
}

/* A message that is alone goes beyond the end. */
static size_t space_left(const cwn_payload *p, size_t end) { return end > p->size ? end - p->size : 0; }

/* By ascending id. */
void cwn_mux_reports(cwn_mux *m, cwp_time now, const cwn_limits *l, cwn_payload *p, size_t space)
{
    size_t end = p->size + space;
    for (uint32_t id = 0; id < CWC_CHANNELS; id++) {
        cwn_muxed *c = m->channel[id];
        cwc_record report;
        if (c != NULL && is_reliable(c) && cwc_receiver_deadline(&c->receiver) <= now &&
            cwc_receiver_poll(&c->receiver, now, end - p->size, &report) == CWC_V14) {
            (void)append(&report, l, p);
        }
    }
}

static void unreliable_record(cwc_record *r, uint8_t channel, const cwn_item *i)
{
    memset(r, 0, sizeof *r);
    r->type = CWC_UNRELIABLE_MESSAGE;
    r->channel = channel;
    r->data = data_of(i);
    r->size = i->size;
}

/* The messages of an unreliable channel up to the end; `first`: nothing was appended before. */
static void append_unreliable(cwn_mux *m, uint8_t channel, const cwn_limits *l, cwn_payload *p, size_t end, bool first)
{
    cwn_queue *q = &m->channel[channel]->to_send;
    while (q->first != NULL) {
        size_t size = UNRELIABLE_HEAD + q->first->size;
        size_t left = space_left(p, end);
        cwc_record r;
        if (size > CWC_PAYLOAD && (!first || left < CWC_PAYLOAD)) {
            m->alone = m->alone < 0 ? channel : m->alone;
            return;
        }
        unreliable_record(&r, channel, q->first);
        if ((size > left && size <= CWC_PAYLOAD) || !append(&r, l, p)) {
            return;
        }
        first = false;
        shift(q, m->memory);
    }
}

static void append_reliable(cwn_mux *m, cwp_time now, int64_t number, uint8_t channel, const cwn_limits *l,
                            cwn_payload *p, size_t end)
{
    cwc_sender *s = &m->channel[channel]->sender;
    cwc_sender_row row;
    cwc_record r;
    if (cwc_sender_deadline(s) > now) {
        return;
    }
    row = cwc_sender_poll(s, now, number, space_left(p, end), &r);
    while (row == CWC_D8 || row == CWC_D9) {
        (void)append(&r, l, p);
        row = cwc_sender_poll(s, now, number, space_left(p, end), &r);
    }
}

/* The places in order from first to the next priority: unreliable channels, then reliable ones. */
static void append_rank(cwn_mux *m, cwp_time now, int64_t number, uint32_t first, uint32_t last, const cwn_limits *l,
                        cwn_payload *p, size_t begin, size_t end)
{
    int gave = -1;
    for (uint32_t i = first; i < last; i++) {
        if (!is_reliable(m->channel[m->order[i]])) {
            append_unreliable(m, m->order[i], l, p, end, p->size == begin);
        }
    }
    for (uint32_t i = first; i < last; i++) {
        size_t before = p->size;
        if (is_reliable(m->channel[m->order[i]])) {
            append_reliable(m, now, number, m->order[i], l, p, end);
        }
        gave = gave < 0 && p->size > before ? (int)i : gave;
    }
    if (gave >= 0) { /* CHC-8 4 */
        uint8_t id = m->order[gave];
        memmove(&m->order[gave], &m->order[gave + 1], last - 1 - (uint32_t)gave);
        m->order[last - 1] = id;
    }
}

/* CHC-8 */
void cwn_mux_messages(cwn_mux *m, cwp_time now, int64_t number, const cwn_limits *l, cwn_payload *p, size_t space)
{
    size_t begin = p->size;
    size_t end = begin + space;
    uint32_t first = 0;
    while (first < m->count) {
        uint32_t last = first;
        uint8_t priority = m->channel[m->order[first]]->setup.priority;
        while (last < m->count && m->channel[m->order[last]]->setup.priority == priority) {
            last++;
        }
        append_rank(m, now, number, first, last, l, p, begin, end);
        first = last;
    }
}

void cwn_mux_large(cwn_mux *m, const cwn_limits *l, cwn_payload *p)
{
    uint8_t channel = (uint8_t)m->alone;
    cwn_queue *q = &m->channel[channel]->to_send;
    m->alone = -1;
    if (q->first != NULL) {
        cwc_record r;
        unreliable_record(&r, channel, q->first);
        (void)append(&r, l, p);
        shift(q, m->memory);
    }
}

/* ---- Times -------------------------------------------------------------------- */

static cwp_time earlier(cwp_time a, cwp_time b) { return a < b ? a : b; }

bool cwn_mux_pending(const cwn_mux *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const cwn_muxed *c = m->channel[m->order[i]];
        if (is_reliable(c) ? cwc_sender_pending(&c->sender) : c->to_send.first != NULL) {
            return true;
        }
    }
    return false;
}

cwp_time cwn_mux_prompt(const cwn_mux *m)
{
    cwp_time at = CWP_NEVER;
    for (uint32_t i = 0; i < m->count; i++) {
        const cwn_muxed *c = m->channel[m->order[i]];
        at = is_reliable(c) ? earlier(at, cwc_sender_prompt(&c->sender)) : at;
    }
    return at;
}

cwp_time cwn_mux_report_at(const cwn_mux *m)
{
    cwp_time at = CWP_NEVER;
    for (uint32_t i = 0; i < m->count; i++) {
        const cwn_muxed *c = m->channel[m->order[i]];
        at = is_reliable(c) ? earlier(at, cwc_receiver_deadline(&c->receiver)) : at;
    }
    return at;
}
