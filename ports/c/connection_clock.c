/* Clocks (section 8.4). See connection_parts.h. */
#include "connection_parts.h"

#include <string.h>

#define CLOCK_INTERVAL ((cwp_time)200000)
#define DRIFT_PART 5000 /* 200 millionths */

enum { SMOOTHING = 8 };

void cwn_clock_init(cwn_clock *k)
{
    memset(k, 0, sizeof *k);
    k->said_at = CWP_NEVER;
    k->newest = -1;
}

bool cwn_clock_due(const cwn_clock *k, cwp_time now)
{
    return k->said_at == CWP_NEVER || now - k->said_at >= CLOCK_INTERVAL;
}

void cwn_clock_say(cwn_clock *k, cwp_time now, cwn_record *r)
{
    cwp_time wait = now - k->came_at;
    memset(r, 0, sizeof *r);
    r->type = CWN_CLOCK;
    r->sent = (uint64_t)now & (((uint64_t)1 << 48) - 1);
    r->wait = UINT32_MAX;
    if (k->newest >= 0) {
        r->echo = (uint32_t)(k->sent_there & UINT32_MAX);
        r->wait = wait < UINT32_MAX ? (uint32_t)wait : UINT32_MAX - 1;
    }
    k->said_at = now;
}

/* The new bounds are the intersection of this record with the bounds before, which time widens. */
static void learn(cwn_clock *k, cwp_time now, cwp_time low, cwp_time rtt)
{
    cwn_remote *m = &k->remote;
    cwp_time high = low + rtt;
    if (!k->measured) {
        k->measured = true;
        m->rtt = rtt;
    } else {
        cwp_time wider = (now - m->known_at) / DRIFT_PART;
        cwp_time least = low > m->low - wider ? low : m->low - wider;
        cwp_time most = high < m->high + wider ? high : m->high + wider;
        m->rtt += (rtt - m->rtt) / SMOOTHING;
        low = least <= most ? least : low;
        high = least <= most ? most : high;
    }
    m->low = low;
    m->high = high;
    m->known_at = now;
}

void cwn_clock_take(cwn_clock *k, cwp_time now, int64_t number, const cwn_record *r)
{
    uint32_t rtt = (uint32_t)((uint64_t)now & UINT32_MAX) - r->echo - r->wait;
    if (number <= k->newest) {
        return;
    }
    k->newest = number;
    k->sent_there = r->sent;
    k->came_at = now;
    if (r->wait != UINT32_MAX && rtt <= INT32_MAX) {
        learn(k, now, (cwp_time)r->sent - now, rtt);
    }
}
