package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
)

// closeRecord, sliceRecord and ackRecord are the records of a connection; a slice is cut short.
func closeRecord(code int64, text string) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.Close, Code: code, Text: text}
}

func sliceRecord(lane int64, p oracle.Packet) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.Slice, Lane: lane, Packet: p}
}

func ackRecord(lane int64, p oracle.Packet) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.ChunkAck, Lane: lane, Packet: p}
}

func ecnRecord(arrived, congested int64) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.ECN, Arrived: arrived, Congested: congested}
}

// ofChannel is a record of a channel in a payload of a connection.
func ofChannel(r channeloracle.Record) connectionoracle.Record {
	return connectionoracle.Record{Channel: r}
}
