// A format that is read in parts: where its bits have one meaning, and a meaning has one encoding.
//
// next says what stands behind the parts that were read, and so many bits before the end: a part of
// so many bits, the end, or a refusal. It is what a layout is. Which numbers, bytes, flags and zeros the
// parts are, and what follows from them, is in value; what an encoder makes of a value is in parts.
// prove.py proves the two premises of OneEncoding for each layout.
module Tokens {
  type Part = seq<bool>
  type Layout = (seq<Part>, nat) -> Step
  datatype Step = Read(size: nat) | End | Refuse
  datatype Result = Got(parts: seq<Part>) | Refused
  datatype Option<V> = Some(v: V) | None

  function Bits(parts: seq<Part>): seq<bool>
  { if |parts| == 0 then [] else parts[0] + Bits(parts[1..]) }

  // What a decoder reads of bits, behind parts, in at most so many parts.
  function Read(next: Layout, most: nat, before: seq<Part>, s: seq<bool>): Result
    decreases most
  {
    match next(before, |s|)
    case End => if |s| == 0 then Got([]) else Refused
    case Refuse => Refused
    case Read(size) =>
      if size > |s| || most == 0 then Refused
      else match Read(next, most - 1, before + [s[..size]], s[size..])
        case Refused => Refused
        case Got(rest) => Got([s[..size]] + rest)
  }

  // Parts that a decoder takes.
  predicate Takes(next: Layout, most: nat, before: seq<Part>, parts: seq<Part>)
    decreases |parts|
  {
    if |parts| == 0 then next(before, 0) == End
    else most > 0 && next(before, |Bits(parts)|) == Step.Read(|parts[0]|) && Takes(next, most - 1, before + [parts[0]], parts[1..])
  }

  // What is read is what stood there: no bit is read twice, and none is left.
  lemma ReadIsAll(next: Layout, most: nat, before: seq<Part>, s: seq<bool>)
    requires Read(next, most, before, s).Got?
    ensures var parts := Read(next, most, before, s).parts; Bits(parts) == s && Takes(next, most, before, parts)
    decreases most
  {
    match next(before, |s|) {
      case End =>
      case Refuse =>
      case Read(size) =>
        var part, rest := s[..size], s[size..];
        ReadIsAll(next, most - 1, before + [part], rest);
        var parts := Read(next, most, before, s).parts;
        assert parts[1..] == Read(next, most - 1, before + [part], rest).parts;
        assert s == part + rest;
    }
  }

  // What is taken is read.
  lemma TakenIsRead(next: Layout, most: nat, before: seq<Part>, parts: seq<Part>)
    requires Takes(next, most, before, parts)
    ensures Read(next, most, before, Bits(parts)) == Got(parts)
    decreases |parts|
  {
    if |parts| > 0 {
      var s := Bits(parts);
      assert s[..|parts[0]|] == parts[0];
      assert s[|parts[0]|..] == Bits(parts[1..]);
      TakenIsRead(next, most - 1, before + [parts[0]], parts[1..]);
      assert parts == [parts[0]] + parts[1..];
    }
  }

  // A format: its layout, and what parts and values are to each other.
  datatype Format<!V> = Format(next: Layout, most: nat, value: seq<Part> -> V, parts: V -> seq<Part>, valid: V -> bool)

  predicate Accepts<V>(f: Format<V>, parts: seq<Part>) { Takes(f.next, f.most, [], parts) }
  function Decode<V>(f: Format<V>, s: seq<bool>): Option<V>
  {
    match Read(f.next, f.most, [], s)
    case Refused => None
    case Got(parts) => Some(f.value(parts))
  }
  function Encode<V>(f: Format<V>, v: V): seq<bool> { Bits(f.parts(v)) }

  // The premises.
  predicate Decoded<V(!new)>(f: Format<V>) { forall parts :: Accepts(f, parts) ==> f.valid(f.value(parts)) && f.parts(f.value(parts)) == parts }
  predicate Encoded<V(!new)>(f: Format<V>) { forall v :: f.valid(v) ==> Accepts(f, f.parts(v)) && f.value(f.parts(v)) == v }

  lemma RoundTrip<V(!new)>(f: Format<V>, v: V)
    requires Encoded(f) && f.valid(v)
    ensures Decode(f, Encode(f, v)) == Some(v)
  { TakenIsRead(f.next, f.most, [], f.parts(v)); }

  lemma Canonical<V(!new)>(f: Format<V>, s: seq<bool>)
    requires Decoded(f) && Decode(f, s).Some?
    ensures f.valid(Decode(f, s).v) && Encode(f, Decode(f, s).v) == s
  { ReadIsAll(f.next, f.most, [], s); }

  lemma OneEncoding<V(!new)>(f: Format<V>, a: seq<bool>, b: seq<bool>)
    requires Decoded(f) && Decode(f, a).Some? && Decode(f, a) == Decode(f, b)
    ensures a == b
  { Canonical(f, a); Canonical(f, b); }
}
