/* Lanes that share a path: PROTOCOL.md, appendix D.
 *
 * The path carries one slice in a tick. Each lane has a chunk in flight of which any part is not
 * acked: the rate has just fallen. Without LAN-13 slices of the earlier chunk are sent first (LAN-8).
 * RULE 0: LAN-8 alone. 1: news of any lane counts for the giving up of all. 2: LAN-13.
 * CLAIM 1: no lane gives up while the path carries slices (SND-9). 2: no lane is silent for longer
 * than SLICE_LIMIT (SCH-2).
 */
#ifndef LANES
#define LANES 3
#endif
#ifndef SLICES
#define SLICES 6     /* of a chunk */
#endif
#ifndef GIVE_UP
#define GIVE_UP 10   /* ticks, as all times */
#endif
#ifndef SLICE_LIMIT
#define SLICE_LIMIT 6
#endif
#ifndef LANE_TURN
#define LANE_TURN 3
#endif
#ifndef LOSSES
#define LOSSES 0     /* of one lane in a row */
#endif
byte left[LANES];    /* slices that are not acked */
byte turn[LANES];    /* the place of the lane's chunk among the chunks in flight */
byte heard[LANES];   /* since an ack with news */
byte quiet[LANES];  /* since a slice of the lane was sent */
byte lost[LANES];
byte i, first, longest;

#define EACH(what) i = 0; do :: i < LANES -> what; i++ :: else -> break od

init {
  EACH(turn[i] = i; if :: left[i] = 1 :: left[i] = SLICES / 2 :: left[i] = SLICES fi);
  do
  :: atomic {
       first = LANES;
       EACH(if :: first == LANES || turn[i] < turn[first] -> first = i :: else fi);
#if RULE == 2
       longest = LANES;
       EACH(if :: quiet[i] >= LANE_TURN && heard[i] >= LANE_TURN && (longest == LANES || quiet[i] > quiet[longest]) -> longest = i :: else fi);
       if :: longest < LANES -> first = longest :: else fi;
#endif
       EACH(heard[i]++; quiet[i]++);
       quiet[first] = 0;
       if
       :: lost[first] < LOSSES -> lost[first]++
       :: lost[first] = 0; left[first]--; heard[first] = 0;
#if RULE == 1
          EACH(heard[i] = 0);
#endif
          if
          :: left[first] == 0 -> /* its next chunk is the latest of all */
             EACH(if :: turn[i] > turn[first] -> turn[i]-- :: else fi);
             turn[first] = LANES - 1; left[first] = SLICES
          :: else
          fi
       fi;
#if CLAIM == 1
       EACH(assert(heard[i] < GIVE_UP));
#else
       EACH(assert(quiet[i] <= SLICE_LIMIT));
#endif
       i = 0; first = 0; longest = 0
     }
  od
}
