// Package layout interprets the wire formats that spec/formats.json declares: bytes become
// named values or the first check that fails, with its code, its sentence and its place; values
// become bytes or the refusal of an encoder. It is slow, and imports the standard library only.
// Neither the product's codecs nor the ports are made from it: they are what it judges, and
// what judges it.
//
// # The language
//
// A layout is a list of items, which are walked in their order in both directions. An item is
// one of these nine:
//
//	{"bits": 16, "name": n}           a number of so many bits, low bit first; "plus" is added to it,
//	                                  and "names" gives some numbers names, which are then its values
//	{"bytes": E, "name": n}           so many bytes; with "text" they are a string
//	{"flags": E, "name": n}           so many bits, each a flag
//	{"align": 8}                      zero bits up to a whole byte; "zero" is the check that they are
//	{"each": E, "name": n, "items"}   a list of so many elements; "end" is up to the end of the bytes;
//	                                  without a name it holds no values
//	{"use": layout}                   the items of another layout; "within" makes so many bytes all that it
//	                                  has: then "as" is the check of all its faults, and "refused" that of
//	                                  an encoder
//	{"let": n, "is": E}               a name for a value that follows from others
//	{"value": n, "is": E}             the same, but part of the values: an encoder is given it; with "text"
//	                                  it is no number
//	{"check": C}                      a check between fields, made where it stands
//
// Each may have "when": E, without which it is always there; a number that is not there has the
// value of "else", if that is given. A number or flags may have "from": E, the value that an
// encoder computes and is not given; with "late" it does so after all else was written. It may have
// checks, which are made directly after it was read, and before it is written.
//
// What is not whole is truncated, by the sentence of "whole", which is the item's or the layout's,
// or that of the layout which uses it. A number that its bits cannot hold is an encoder's
// invalid_field by the sentence of "holds". A layout and an item may have a "sentence", which says how they
// look: it is for readers, and no check.
//
// In JSON bytes are hex, flags are a text of 0 and 1, an element of a list with "row" is a list of its
// numbers; and a value with "unsaid" is not there, since that expression gives it.
//
// A check has the id of a sentence, the expression "ok", and a code if the sentence has several.
// Its place is the field that it stands at, or "at": the place of another field, a number,
// a parameter, "here", "end", where the bytes end, or "none". "by" is "decoder" or "encoder" if it is not of both.
//
// # Expressions
//
// An expression has numbers, names in quotes, + - * / mod >> ^, comparisons, which may be chained
// (1 <= length <= DATA), not, and, or, and functions. A name is, from the inside to the outside, that
// of a value that is known where the expression stands; before.n is that of the element before. Names in
// capitals are parameters, of the formats or of the caller. These names are always there: nth, from 0 on,
// is_first and is_last, of an element of a list; left, how many bytes are left to a decoder.
// Numbers are signed, of 64 bits. What cannot be said in this way is a function: see functions.go.
package layout
