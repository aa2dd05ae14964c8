/* Sender and receiver of an ordered channel, and a network. The machines are made from the tables of
 * CHANNELS.md (tables.pml). Messages have one record; fragments are not in the model.
 *
 * Safety (without -DLIVE): each record that was ever sent may arrive at any time, any number of times, or
 *   never. Of reports the path holds two at a time; they are lost, doubled, and arrive in any order.
 * Liveness (-DLIVE): what is sent again and again is lost at most once in a row.
 * Sequences do not wrap: numbers/wraps.py proves CHN-4 and CHN-6. -DEXPIRE: messages expire.
 */
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#define BIT(k) (1 << (k))
#define OPEN 0
#define FAILED 1
byte s_state = OPEN, s_base, s_next, s_sent, s_limit = WINDOW, s_due, s_gone;
bit s_probed, s_waited, s_late;
byte r_state = OPEN, r_tail, r_base, r_top, r_have, r_skipped;
bit r_soon, r_said, r_late;
byte g_sent, g_gone, g_delivered;   /* what was sent as data, has expired, was read: no machine sees it */

/* the arguments of an event, and what time and space allow */
byte n, count, b, room, named, lowest, i;
bit valid, overtaken, fits, quiet, repeat;

#define R_LIMIT (r_tail + WINDOW)
#define COVERED ((BIT(count) - 1) << n)
#define NEW(k) (k >= r_base && !(r_have & BIT(k)))
#define SOME_NEW ((COVERED & ~r_have & ~(BIT(r_base) - 1)) != 0)
#define ARRIVED(top) r_top = ((top) > r_top -> (top) : r_top); do :: r_have & BIT(r_base) -> r_base++ :: else -> break od; r_soon = 1
#define FORGET(below) s_due = s_due & ~(BIT(below) - 1)

bit data[MESSAGES], skips[MESSAGES * (MESSAGES + 1)], status[MESSAGES + 1];
/* two reports on the path: the second was sent later; old: a later one has counted */
byte report_b[2], report_room[2], report_named[2];
bit report_there[2], report_old[2];
#define MISSING ((BIT(r_top) - 1) & ~(BIT(r_base) - 1) & ~r_have)
inline set(k) { report_b[k] = r_base; report_room[k] = R_LIMIT - r_base; report_named[k] = MISSING; report_there[k] = 1; report_old[k] = 0 }
inline clear(k) { report_b[k] = 0; report_room[k] = 0; report_named[k] = 0; report_there[k] = 0; report_old[k] = 0 }
inline move() { report_b[0] = report_b[1]; report_room[0] = report_room[1]; report_named[0] = report_named[1]; report_there[0] = report_there[1]; report_old[0] = report_old[1]; clear(1) }
#ifdef LIVE
#define REPORT_SENT set(0)
/* CHS-3: what is named is due at last, since HOLD passes */
#define MARK_NAMED if :: named == 0 :: named != 0 -> s_due = s_due | (named & ~(BIT(s_base) - 1)); s_waited = 0 :: named != 0 && !s_waited -> s_waited = 1 fi
#else
#define MARK_NAMED if :: s_due = s_due | (named & ~(BIT(s_base) - 1)) :: skip fi
#define REPORT_SENT if :: !report_there[0] -> set(0) :: report_there[0] -> if :: report_there[1] -> move() :: skip fi; set(1) fi
#endif

/* CHS-1: a SKIP covers what is gone and due directly after it */
#define SEND_LOWEST if \
  :: s_gone & BIT(lowest) -> count = 1; \
     do :: lowest + count < s_next && lowest + count < s_limit && (s_gone & s_due & BIT(lowest + count)) -> count++ :: else -> break od; \
     skips[lowest * (MESSAGES + 1) + count] = 1; s_due = s_due & ~((BIT(count) - 1) << lowest) \
  :: else -> count = 1; data[lowest] = 1; g_sent = g_sent | BIT(lowest); s_due = s_due & ~BIT(lowest) \
  fi; s_sent = (lowest + count > s_sent -> lowest + count : s_sent); count = 0
/* CHS-4: only the first of probes in a row can be early, and makes nothing due */
#define PROBE_ALL status[s_sent] = 1; if :: !s_probed :: s_due = s_due | ((BIT(s_sent) - 1) & ~(BIT(s_base) - 1)) fi; s_probed = 1

#include "tables.pml"

inline find_lowest() { lowest = s_base; do :: lowest < s_next && !(s_due & BIT(lowest)) -> lowest++ :: else -> break od }
inline sender_polls() { find_lowest(); channel_sender_poll(); lowest = 0; s_late = 0; fits = 0; quiet = 0 }
inline receiver_polls() { channel_receiver_poll(); r_late = 0; fits = 0; repeat = 0 }
inline expires() { do :: i < s_next && ((i < s_base) || (s_gone & BIT(i))) -> i++ :: else -> break od; if :: i < s_next -> s_gone = s_gone | BIT(i); g_gone = g_gone | BIT(i) :: else fi; i = 0 }
inline data_arrives(k) { n = k; count = 1; channel_receiver_data(); n = 0; count = 0 }
inline skip_arrives(k, c) { n = k; count = c; channel_receiver_skip(); n = 0; count = 0 }
inline status_arrives(k) { n = k; channel_receiver_status(); n = 0 }
inline report_arrives(k) {
  b = report_b[k]; room = report_room[k]; named = report_named[k]; overtaken = report_old[k];
  channel_sender_report();
  report_old[k] = 1; if :: k == 1 && report_there[0] -> report_old[0] = 1 :: else fi;
  b = 0; room = 0; named = 0; overtaken = 0
}

#ifndef LIVE
init {
  do
  :: atomic { if :: valid = 0 :: valid = 1 fi; channel_sender_send(); valid = 0 }
#ifdef EXPIRE
  :: atomic { i = 0; do :: i < MESSAGES - 1 -> i++ :: break od; if :: i < s_next && i >= s_base -> s_gone = s_gone | BIT(i); g_gone = g_gone | BIT(i) :: else fi; i = 0 }
#endif
  :: atomic { if :: fits = 1 :: skip fi; if :: quiet = 1 :: skip fi; if :: s_late = GIVEUP :: skip fi; sender_polls() }
  :: atomic { if :: fits = 1 :: skip fi; if :: repeat = 1 :: skip fi; if :: r_late = GIVEUP :: skip fi; receiver_polls() }
  :: atomic { channel_receiver_read() }
  :: atomic { i = 0; do :: i < MESSAGES - 1 -> i++ :: break od; if :: data[i] -> data_arrives(i) :: else fi; i = 0 }
  :: atomic { i = 0; do :: i < MESSAGES * (MESSAGES + 1) - 1 -> i++ :: break od; if :: skips[i] -> skip_arrives(i / (MESSAGES + 1), i % (MESSAGES + 1)) :: else fi; i = 0 }
  :: atomic { i = 0; do :: i < MESSAGES -> i++ :: break od; if :: status[i] -> status_arrives(i) :: else fi; i = 0 }
  :: atomic { report_there[0] -> report_arrives(0); if :: skip :: move() fi }
  :: atomic { report_there[1] -> report_arrives(1); if :: skip :: clear(1) fi }
  od
}
#else
active proctype Application() { do :: atomic { s_next < MESSAGES -> valid = 1; channel_sender_send(); valid = 0 } od }
active proctype Reader() { do :: atomic { r_have & BIT(r_tail) -> channel_receiver_read() } od }
active proctype Sender() { do :: atomic { s_base < s_next -> fits = 1; quiet = 1; sender_polls() } od }
active proctype Receiver() { do :: atomic { (r_soon || (r_base < r_top && r_said)) && !report_there[0] -> fits = 1; repeat = 1; receiver_polls() } od }
#ifdef EXPIRE
active proctype Lifetime() { if :: atomic { s_base < s_next -> expires() } :: skip fi }
#endif
proctype Data(byte k) { bit lost; do
  :: atomic { data[k] -> data[k] = 0; lost = 0; data_arrives(k) }
  :: atomic { data[k] && !lost -> data[k] = 0; lost = 1 } od }
proctype Skip(byte k; byte c) { bit lost; do
  :: atomic { skips[k * (MESSAGES + 1) + c] -> skips[k * (MESSAGES + 1) + c] = 0; lost = 0; skip_arrives(k, c) }
  :: atomic { skips[k * (MESSAGES + 1) + c] && !lost -> skips[k * (MESSAGES + 1) + c] = 0; lost = 1 } od }
proctype Status(byte k) { bit lost; do
  :: atomic { status[k] -> status[k] = 0; lost = 0; status_arrives(k) }
  :: atomic { status[k] && !lost -> status[k] = 0; lost = 1 } od }
active proctype Reports() { bit lost; do
  :: atomic { report_there[0] -> lost = 0; report_arrives(0); clear(0) }
  :: atomic { report_there[0] && !lost -> lost = 1; clear(0) } od }
init { atomic { i = 0; do :: i < MESSAGES -> run Data(i); i++ :: else -> break od; i = 1; do :: i <= MESSAGES -> run Status(i); i++ :: else -> break od;
#ifdef EXPIRE
  i = 0; do :: i < MESSAGES -> run Skip(i, 1); if :: i + 1 < MESSAGES -> run Skip(i, 2) :: else fi; i++ :: else -> break od;
#endif
  i = 0 } }
/* Each message is delivered, or skipped if it has expired, and the sender knows it. */
ltl CHT_LIVE_1 { <> (g_delivered == MESSAGES && s_base == MESSAGES) }
#endif
