/* The recommended scheduler of the chunk protocol (spec/RECOVERY.md), beside the base algorithm of
 * chunkwire.h: it learns the path's round trip and rate, keeps the queue short, and finds losses.
 *
 * cw_recovery_init it and give &recovery.scheduler to cw_sender_init. It has the controller of
 * chunkwire_repair.h, and profiles are those there. Plain C99; nothing is allocated. */
#ifndef CHUNKWIRE_RECOVERY_H
#define CHUNKWIRE_RECOVERY_H

#include "chunkwire_repair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is remembered of a slice (REC-2). */
typedef struct {
    uint64_t first, main, last; /* numbers of transmissions; 0: never sent */
    cw_time first_at, main_at, last_at;
    unsigned resends, copies; /* at most 255 */
} cw_recovery_slice;

/* All fields are the scheduler's own, except control.yields. */
typedef struct {
    cw_scheduler scheduler; /* give &recovery.scheduler to cw_sender_init */
    cwr_control control;
    cwr_control *shared; /* in place of control, with other lanes; or NULL */
    cwr_share share;
    cw_time patience;

    uint32_t num_slices; /* the chunk's, from here on */
    uint32_t fresh;      /* the first that was never sent */
    cw_set unacked, lost, by_timer;
    uint64_t count, newest;
    uint64_t moved;   /* up to this number slices were sent on another path (REC-12) */
    uint64_t refused; /* up to this number the peer may have refused transmissions (SUS-5) */
    cw_recovery_slice slice[CW_MAX_SLICES];
    int oldest; /* the slice of the timer, or -1 */
    cw_time sent_at, news_at, gap_at, held_at;
    cw_time latest; /* the latest event but a hold */
    bool held;
    int chosen; /* after the latest event: what goes next, or -1 */
    bool is_copy;
} cw_recovery;

/* False: a figure is outside its limits (PRO-1); then r must not be used. */
bool cw_recovery_init(cw_recovery *r, cwr_profile profile);

/* What the host of a sender knows: so many new marks of congestion (ECN-1), and whether other
 * packets must not wait behind slices (ROOM-3). Ask for the deadline again behind them. */
void cw_recovery_marks(cw_recovery *r, int64_t count);
void cw_recovery_yield(cw_recovery *r, bool yields);

/* As cwr_rule_share, cwr_rule_refresh and cwr_rule_forget_path (REC-12). */
void cw_recovery_share(cw_recovery *r, cwr_control *shared);
void cw_recovery_refresh(cw_recovery *r);
void cw_recovery_forget_path(cw_recovery *r);

#ifdef __cplusplus
}
#endif

#endif
