package main

import (
	"encoding/json"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file has what oracles encode and decode as the contract has it, and the other way round: the
// layouts say which values there are.

// as turns JSON into a type of the contract.
func as[T any](v any) (c T) {
	if err := json.Unmarshal(asJSON(v), &c); err != nil {
		panic(err) // of a layout
	}
	return c
}

// valuesOf reads the values of a layout.
func valuesOf(name string, c any, p layout.Parameters) layout.Values {
	v, err := layout.FromJSON(name, as[map[string]json.RawMessage](c), p)
	if err != nil {
		panic(string(asJSON(c)) + ": " + err.Error()) // made by this program
	}
	return v
}

// recordAs is a record of a payload as the contract has it.
func recordAs[T any](name string, v layout.Values, p layout.Parameters) T {
	list := layout.JSON(name, layout.Values{"records": []layout.Values{v}}, p)[0].Value.([]any)
	return as[T](list[0])
}

// recordsFrom are the records of a request.
func recordsFrom(name string, q any, p layout.Parameters) []layout.Values {
	return valuesOf(name, q, p)["records"].([]layout.Values)
}

func recordOf(r channeloracle.Record) contract.Record {
	return recordAs[contract.Record]("channel-payload", channeloracle.Names.Get(r), nil)
}

func recordFrom(c contract.Record) (r channeloracle.Record) {
	q := contract.RecordsEncodeRequest{Records: []contract.Record{c}}
	channeloracle.Names.Put(recordsFrom("channel-payload", q, nil)[0], &r)
	return r
}

func connectionRecordOf(r connectionoracle.Record) contract.ConnectionRecord {
	f := connectionoracle.Format{Repair: r.Repair.Type != ""}
	return recordAs[contract.ConnectionRecord]("connection-payload", f.Values(&r), f.Parameters())
}

func newPacket(p oracle.Packet) *contract.Packet {
	c := as[*contract.Packet](layout.JSON("chunk-datagram", layout.Names{}.Get(p), nil))
	c.ChunkID = p.ChunkID // also of a type that there is not
	return c
}

func newRepairPacket(p repairoracle.Packet) *contract.RepairPacket {
	c := as[*contract.RepairPacket](layout.JSON("repair-datagram", layout.Names{}.Get(p), nil))
	c.ChunkID, c.NumSlices = p.ChunkID, p.NumSlices // also of a type that there is not
	return c
}

func repairPacketOf(c contract.RepairPacket) (p repairoracle.Packet) {
	layout.Names{}.Put(valuesOf("repair-datagram", c, nil), &p)
	return p
}

func datagramOf(p packetoracle.Packet) contract.Datagram {
	return as[contract.Datagram](layout.JSON("packet", p.Values(), nil))
}

func messageOf(m sessionoracle.Message) contract.SessionMessage {
	return as[contract.SessionMessage](layout.JSON("session-message", layout.Names{}.Get(m), nil))
}

func messageFrom(c contract.SessionMessage) (m sessionoracle.Message) {
	layout.Names{}.Put(valuesOf("session-message", c, nil), &m)
	return m
}

// sentenceOf is the sentence by which bytes of a slice or an ack are refused; a bare body has a type.
func sentenceOf(name, kind string, b []byte) string {
	_, refused := layout.Decode(name, b, layout.Parameters{"PROTOCOL_ID": int64(usualID)}, layout.Values{"type": kind})
	if refused == nil {
		return ""
	}
	return refused.Check
}
