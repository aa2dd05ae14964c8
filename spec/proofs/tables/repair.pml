/* A sender and a receiver of repair slices, and a network. The machines are made from the tables of REPAIR.md (tables.pml).
 *
 * Which slices are dependent is any answer, each time that one arrives, except the first of a chunk.
 * Safety (without -DLIVE): each datagram that was ever sent may arrive at any time, any number of times, or
 *   never, as CON-9 allows. A sender sends at most SENDS slices of a chunk.
 * Liveness (-DLIVE): two slices and an ack are on the path at a time, and arrive in any order, a slice once or
 *   twice. At most LOSS slices in a row are lost or dependent, and at most LOSS acks in a row are lost; with
 *   GIVEUP 2 all may be lost. Transmissions after the first SENDS have one number, and none of them is a duplicate.
 * Ids do not wrap: numbers/wraps.py proves RPN-3 and RPN-5. GIVEUP is as in chunk.pml.
 */
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef IDS
#define IDS 3
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
#define SLICES 3
#endif
#ifndef SENDS
#define SENDS 5
#endif
#define BIT(k) (1 << (k))
#define IDLE 0
#define SENDING 1
#define WAITING 2
#define RECEIVING 3
#define READY 4
#define FAILED 5
#define MAY_ARRIVE(c) (completed < (c) + IDS)
#define CURRENT 1
#define PREVIOUS 2
#define HOLD 4

byte num[CHUNKS+1];
byte s_state = IDLE, s_id = FIRST, s_num, s_sent, s_have, s_top, s_age, s_chunk;
byte r_state = WAITING, r_id = FIRST, r_num, r_held, r_have, r_top, r_before, r_before_top, r_pending, r_holds, r_age;
byte completed, delivered;       /* what the receiver completed, and what was read: no machine sees it */

/* the arguments of an event */
bool valid, due, ripe, s_late, r_late, half, dep;
byte a_id, a_n, a_have, a_top, x_c, x_id, x_n, x_i, i;

#define FOREIGN_ACK (a_id != s_id || a_n != s_num || a_top > s_sent || a_have > a_top)
#define NEWS (a_have > s_have || a_top > s_top)
#define HOLDING (a_have == 0 && a_top == 0 && s_have == 0 && s_top == 0 && s_sent != 0)
#define PREVIOUS_SLICE (x_id == (r_id + IDS - 1) % IDS && x_n == r_before)
#define FOREIGN_SLICE (x_id != r_id)
#define OWN_SLICE (!PREVIOUS_SLICE && !FOREIGN_SLICE && r_state != READY)
#define OTHER_NUMBER (r_state == RECEIVING && x_n != r_num)
#define IN_HELD(n) ((n) < SENDS -> BIT(n) : 0)
#define STORED ((r_held & IN_HELD(x_i)) != 0)
#define DEPENDENT (r_have != 0 && dep)
#define CLEAR_SENDER s_num = 0; s_sent = 0; s_have = 0; s_top = 0
#define CLEAR_RECEIVER r_num = 0; r_held = 0; r_have = 0; r_top = 0
/* RPV-SAFE-4 */
#define SAFE_4 assert(completed > s_chunk || (completed == s_chunk && s_have <= r_have && s_top <= r_top) || r_state == FAILED)
#define NUMBER(n) ((n) < SENDS -> (n) : SENDS)

#ifdef LIVE
byte path_c[2], path_i[2], in_a_row, acks_in_a_row; bit path_there[2], path_again[2];
byte ack_c, ack_have, ack_top; bit ack_air;
#define ENTERS(k, c, n) path_c[k] = c; path_i[k] = n; path_there[k] = 1
#define SLICE_SENT(c, n) if :: path_there[0] -> ENTERS(1, c, n) :: else -> ENTERS(0, c, n) fi
#define ACK_ON_PATH(c, n, h, t) assert((n) == num[c]); ack_c = c; ack_have = h; ack_top = t; ack_air = 1
#else
byte slices[CHUNKS];
int acks[CHUNKS];
#define SLICE_SENT(c, n) slices[c] = slices[c] | BIT(n)
#define ACK_ON_PATH(c, n, h, t) assert((n) == num[c]); acks[c] = acks[c] | BIT((h) * (SENDS + 1) + (t))
#endif
#define ACK_SENT if \
  :: (r_pending & PREVIOUS) -> r_pending = r_pending & ~PREVIOUS; ACK_ON_PATH(completed - 1, r_before, r_before, r_before_top) \
  :: !(r_pending & PREVIOUS) && (r_pending & CURRENT) -> r_pending = r_pending & ~CURRENT; ACK_ON_PATH(completed, r_num, r_have, r_top) \
  :: !(r_pending & PREVIOUS) && !(r_pending & CURRENT) -> r_pending = r_pending & ~HOLD; ACK_ON_PATH(completed, r_holds, 0, 0); r_holds = 0 \
  fi

#include "tables.pml"

inline slice_arrives(c, n) {
  x_c = c; x_i = n; x_id = (x_c + FIRST) % IDS; x_n = num[x_c];
  repair_receiver_slice();
  x_c = 0; x_i = 0; x_id = 0; x_n = 0; half = 0; dep = 0;
}
hidden byte before;
inline ack_arrives(c, h, t) {
  before = s_have;
  a_id = (c + FIRST) % IDS; a_n = num[c]; a_have = h; a_top = t;
  /* RPV-SAFE-6 */
  assert(!(s_state == SENDING && c == s_chunk && FOREIGN_ACK));
  repair_sender_ack();
  assert(s_state != SENDING || s_have >= before); /* RPV-SAFE-3 */
  a_id = 0; a_n = 0; a_have = 0; a_top = 0;
}
inline setup() { i = 0; do :: i < CHUNKS -> num[i] = ((i % 3) == 0 -> SLICES : ((i % 3) == 1 -> 1 : 2)); i++ :: i == CHUNKS -> break od; i = 0 }

#ifndef LIVE
inline any(most) { i = 0; do :: i < most -> i++ :: break od }
init {
  byte c;
  setup();
  do
  :: atomic { s_chunk < CHUNKS -> if :: valid = 1 :: valid = 0 fi; repair_sender_submit(); valid = 0 }
  :: atomic { if :: due = 0 :: s_state == SENDING && s_sent < SENDS -> due = 1 fi;
       if :: s_late = 0 :: GIVEUP && s_state == SENDING -> s_late = 1 fi;
       repair_sender_poll(); due = 0; s_late = 0 }
  :: atomic { if :: r_late = 0 :: GIVEUP && r_state == RECEIVING -> r_late = 1 fi;
       if :: ripe = 0 :: ripe = 1 fi;
       repair_receiver_poll(); r_late = 0; ripe = 0 }
  :: atomic { repair_receiver_read() }
  :: atomic { any(CHUNKS - 1); c = i; any(SENDS - 1);
       if :: (slices[c] & BIT(i)) && MAY_ARRIVE(c) -> if :: half = 0 :: half = 1 fi; if :: dep = 0 :: dep = 1 fi; slice_arrives(c, i) :: else fi; i = 0; c = 0 }
  :: atomic { any(CHUNKS - 1); c = i; any((SLICES + 1) * (SENDS + 1) - 1);
       if :: (acks[c] & BIT(i)) && MAY_ARRIVE(c) -> ack_arrives(c, i / (SENDS + 1), i % (SENDS + 1)) :: else fi; i = 0; c = 0 }
  od
}
#else
active proctype App() {
  setup();
  do :: atomic { s_chunk < CHUNKS && s_state == IDLE -> valid = 1; repair_sender_submit(); valid = 0 } od
}
active proctype Sender() { /* RPX-9 */
  do :: atomic { (s_state == SENDING && !(path_there[0] && path_there[1])) || (GIVEUP && s_state == SENDING && s_age >= AGE) ->
       s_late = (GIVEUP && s_age >= AGE); due = 1;
       repair_sender_poll(); due = 0; s_late = 0 } od
}
active proctype Receiver() { /* ACQ-1 */
  do :: atomic { (r_pending != 0 && !ack_air) || (GIVEUP && r_state == RECEIVING && r_age >= AGE) -> ripe = !ack_air; r_late = (GIVEUP && r_age >= AGE);
       repair_receiver_poll(); ripe = 0; r_late = 0 } od
}
#ifndef NOREAD
active proctype Reader() { do :: atomic { r_state == READY -> repair_receiver_read() } od }
#endif
#if GIVEUP == 2
active proctype Clock() {
  do
  :: atomic { s_state == SENDING && s_age < AGE -> s_age++; if :: r_state == RECEIVING && r_age < AGE -> r_age++ :: else fi }
  :: atomic { !(s_state == SENDING && s_age < AGE) && r_state == RECEIVING && r_age < AGE -> r_age++ }
  od
}
#endif
inline leaves(k) { path_there[k] = 0; path_again[k] = 0; path_c[k] = 0; path_i[k] = 0 }
proctype SliceCarrier(byte k) {
  byte c, n;
  do
  :: atomic { path_there[k] -> c = path_c[k]; n = path_i[k];
       if :: in_a_row < LOSS -> dep = 1; in_a_row++ :: in_a_row = 0 fi;
       if :: leaves(k) :: !path_again[k] && n < SENDS -> path_again[k] = 1 fi;
       slice_arrives(c, n); c = 0; n = 0 }
  :: atomic { path_there[k] && (GIVEUP == 2 || in_a_row < LOSS) -> if :: GIVEUP != 2 -> in_a_row++ :: else fi; leaves(k) }
  od
}
active proctype AckCarrier() {
  byte c, h, t;
  do
  :: atomic { ack_air -> c = ack_c; h = ack_have; t = ack_top; acks_in_a_row = 0; ack_air = 0; ack_c = 0; ack_have = 0; ack_top = 0; ack_arrives(c, h, t); c = 0; h = 0; t = 0 }
  :: atomic { ack_air && (GIVEUP == 2 || acks_in_a_row < LOSS) -> ack_air = 0; ack_c = 0; ack_have = 0; ack_top = 0; if :: GIVEUP != 2 -> acks_in_a_row++ :: else fi }
  od
}
init { atomic { run SliceCarrier(0); run SliceCarrier(1) } }
/* RPV-LIVE-2: each chunk is delivered, and reported as delivered. */
ltl LIVE_2 { <> (s_chunk == CHUNKS && delivered == CHUNKS && s_state == IDLE) }
/* RPV-LIVE-3: a chunk in flight ends; so does one of which something has arrived. */
ltl LIVE_3_sender { [] (s_state == SENDING -> <> (s_state != SENDING)) }
ltl LIVE_3_receiver { [] (r_state == RECEIVING -> <> (r_state != RECEIVING)) }
/* With -DNOREAD: a chunk is reported as delivered though nobody reads it. */
ltl unread { <> (s_chunk >= 1) }
/* RPV-LIVE-1: an ack of the previous chunk that is due is sent. */
ltl LIVE_1 { [] ((r_pending & PREVIOUS) -> <> !(r_pending & PREVIOUS)) }
#endif
