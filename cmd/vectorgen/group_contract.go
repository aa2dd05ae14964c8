package main

import (
	"encoding/json"

	"github.com/chunkwire/chunkwire/testvectors"
)

// contract is what a port answers to requests that it does not have or cannot
// read (PRT-1 to PRT-4).
func contract() testvectors.File {
	g := newGroup("contract", "What a port answers to an op or an event that it does not have, and to a line that is no request (appendix B of spec/PROTOCOL.md, PRT-1 to PRT-4).")
	g.unsupported()
	g.missingFields()
	g.wrongFields()
	g.badTraces()
	return g.file
}

func (g *group) portAnswers(code, name, comment, request string) {
	g.addRaw(name, about{comment, "contract", "PRT-1 PRT-3"}, json.RawMessage(request), asJSON(response{Error: code}))
}

func (g *group) unsupported() {
	add := func(name, comment, request string) { g.portAnswers("unsupported", name, comment, request) }
	add("unknown-op", "Kills a port that answers ok, or ends, at an op that it does not have.", `{"op":"fly"}`)
	add("op-in-capitals", "Kills a port that compares ops without regard to case.", `{"op":"DECODE_BODY","type":"ack","hex":"34120001"}`)
	add("op-cut-off", "Kills a port that compares the beginnings of ops.", `{"op":"decode","type":"ack","hex":"34120001"}`)
	add("op-longer", "Kills a port that looks whether an op begins with one that it has.", `{"op":"decode_body_again","type":"ack","hex":"34120001"}`)
	add("empty-op", "Kills a port that takes an empty op for its default.", `{"op":"","type":"ack","hex":"34120001"}`)
	add("unknown-event-of-a-sender", "Kills a port that ignores an event that it does not have.", `{"op":"sender","config":{"first_chunk_id":0,"give_up_us":10000000,"profile":null},"events":[{"at":0,"event":"fly"}]}`)
	add("unknown-event-of-a-receiver", "Kills a port that ignores an event that it does not have.", `{"op":"receiver","config":{"first_chunk_id":0,"give_up_us":10000000},"events":[{"at":0,"event":"fly"}]}`)
}

func (g *group) missingFields() {
	add := func(name, comment, request string) {
		g.portAnswers("bad_request", "without-"+name, comment, request)
	}
	add("op", "Kills a port that ends, or guesses, where there is no op.", `{"type":"ack","hex":"34120001"}`)
	add("hex-of-a-body", "Kills a port that takes a missing hex for an empty one, and answers truncated.", `{"op":"decode_body","type":"ack"}`)
	add("type-of-a-body", "Kills a port that guesses the type of a bare body.", `{"op":"decode_body","hex":"34120001"}`)
	add("hex-of-a-datagram", "Kills a port that takes a missing hex for an empty one, and answers truncated.", `{"op":"decode_packet","protocol_id":0}`)
	add("protocol-id", "Kills a port that takes a missing protocol id for 0: the datagram would pass.", `{"op":"decode_packet","hex":`+framedWithZeroID()+`}`)
	add("protocol-id-to-encode", "Kills a port that takes a missing protocol id for 0.", `{"op":"encode_packet","packet":{"type":"ack","chunk_id":1,"acked":"1"}}`)
	add("packet-of-a-body", "Kills a port that encodes a packet that is not there.", `{"op":"encode_body"}`)
	add("packet-of-a-datagram", "Kills a port that encodes a packet that is not there.", `{"op":"encode_packet","protocol_id":0}`)
	add("type-of-a-packet", "Kills a port that takes a packet without a type for a slice, or for one that cannot be represented.", `{"op":"encode_body","packet":{"chunk_id":1,"slice_id":0,"num_slices":1,"data":"31"}}`)
	add("chunk-id", "Kills a port that takes a missing chunk_id for 0.", `{"op":"encode_body","packet":{"type":"ack","acked":"1"}}`)
	add("slice-id", "Kills a port that takes a missing slice_id for 0.", `{"op":"encode_body","packet":{"type":"slice","chunk_id":1,"num_slices":1,"data":"31"}}`)
	add("num-slices", "Kills a port that takes a missing num_slices for 0, and answers invalid_field.", `{"op":"encode_body","packet":{"type":"slice","chunk_id":1,"slice_id":0,"data":"31"}}`)
	add("data", "Kills a port that takes missing data for none, and answers invalid_field.", `{"op":"encode_body","packet":{"type":"slice","chunk_id":1,"slice_id":0,"num_slices":1}}`)
	add("acked", "Kills a port that takes a missing acked for an empty one, and answers invalid_field.", `{"op":"encode_body","packet":{"type":"ack","chunk_id":1}}`)
	add("events-of-a-sender", "Kills a port that takes missing events for none, and answers no steps.", `{"op":"sender","config":{"first_chunk_id":0,"give_up_us":10000000,"profile":null}}`)
	add("events-of-a-receiver", "Kills a port that takes missing events for none, and answers no steps.", `{"op":"receiver","config":{"first_chunk_id":0,"give_up_us":10000000}}`)
	add("config", "Kills a port that takes a missing config for its defaults.", `{"op":"receiver","events":[]}`)
}

func (g *group) wrongFields() {
	add := func(name, comment, request string) { g.portAnswers("bad_request", name, comment, request) }
	add("op-of-a-number", "Kills a port that ends at an op of another type.", `{"op":7}`)
	add("op-named-in-capitals", "Kills a port whose JSON library finds fields in any case: there is no op.", `{"OP":"decode_body","type":"ack","hex":"34120001"}`)
	add("hex-of-a-number", "Kills a port that writes a number as text and takes it for hex.", `{"op":"decode_body","type":"ack","hex":34120001}`)
	add("hex-null", "Kills a port that takes null for an empty hex, and answers truncated.", `{"op":"decode_body","type":"ack","hex":null}`)
	add("hex-of-odd-length", "Kills a port that drops half a byte.", `{"op":"decode_body","type":"ack","hex":"341200010"}`)
	add("hex-of-other-letters", "Kills a port that takes a letter that is no digit for 0.", `{"op":"decode_body","type":"ack","hex":"3412000g"}`)
	add("hex-in-capitals", "Kills a port that takes hex in capitals, which is not what it would write.", `{"op":"decode_body","type":"slice","hex":"0000000000004A"}`)
	add("hex-with-spaces", "Kills a port whose hex reader skips spaces.", `{"op":"decode_body","type":"ack","hex":"34 12 00 01"}`)
	add("hex-with-0x", "Kills a port whose hex reader takes a prefix.", `{"op":"decode_body","type":"ack","hex":"0x34120001"}`)
	add("data-in-capitals", "Kills a port that is strict with hex but not with data.", `{"op":"encode_body","packet":{"type":"slice","chunk_id":1,"slice_id":0,"num_slices":1,"data":"3A"}}`)
	add("data-of-odd-length", "Kills a port that drops half a byte of the data.", `{"op":"encode_body","packet":{"type":"slice","chunk_id":1,"slice_id":0,"num_slices":1,"data":"313"}}`)
	add("protocol-id-of-33-bits", "Kills a port that takes the low 32 bits of a protocol id: it is no field of a packet, so this is no invalid_field.", `{"op":"decode_packet","protocol_id":4294967296,"hex":`+framedWithZeroID()+`}`)
	add("protocol-id-negative", "Kills a port that takes -1 for the largest protocol id.", `{"op":"encode_packet","protocol_id":-1,"packet":{"type":"ack","chunk_id":1,"acked":"1"}}`)
	add("protocol-id-of-text", "Kills a port that reads a number from text.", `{"op":"encode_packet","protocol_id":"1","packet":{"type":"ack","chunk_id":1,"acked":"1"}}`)
	add("packet-of-text", "Kills a port that ends where a packet is no object.", `{"op":"encode_body","packet":"ack"}`)
	add("chunk-id-of-text", "Kills a port that reads a number from text.", `{"op":"encode_body","packet":{"type":"ack","chunk_id":"1","acked":"1"}}`)
	add("chunk-id-null", "Kills a port that takes null for 0.", `{"op":"encode_body","packet":{"type":"ack","chunk_id":null,"acked":"1"}}`)
	add("acked-of-a-number", "Kills a port that writes a number as text and takes it for bits.", `{"op":"encode_body","packet":{"type":"ack","chunk_id":1,"acked":101}}`)
	add("acked-of-a-list", "Kills a port that takes a list of bits: acked is text.", `{"op":"encode_body","packet":{"type":"ack","chunk_id":1,"acked":[1,0,1]}}`)
}

// badTraces are traces that are no request: TRC-2 and TRC-3 say what their fields
// may be.
func (g *group) badTraces() {
	sender := func(name, comment, event string) {
		g.addRaw("sender-"+name, about{comment, "contract", "PRT-3 PRT-4 TRC-2"}, json.RawMessage(`{"op":"sender","config":{"first_chunk_id":0,"give_up_us":10000000,"profile":null},"events":[`+event+`]}`), asJSON(response{Error: "bad_request"}))
	}
	receiver := func(name, comment, event string) {
		g.addRaw("receiver-"+name, about{comment, "contract", "PRT-3 PRT-4 TRC-3"}, json.RawMessage(`{"op":"receiver","config":{"first_chunk_id":0,"give_up_us":10000000},"events":[`+event+`]}`), asJSON(response{Error: "bad_request"}))
	}
	sender("submit-without-size", "Kills a port that takes a missing size for 0, and refuses the chunk.", `{"at":0,"event":"submit"}`)
	sender("ack-without-bits", "Kills a port that takes a missing acked for a hold.", `{"at":0,"event":"ack","chunk_id":0}`)
	sender("ack-of-no-slice", "Kills a port that gives a sender an ack that no decoder would.", `{"at":0,"event":"ack","chunk_id":0,"acked":""}`)
	sender("event-without-at", "Kills a port that takes a missing time for 0.", `{"event":"submit","size":1}`)
	sender("event-of-a-negative-time", "Kills a port that takes a time before the trace.", `{"at":-1,"event":"submit","size":1}`)
	receiver("slice-without-size", "Kills a port that takes a missing size for 0.", `{"at":0,"event":"slice","chunk_id":0,"slice_id":0,"num_slices":1}`)
	receiver("slice-out-of-range", "Kills a port that gives a receiver a slice that no decoder would: slice_id 1 of 1.", `{"at":0,"event":"slice","chunk_id":0,"slice_id":1,"num_slices":1,"size":1}`)
	receiver("short-middle-slice", "Kills a port that gives a receiver a slice that no decoder would: of 10 bytes, but not the last.", `{"at":0,"event":"slice","chunk_id":0,"slice_id":0,"num_slices":2,"size":10}`)
	receiver("slice-of-no-bytes", "Kills a port that gives a receiver a slice that no decoder would: without data.", `{"at":0,"event":"slice","chunk_id":0,"slice_id":0,"num_slices":1,"size":0}`)
	receiver("slice-of-257", "Kills a port that gives a receiver a slice that no decoder would: of a chunk of 257.", `{"at":0,"event":"slice","chunk_id":0,"slice_id":0,"num_slices":257,"size":1024}`)
}

// framedWithZeroID is a valid datagram of the protocol id 0, as JSON.
func framedWithZeroID() string {
	_, a := encodeRequest(pointerTo(uint32(0)), ack(1, acked(3, all)))
	return string(asJSON(a.Hex))
}
