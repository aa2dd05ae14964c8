// PROTOCOL.md, section 3: a part of a format is a number, or bytes, and no two of them are the same bits.
module Bits {
  type byte = b: int | 0 <= b < 256

  function Power(n: nat): nat ensures Power(n) > 0 { if n == 0 then 1 else 2 * Power(n - 1) }

  // The low n bits of a number, the lowest first (BIT-2), and the number of bits.
  function Of(v: nat, n: nat): seq<bool>
    decreases n
    ensures |Of(v, n)| == n
  { if n == 0 then [] else [v % 2 == 1] + Of(v / 2, n - 1) }
  function Number(s: seq<bool>): nat { if |s| == 0 then 0 else (if s[0] then 1 else 0) + 2 * Number(s[1..]) }

  lemma {:induction false} NumberIsRead(v: nat, n: nat)
    requires v < Power(n)
    ensures Number(Of(v, n)) == v
    decreases n
  {
    if n > 0 {
      assert Of(v, n)[1..] == Of(v / 2, n - 1);
      NumberIsRead(v / 2, n - 1);
    }
  }

  lemma {:induction false} BitsAreWritten(s: seq<bool>)
    ensures Number(s) < Power(|s|) && Of(Number(s), |s|) == s
  {
    if |s| > 0 {
      BitsAreWritten(s[1..]);
      assert Number(s) / 2 == Number(s[1..]);
      assert s == [s[0]] + s[1..];
    }
  }

  // Bit k of byte n is bit 8n + k of the stream (BIT-1).
  function Stream(d: seq<byte>): seq<bool>
    ensures |Stream(d)| == 8 * |d|
  { if |d| == 0 then [] else Of(d[0], 8) + Stream(d[1..]) }
  function Bytes(s: seq<bool>): seq<byte>
    requires |s| % 8 == 0
    ensures |Bytes(s)| == |s| / 8
  { if |s| == 0 then [] else BitsAreWritten(s[..8]); Eight(); [Number(s[..8])] + Bytes(s[8..]) }
  lemma Eight() ensures Power(8) == 256 { assert Power(4) == 16; assert Power(8) == 2 * 2 * 2 * 2 * Power(4); }

  lemma {:induction false} StreamIsRead(d: seq<byte>)
    ensures Bytes(Stream(d)) == d
  {
    if |d| > 0 {
      var s := Stream(d);
      assert s[..8] == Of(d[0], 8) && s[8..] == Stream(d[1..]);
      Eight(); NumberIsRead(d[0], 8); StreamIsRead(d[1..]);
      assert d == [d[0]] + d[1..];
    }
  }

  lemma {:induction false} BytesAreWritten(s: seq<bool>)
    requires |s| % 8 == 0
    ensures Stream(Bytes(s)) == s
  {
    if |s| > 0 {
      var d := Bytes(s);
      BitsAreWritten(s[..8]); Eight();
      assert d[0] == Number(s[..8]) && d[1..] == Bytes(s[8..]);
      BytesAreWritten(s[8..]);
      assert s == s[..8] + s[8..];
    }
  }

  lemma {:induction false} BitOfByte(d: seq<byte>, n: nat, k: nat)
    requires n < |d| && k < 8
    ensures Stream(d)[8 * n + k] == (d[n] / Power(k) % 2 == 1)
  {
    if n == 0 { BitOf(d[0], 8, k); }
    else { BitOfByte(d[1..], n - 1, k); assert Stream(d)[8 * n + k] == Stream(d[1..])[8 * (n - 1) + k]; }
  }
  lemma {:induction false} BitOf(v: nat, n: nat, k: nat)
    requires k < n
    ensures Of(v, n)[k] == (v / Power(k) % 2 == 1)
    decreases n
  {
    if k > 0 {
      BitOf(v / 2, n - 1, k - 1);
      Halved(v, Power(k - 1));
    }
  }
  lemma Halved(v: nat, m: nat)
    requires m > 0
    ensures (v / 2) / m == v / (2 * m)
  {
    var q, r := v / (2 * m), v % (2 * m);
    var t := q * m;
    assert v == q * (2 * m) + r && q * (2 * m) == 2 * t by { Twice(q, m); }
    assert v / 2 == t + r / 2;
    OneQuotient(v / 2, m, q, r / 2);
  }
  lemma Twice(q: int, m: int) ensures q * (2 * m) == 2 * (q * m) {}
  lemma OneQuotient(x: nat, m: nat, q: nat, r: nat)
    requires m > 0 && x == q * m + r && r < m
    ensures x / m == q
  {
    var d := x / m - q;
    assert d * m == r - x % m;
    if d > 0 { assert d * m >= m; } else if d < 0 { assert d * m <= -m; }
  }
}
