package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// The records of each type.

func status(id, next int64) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Status, Channel: id, Sequence: next}
}

func unreliable(id int64, data []byte) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Unreliable, Channel: id, Data: data}
}

func message(id, sequence int64, data []byte) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Message, Channel: id, Sequence: sequence, Data: data}
}

func report(id, base, room int64, groups ...channeloracle.Group) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Report, Channel: id, Sequence: base, Room: room, Groups: groups}
}

var pad = channeloracle.Record{Type: channeloracle.Pad}
