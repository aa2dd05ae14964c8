/* A client with an identity, an entry of a server, and a network. The machines are made from the tables of CONNECTION.md
 * (tables.pml). An attempt is a nonce with its share, so that its number is its hello; a challenge is its stamp; a PROOF
 * and its answer are named by the stamp; a connection is its link. Keys are not in the model: see labels and conform/sim/handshake.
 *
 * Safety (without -DLIVE): each message that was ever sent may arrive at any time, any number of times, or never;
 *   anybody can send an unproven REFUSED. A client crashes or moves, a server ends a connection, has no room or
 *   restarts, as often as CRASHES, MOVES, ENDS, FULL and RESTARTS say; it closes or times out at any time.
 * Liveness (-DLIVE): a message of each kind is on the path at a time, and is lost at most once in a row. Nothing times
 *   out, and a client closes as often as CLOSES says. A LINK is
 *   answered with the stamp that was given before, unless that has become useless or one of EXTRA more is given.
 * Time: "passed" is the number of the last stamp whose cookie is too old. An entry is forgotten only when all stamps
 *   are too old that were given before its time began, since COOKIE_LIFE is at most HALF_OPEN and REMEMBER.
 */
#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef STAMPS
#define STAMPS 3
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef MOVES
#define MOVES 0
#endif
#ifndef ENDS
#define ENDS 0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef FULL
#define FULL 0
#endif
#ifndef CLOSES
#define CLOSES 0
#endif
#ifndef EXTRA
#define EXTRA 0
#endif
#define BIT(k) (1 << (k))
#define LINKING 0
#define OPEN 1
#define RELINKING 2
#define CLOSED 3
#define FREE 4
#define UNCONFIRMED 5
#define CONFIRMED 6
#define ENDED 7

byte k_state = LINKING, k_attempt, k_link, k_kept, k_proved;
bit k_hint, k_spoke, k_moving;
byte e_state = FREE, e_link, e_hello, e_newest, e_at;
byte resume[ATTEMPTS + 1], attempts = 1;             /* of each attempt, the link that it resumes */
byte from[STAMPS + 1], given, passed;                /* of each stamp, the attempt whose LINK drew it, and 1 */
byte linked[STAMPS + 1], maker[STAMPS + 1], links;   /* of each PROOF the link of its answer; of each link the attempt */
byte refused, made, taken;                           /* PROOFs; the largest stamp that was taken */
byte crashes = CRASHES, moves = MOVES, ends = ENDS, restarts = RESTARTS, closes = CLOSES, extra = EXTRA;

/* the arguments of an event */
byte x, pick, i;
bool late, stands, proof_due, link_due, silence, forged, crowded;

#define HAS_LINK (k_state == OPEN || k_state == RELINKING)
#define LIVING (e_state == UNCONFIRMED || e_state == CONFIRMED)
#define HELLO (from[x] - 1)
#define RESUME resume[from[x] - 1]
#define RELATED (RESUME == 0 || RESUME == e_link)
#define PLACED assert(x >= taken); taken = x; e_hello = HELLO; e_newest = x; e_at = given
#define CLEAR_ENTRY e_link = 0; e_hello = 0; e_newest = 0; e_at = 0
#define NEW_ATTEMPT k_attempt = attempts; resume[attempts] = k_link; attempts++; k_kept = 0; k_proved = 0; k_hint = 0
/* CXT-SAFE-2: the client's keys are made from the PROOF that made the connection. */
#define SAFE_2 assert(maker[k_link] == k_attempt)
#define SAFE_2_MOVED assert(linked[x] == k_link && resume[k_attempt] == k_link)
/* CXT-SAFE-3: no PROOF makes a connection twice, or after a newer one. */
#define SAFE_3 assert(x > taken && !(made & BIT(x)))
/* CXT-SAFE-4: no connection that a client has is replaced, and none that lives is refused. */
#define SAFE_4_END assert(event_end || !(HAS_LINK && k_link == e_link))
#define SAFE_4_REFUSE assert(!(LIVING && RESUME == e_link))
bool event_end;

#ifdef LIVE
byte link_air, challenge_air, proof_air, linked_air, refused_air, up_air, down_air;
#define LINK_SENT(a) link_air = (a) + 1
#define PROOF_SENT(s) proof_air = s
#define LINKED_SENT(s) linked[s] = e_link; linked_air = s
#define REFUSED_SENT(s) refused = refused | BIT(s); refused_air = s
#else
byte link_sent, proof_sent, up_sent, down_sent;
#define LINK_SENT(a) link_sent = link_sent | BIT(a)
#define PROOF_SENT(s) proof_sent = proof_sent | BIT(s)
/* the same PROOF has one LINKED */
#define LINKED_SENT(s) assert(linked[s] == 0 || linked[s] == e_link); linked[s] = e_link
#define REFUSED_SENT(s) refused = refused | BIT(s)
#endif

#include "tables.pml"

inline challenges(a) { given++; from[given] = a + 1 }
inline server_gets_proof(s) { x = s; session_server_proof(); x = 0; crowded = 0 }
inline server_ends() { event_end = 1; session_server_end(); event_end = 0; ends-- }
inline server_restarts() { e_state = FREE; CLEAR_ENTRY; passed = given; taken = given; restarts-- }
inline client_gets_linked(s) { x = s; session_client_linked(); x = 0 }
inline client_gets_refused(s) { x = s;
  /* CXT-SAFE-4: a client whose connection lives is not refused */
  assert(!((k_proved & BIT(s)) && k_state == RELINKING && LIVING && e_link == k_link));
  session_client_refused(); x = 0 }
inline client_crashes() { k_link = 0; k_state = LINKING; k_spoke = 0; k_moving = 0; NEW_ATTEMPT; crashes-- }
inline client_moves() { k_moving = HAS_LINK; session_client_move(); moves-- }
#define MOVES_LEFT (moves && attempts < ATTEMPTS && k_state != CLOSED)

#ifndef LIVE
hidden byte before;
inline any(most) { i = 0; do :: i < most -> i++ :: break od }
init {
  do
  :: atomic { k_state != CLOSED -> /* a poll */
       if :: late = 0 :: late = 1 fi; if :: stands = 0 :: k_hint -> stands = 1 fi;
       if :: proof_due = 0 :: k_kept != 0 -> proof_due = 1; any(STAMPS); pick = i; i = 0; if :: k_kept & BIT(pick) :: else -> proof_due = 0; pick = 0 fi fi;
       if :: link_due = 0 :: link_due = 1 fi; if :: silence = 0 :: attempts < ATTEMPTS && k_state == OPEN -> silence = 1 fi;
       session_client_poll(); late = 0; stands = 0; proof_due = 0; pick = 0; link_due = 0; silence = 0 }
  :: atomic { given < STAMPS -> any(ATTEMPTS - 1); if :: link_sent & BIT(i) -> challenges(i) :: else fi; i = 0 }
  :: atomic { any(STAMPS); if :: i && i <= given -> x = i; session_client_challenge(); x = 0 :: else fi; i = 0 }
  :: atomic { any(STAMPS); if :: (proof_sent & BIT(i)) && i > passed -> if :: crowded = 0 :: FULL -> crowded = 1 fi; server_gets_proof(i) :: else fi; i = 0 }
  :: atomic { any(STAMPS); if :: linked[i] -> client_gets_linked(i) :: else fi; i = 0 }
  :: atomic { any(STAMPS); if :: refused & BIT(i) -> client_gets_refused(i) :: else fi; i = 0 }
  :: atomic { before = k_state; forged = 1; session_client_refused(); forged = 0; assert(before == LINKING || k_state == before) } /* CXT-SAFE-4 */
  :: atomic { HAS_LINK && !k_moving -> k_spoke = 1; up_sent = up_sent | BIT(k_link) }
  :: atomic { e_state != FREE && (up_sent & BIT(e_link)) -> session_server_data() }
  :: atomic { e_state == CONFIRMED -> down_sent = down_sent | BIT(e_link) }
  :: atomic { k_state != LINKING && (down_sent & BIT(k_link)) -> session_client_data() }
  :: atomic { passed < given -> passed++ }
  :: atomic { e_state != FREE -> session_server_poll() }
  :: atomic { MOVES_LEFT -> client_moves() }
  :: atomic { k_state != CLOSED -> session_client_close() }
  :: atomic { crashes && attempts < ATTEMPTS -> client_crashes() }
  :: atomic { ends && e_state != FREE -> server_ends() }
  :: atomic { restarts -> server_restarts() }
  od
}
#else
#define WAITS (k_state == LINKING || k_state == RELINKING)
#define USELESS(s) (s <= passed || (e_state != FREE && s < e_newest) || (e_state == ENDED && s == e_newest))
active proctype Links() { do :: atomic { WAITS && !link_air -> link_due = 1; session_client_poll(); link_due = 0 } od }
active proctype Proofs() { /* CXC-6: the first that was not proved, otherwise the last */
  do :: atomic { WAITS && k_kept != 0 && !proof_air -> i = 1;
       do :: i <= STAMPS -> if :: k_kept & BIT(i) -> pick = i; if :: !(k_proved & BIT(i)) -> break :: else fi :: else fi; i++ :: else -> break od;
       i = 0; proof_due = 1; session_client_poll(); proof_due = 0; pick = 0 } od
}
active proctype Link() { bit lost; byte s; do
  :: atomic { link_air && !challenge_air -> lost = 0; s = given; do :: s > 0 && from[s] != link_air -> s-- :: else -> break od;
       if :: s == 0 || USELESS(s) -> challenges(link_air - 1); s = given
       :: s != 0 && extra -> extra--; challenges(link_air - 1); s = given
       :: s != 0 && !USELESS(s) fi;
       challenge_air = s; link_air = 0; s = 0 }
  :: atomic { link_air && !lost -> lost = 1; link_air = 0 } od }
active proctype Challenge() { bit lost; do
  :: atomic { challenge_air -> lost = 0; x = challenge_air; challenge_air = 0; session_client_challenge(); x = 0 }
  :: atomic { challenge_air && !lost -> lost = 1; challenge_air = 0 } od }
active proctype Proof() { bit lost; byte s; do
  :: atomic { proof_air && !linked_air && !refused_air -> lost = 0; s = proof_air; proof_air = 0; if :: s > passed -> server_gets_proof(s) :: else fi; s = 0 }
  :: atomic { proof_air && !lost -> lost = 1; proof_air = 0 } od }
active proctype Linked() { bit lost; byte s; do
  :: atomic { linked_air -> lost = 0; s = linked_air; linked_air = 0; client_gets_linked(s); s = 0 }
  :: atomic { linked_air && !lost -> lost = 1; linked_air = 0 } od }
active proctype Refused() { bit lost; byte s; do
  :: atomic { refused_air -> lost = 0; s = refused_air; refused_air = 0; client_gets_refused(s); s = 0 }
  :: atomic { refused_air && !lost -> lost = 1; refused_air = 0 } od }
active proctype Up() { bit lost; do
  :: atomic { HAS_LINK && !k_moving && !up_air -> k_spoke = 1; up_air = k_link }
  :: atomic { up_air -> lost = 0; if :: e_state != FREE && e_link == up_air -> session_server_data() :: else fi; up_air = 0 }
  :: atomic { up_air && !lost -> lost = 1; up_air = 0 } od }
active proctype Down() { bit lost; do
  :: atomic { e_state == CONFIRMED && !down_air -> down_air = e_link }
  :: atomic { down_air -> lost = 0; if :: HAS_LINK && k_link == down_air -> session_client_data() :: else fi; down_air = 0 }
  :: atomic { down_air && !lost -> lost = 1; down_air = 0 } od }
active proctype Silence() { /* nothing is heard of a connection that does not live */
  do :: atomic { k_state == OPEN && k_spoke && down_air != k_link && !(LIVING && e_link == k_link) -> silence = 1; session_client_poll(); silence = 0 } od }
active proctype HalfOpen() { /* nobody confirms a connection whose client is gone */
  do :: atomic { e_state == UNCONFIRMED && up_air != e_link && proof_air == 0 && (k_state == CLOSED || (k_link != e_link && k_attempt != e_hello)) -> passed = (passed > e_at -> passed : e_at); session_server_poll() } od }
active proctype Trouble() { do
  :: atomic { MOVES_LEFT -> client_moves() }
  :: atomic { crashes -> client_crashes() }
  :: atomic { ends && LIVING -> server_ends() }
  :: atomic { restarts -> server_restarts() }
  :: atomic { closes -> session_client_close(); closes-- }
  :: break od }
/* CXT-LIVE-1: linking ends; without the end of a connection it ends in OPEN. */
ltl opens { [] (WAITS -> <> (k_state == OPEN)) }
ltl ends_or_opens { [] (WAITS -> <> !WAITS) }
/* CXT-LIVE-4: a client whose connection is not at the server is CLOSED. */
ltl noticed { [] ((HAS_LINK && !(LIVING && e_link == k_link)) -> <> (k_state == CLOSED)) }
/* CXT-LIVE-2: a connection that nobody confirms is forgotten. */
ltl half_open { [] (e_state == UNCONFIRMED -> <> (e_state != UNCONFIRMED)) }
#endif
