/* Congestion avoidance (section 9). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

#define SECOND ((cwp_time)1000000)
#define BAD_RTT ((cwp_time)250000)
#define FIRST_RECOVERY (4 * SECOND)
#define LEAST_RECOVERY (1 * SECOND)
#define MOST_RECOVERY (60 * SECOND)
#define SHORT (10 * SECOND)
#define REWARD (10 * SECOND)
#define GOOD_INTERVAL ((cwp_time)33333)
#define BAD_INTERVAL ((cwp_time)100000)

static cwp_time earlier(cwp_time a, cwp_time b) { return a < b ? a : b; }
static cwp_time later(cwp_time a, cwp_time b) { return a > b ? a : b; }

/* PKN-3 */
static cwp_time observe(cwp_congestion *c, cwp_time now)
{
    c->latest = later(c->latest, now);
    return c->latest;
}

void cwp_congestion_init(cwp_congestion *c, cwp_profile profile)
{
    c->mode = CWP_BAD;
    c->recovery = FIRST_RECOVERY;
    c->next_at = 0;
    c->profile = profile;
    c->good_since = CWP_NEVER;
    c->entered = 0;
    c->halved = 0;
    c->last_sent = CWP_NEVER;
    c->latest = 0;
}

/* C3, as often as its guard holds: few times, since recovery is at most 60 s. */
static void reward(cwp_congestion *c, cwp_time now)
{
    while (c->mode == CWP_GOOD && c->recovery > LEAST_RECOVERY && now - c->halved >= REWARD) {
        c->recovery = later(c->recovery / 2, LEAST_RECOVERY);
        c->halved += REWARD;
    }
}

/* PKC-4 */
static cwp_time rtt_bad(const cwp_congestion *c, cwp_time min_rtt)
{
    return c->profile == CWP_ARTICLE ? BAD_RTT : later(BAD_RTT, min_rtt * 3 / 2);
}

/* C1, C2 */
static void enter_bad(cwp_congestion *c, cwp_time now)
{
    if (now - c->entered < SHORT) {
        c->recovery = earlier(2 * c->recovery, MOST_RECOVERY);
    }
    c->mode = CWP_BAD;
    c->good_since = CWP_NEVER;
    if (c->last_sent != CWP_NEVER) {
        c->next_at = later(c->next_at, c->last_sent + BAD_INTERVAL); /* PKC-3 */
    }
}

/* C5 to C8 */
static void wait(cwp_congestion *c, cwp_time now, bool good)
{
    if (!good) {
        c->good_since = CWP_NEVER;
        return;
    }
    if (c->good_since == CWP_NEVER) {
        c->good_since = now;
    } else if (now - c->good_since >= c->recovery) {
        c->mode = CWP_GOOD;
        c->entered = now;
        c->halved = now;
        c->good_since = CWP_NEVER;
    }
}

cwp_mode cwp_congestion_evaluate(cwp_congestion *c, cwp_time now, const cwp_round_trip *t, bool silent)
{
    bool bad = silent || (t->measured && t->srtt > rtt_bad(c, t->min_rtt)); /* PKC-1 */
    now = observe(c, now);
    reward(c, now);
    if (c->mode == CWP_BAD) {
        wait(c, now, t->measured && !bad);
    } else if (bad) {
        enter_bad(c, now);
    }
    return c->mode;
}

void cwp_congestion_sent(cwp_congestion *c, cwp_time now)
{
    now = observe(c, now);
    c->next_at = later(c->next_at + (c->mode == CWP_GOOD ? GOOD_INTERVAL : BAD_INTERVAL), now);
    c->last_sent = now;
}

cwp_time cwp_congestion_deadline(const cwp_congestion *c)
{
    if (c->mode == CWP_GOOD) {
        return c->recovery > LEAST_RECOVERY ? c->halved + REWARD : CWP_NEVER;
    }
    return c->good_since == CWP_NEVER ? CWP_NEVER : c->good_since + c->recovery;
}
