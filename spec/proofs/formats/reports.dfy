// CHANNELS.md: a set of missing sequences has one list of groups in a REPORT.
//
// A group has the distance of its start from base, and 32 bits: bit i names the sequence at distance
// d - 1 - i. Distances are at least 33 apart (CHR-33). The proof goes from the newest group down.
module Reports {
  datatype Group = Group(d: nat, bits: seq<bool>)

  // CHR-32 to CHR-34, of distances. With CHR-32 a start follows from its distance.
  predicate Valid(gs: seq<Group>) {
    (forall i :: 0 <= i < |gs| ==> |gs[i].bits| == 32) &&
    (forall i, j :: 0 <= i < j < |gs| ==> gs[i].d + 33 <= gs[j].d)
  }
  predicate In(g: Group, x: int) requires |g.bits| == 32 { x == g.d || (0 <= g.d - 1 - x < 32 && g.bits[g.d - 1 - x]) }
  predicate Names(gs: seq<Group>, x: int) requires Valid(gs) { exists i :: 0 <= i < |gs| && In(gs[i], x) }

  // The newest sequence that is named is the start of the last group.
  lemma Newest(gs: seq<Group>, hs: seq<Group>)
    requires Valid(gs) && Valid(hs) && |gs| > 0
    requires forall x :: Names(gs, x) ==> Names(hs, x)
    ensures |hs| > 0 && gs[|gs| - 1].d <= hs[|hs| - 1].d
  {
    var d := gs[|gs| - 1].d;
    assert In(gs[|gs| - 1], d); assert Names(gs, d); assert Names(hs, d);
    var i :| 0 <= i < |hs| && In(hs[i], d);
    assert d <= hs[i].d;
    if i < |hs| - 1 { assert hs[i].d + 33 <= hs[|hs| - 1].d; }
  }

  // What the last group can name, no other group can.
  lemma OfTheLast(gs: seq<Group>, x: int)
    requires Valid(gs) && |gs| > 0
    ensures Valid(gs[..|gs| - 1])
    ensures var g := gs[|gs| - 1];
      (x > g.d - 33 ==> (Names(gs, x) <==> In(g, x))) && (Names(gs[..|gs| - 1], x) <==> Names(gs, x) && x <= g.d - 33)
  {
    var n := |gs| - 1; var g := gs[n]; var p := gs[..n];
    forall i | 0 <= i < n ensures p[i] == gs[i] && (In(gs[i], x) ==> x <= g.d - 33) { assert gs[i].d + 33 <= g.d; }
    if Names(p, x) { var i :| 0 <= i < n && In(p[i], x); assert In(gs[i], x); assert Names(gs, x); }
    if Names(gs, x) && x <= g.d - 33 {
      var i :| 0 <= i < |gs| && In(gs[i], x);
      assert i != n; assert In(p[i], x); assert Names(p, x);
    }
    if x > g.d - 33 && Names(gs, x) { var i :| 0 <= i < |gs| && In(gs[i], x); assert i == n; }
  }

  lemma OneList(gs: seq<Group>, hs: seq<Group>)
    requires Valid(gs) && Valid(hs) && forall x :: Names(gs, x) <==> Names(hs, x)
    ensures gs == hs
    decreases |gs|
  {
    if |gs| > 0 { Newest(gs, hs); }
    if |hs| > 0 { Newest(hs, gs); }
    if |gs| > 0 {
      var g, h := gs[|gs| - 1], hs[|hs| - 1];
      forall i | 0 <= i < 32 ensures g.bits[i] == h.bits[i] {
        var x := g.d - 1 - i;
        OfTheLast(gs, x); OfTheLast(hs, x);
        assert In(g, x) == g.bits[i]; assert In(h, x) == h.bits[i];
      }
      assert g.bits == h.bits;
      var p, q := gs[..|gs| - 1], hs[..|hs| - 1];
      forall x ensures Valid(p) && Valid(q) && (Names(p, x) <==> Names(q, x)) { OfTheLast(gs, x); OfTheLast(hs, x); }
      OneList(p, q);
      assert gs == p + [g] && hs == q + [h];
    }
  }
}
