/* A sender, a receiver and a network. The machines are made from the tables of PROTOCOL.md (tables.pml).
 *
 * Safety (without -DLIVE): each datagram that was ever sent may arrive at any time, any number of
 *   times, or never: loss, duplicates, order and delay have no bound except CON-9.
 * Liveness (-DLIVE): a process for each slice carries it, in any order and any number of times, and
 *   one carries acks. What is sent again and again is lost at most LOSS times in a row; with GIVEUP 2
 *   it can be lost for ever. Processes are weakly fair.
 * Time is abstract. GIVEUP 0: no end gives up. 1: an end may give up at each poll at which its timer
 *   runs. 2, with -DLIVE: after AGE ticks of a clock without news.
 */
#ifndef CHUNKS
#define CHUNKS 3
#endif
#ifndef IDS
#define IDS 4
#endif
#ifndef LOSS
#define LOSS 1
#endif
#ifndef AGE
#define AGE 2
#endif
#ifndef GIVEUP
#define GIVEUP 0
#endif
#ifndef FIRST
#define FIRST 0
#endif
#ifndef SLICES
#define SLICES 2
#endif
#if SLICES == 3
#define MASKS 8
#else
#define MASKS 4
#endif
#define BIT(k) (1 << (k))
#define ALL(n) ((1 << (n)) - 1)
#define IDLE 0
#define SENDING 1
#define WAITING 2
#define RECEIVING 3
#define READY 4
#define FAILED 5
/* CON-9 of PROTOCOL.md, section 10, with IDS for 65,536: with SLACK 1 a datagram may arrive one chunk later. */
#ifndef SLACK
#define SLACK 0
#endif
#define MAY_ARRIVE(c) (completed < (c) + IDS + SLACK)
#define CURRENT 1
#define PREVIOUS 2
#define HOLD 4

byte num[CHUNKS+1];
byte s_state = IDLE, s_id = FIRST, s_num, s_sent, s_acked, s_age, s_chunk;
byte r_state = WAITING, r_id = FIRST, r_num, r_stored, r_before, r_pending, r_held, r_age;
byte completed, delivered;       /* what the receiver completed, and what was read: no machine sees it */

/* the arguments of an event */
bool valid, due, ripe, s_late, r_late, half;
byte a_id, a_n, a_mask, x_c, x_id, x_n, x_k, pick, i;

#define NEWLY (a_mask & s_sent & ~s_acked)
#define FOREIGN_ACK (a_id != s_id || a_n != s_num)
#define PREVIOUS_SLICE (x_id == (r_id + IDS - 1) % IDS && x_n == r_before)
#define FOREIGN_SLICE (x_id != r_id)
#define OWN_SLICE (!PREVIOUS_SLICE && !FOREIGN_SLICE && r_state != READY)
#define OTHER_NUMBER (r_state == RECEIVING && x_n != r_num)
#define STORED ((r_stored & BIT(x_k)) != 0)
/* SAFE-4: a slice that the sender counts as acked was stored. */
#define SAFE_4 assert(completed > s_chunk || (completed == s_chunk && (s_acked & ~r_stored) == 0) || r_state == FAILED)

bit slices_on_path[CHUNKS * SLICES];
#ifdef LIVE
byte slices_lost[CHUNKS * SLICES];
byte ack_c, ack_m, ack_lost; bit ack_air;      /* one ack is on the path at a time */
#else
bit acks_on_path[CHUNKS * MASKS];
#endif
#define SLICE_SENT(c, k) slices_on_path[(c) * SLICES + (k)] = 1
#ifdef LIVE
#define ACK_ON_PATH(c, n, m) assert((n) == num[c]); ack_c = c; ack_m = m; ack_air = 1
#else
#define ACK_ON_PATH(c, n, m) assert((n) == num[c]); acks_on_path[(c) * MASKS + (m)] = 1
#endif
#define ACK_SENT if \
  :: (r_pending & PREVIOUS) -> r_pending = r_pending & ~PREVIOUS; ACK_ON_PATH(completed - 1, r_before, ALL(r_before)) \
  :: !(r_pending & PREVIOUS) && (r_pending & CURRENT) -> r_pending = r_pending & ~CURRENT; ACK_ON_PATH(completed, r_num, r_stored) \
  :: !(r_pending & PREVIOUS) && !(r_pending & CURRENT) -> r_pending = r_pending & ~HOLD; ACK_ON_PATH(completed, r_held, 0) \
  fi

inline pick_slice() {   /* SCH-1: any slice that is not acked */
  if
  :: !(s_acked & 1) -> pick = 0
  :: s_num > 1 && !(s_acked & 2) -> pick = 1
  :: s_num > 2 && !(s_acked & 4) -> pick = 2
  fi
}
#include "tables.pml"

inline slice_arrives(kind) {
  x_c = (kind) / SLICES; x_k = (kind) % SLICES; x_id = (x_c + FIRST) % IDS; x_n = num[x_c];
  receiver_slice();
  x_c = 0; x_k = 0; x_id = 0; x_n = 0; half = 0;
}
inline ack_arrives(kind) {
  a_id = ((kind) / MASKS + FIRST) % IDS; a_mask = (kind) % MASKS; a_n = num[(kind) / MASKS];
  sender_ack();
  a_id = 0; a_mask = 0; a_n = 0;
}
inline setup() { i = 0; do :: i < CHUNKS -> num[i] = ((i % 3) == 0 -> SLICES : ((i % 3) == 1 -> 1 : 2)); i++ :: i == CHUNKS -> break od; i = 0 }

#ifndef LIVE
init {
  setup();
  do
  :: atomic { s_chunk < CHUNKS -> if :: valid = 1 :: valid = 0 fi; sender_submit(); valid = 0 }
  :: atomic { /* the scheduler returns any slice that is not acked, or none */
       if :: due = 0 :: s_state == SENDING -> due = 1; pick_slice() fi;
       if :: s_late = 0 :: GIVEUP && s_state == SENDING -> s_late = 1 fi;
       sender_poll(); due = 0; s_late = 0; pick = 0 }
  :: atomic { if :: r_late = 0 :: GIVEUP && r_state == RECEIVING -> r_late = 1 fi;
       if :: ripe = 0 :: ripe = 1 fi;
       receiver_poll(); r_late = 0; ripe = 0 }
  :: atomic { receiver_read() }
  :: atomic { i = 0; do :: i < CHUNKS * SLICES - 1 -> i++ :: break od; if :: slices_on_path[i] && MAY_ARRIVE(i / SLICES) -> if :: half = 0 :: half = 1 fi; slice_arrives(i) :: else fi; i = 0 }
  :: atomic { i = 0; do :: i < CHUNKS * MASKS - 1 -> i++ :: break od; if :: acks_on_path[i] && MAY_ARRIVE(i / MASKS) -> ack_arrives(i) :: else fi; i = 0 }
  od
}
#else
active proctype App() {
  setup();
  do :: atomic { s_chunk < CHUNKS && s_state == IDLE -> valid = 1; sender_submit(); valid = 0 } od
}
active proctype Sender() { /* SCH-2: slices that are not acked are returned again and again, in any order */
  do :: atomic { s_state == SENDING -> due = 1; pick_slice(); s_late = (GIVEUP && s_age >= AGE);
       sender_poll(); due = 0; s_late = 0; pick = 0 } od
}
active proctype Receiver() { /* ACQ-1 */
  do :: atomic { (r_pending != 0 && !ack_air) || (GIVEUP && r_state == RECEIVING && r_age >= AGE) -> ripe = !ack_air; r_late = (GIVEUP && r_age >= AGE);
       receiver_poll(); ripe = 0; r_late = 0 } od
}
#ifndef NOREAD
active proctype Reader() { do :: atomic { r_state == READY -> receiver_read() } od }
#endif
#if GIVEUP == 2
active proctype Clock() {
  do
  :: atomic { s_state == SENDING && s_age < AGE -> s_age++; if :: r_state == RECEIVING && r_age < AGE -> r_age++ :: else fi }
  :: atomic { !(s_state == SENDING && s_age < AGE) && r_state == RECEIVING && r_age < AGE -> r_age++ }
  od
}
#endif
proctype SliceCarrier(byte kind) {
  do
  :: atomic { slices_on_path[kind] -> slices_lost[kind] = 0; if :: slices_on_path[kind] = 0 :: skip /* it arrives once more */ fi; slice_arrives(kind) }
  :: atomic { slices_on_path[kind] && (GIVEUP == 2 || slices_lost[kind] < LOSS) -> slices_on_path[kind] = 0; if :: GIVEUP != 2 -> slices_lost[kind]++ :: else fi }
  od
}
active proctype AckCarrier() {
  do
  :: atomic { ack_air -> ack_lost = 0; ack_air = 0; i = ack_c * MASKS + ack_m; ack_arrives(i); i = 0; ack_c = 0; ack_m = 0 }
  :: atomic { ack_air && (GIVEUP == 2 || ack_lost < LOSS) -> ack_air = 0; ack_c = 0; ack_m = 0; if :: GIVEUP != 2 -> ack_lost++ :: else fi }
  od
}
init { atomic {
  run SliceCarrier(0); run SliceCarrier(1);
#if CHUNKS > 1
  run SliceCarrier(SLICES);
#endif
#if CHUNKS > 2
  run SliceCarrier(2 * SLICES); run SliceCarrier(2 * SLICES + 1);
#endif
} }
/* Each chunk is delivered, and reported as delivered. */
ltl LIVE_2 { <> (s_chunk == CHUNKS && delivered == CHUNKS && s_state == IDLE) }
/* A chunk in flight ends; so does one of which something has arrived. */
ltl LIVE_3_sender { [] (s_state == SENDING -> <> (s_state != SENDING)) }
ltl LIVE_3_receiver { [] (r_state == RECEIVING -> <> (r_state != RECEIVING)) }
/* With -DNOREAD: a chunk is reported as delivered though nobody reads it (R14). */
ltl unread { <> (s_chunk >= 1) }
/* An ack of the previous chunk that is due is sent. */
ltl LIVE_1 { [] ((r_pending & PREVIOUS) -> <> !(r_pending & PREVIOUS)) }
#endif
