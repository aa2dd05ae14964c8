package main

import (
	"encoding/hex"
	"errors"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// recordCodec writes and reads the records of scripts with the oracle.
var recordCodec = script.RecordCodec{
	Encode: func(f contract.ChannelFormat, r contract.Record) (string, error) {
		b, err := channeloracle.Encode(formatOf(f), []channeloracle.Record{recordFrom(r)})
		return hex.EncodeToString(b), err
	},
	Decode: func(f contract.ChannelFormat, text string) contract.Record {
		return recordOf(oneRecord(formatOf(f), text))
	},
	Report: func(id, base, room int64, missing []int64) contract.Record {
		return recordOf(channeloracle.Record{Type: channeloracle.Report, Channel: id, Sequence: int64(uint16(base)), Room: room, Groups: channeloracle.Groups(missing, channeloracle.MostGroups)})
	},
	Named: func(c contract.Record) []int64 {
		r := recordFrom(c)
		list := channeloracle.Named(&r)
		for i := range list {
			list[i] = int64(uint16(r.Sequence + list[i]))
		}
		return list
	},
}

// channelReceiver adds a trace of a channel's receiver.
func (g *group) channelReceiver(s script.Script) error {
	t, err := script.ParseChannelReceiver(s.Lines, recordCodec)
	if err != nil {
		return err
	}
	response := receiverResponse(t.Config, t.Events)
	rows := rowsOfReceiver(response)
	if err := errors.Join(t.Check(response.Steps), namesRows(s, rows)); err != nil {
		return err
	}
	g.addScript(s, "", nil, asJSON(contract.ChannelReceiverRequest{Op: contract.OpChannelReceiver, Config: t.Config, Events: t.Events}), asJSON(response))
	return nil
}

// rowsOfReceiver returns the rows that each event took.
func rowsOfReceiver(a contract.ChannelReceiverResponse) [][]string {
	rows := make([][]string, len(a.Steps))
	for i, s := range a.Steps {
		if s.Row != nil {
			rows[i] = []string{*s.Row}
		}
	}
	return rows
}

// channelSender adds a trace of a channel's sender.
func (g *group) channelSender(s script.Script) error {
	t, err := script.ParseChannelSender(s.Lines, recordCodec)
	if err != nil {
		return err
	}
	response := senderResponse(t.Config, t.Events)
	if err := errors.Join(t.Check(response.Steps), namesRows(s, rowsOfSender(response))); err != nil {
		return err
	}
	g.addScript(s, "", nil, asJSON(contract.ChannelSenderRequest{Op: contract.OpChannelSender, Config: t.Config, Events: t.Events}), asJSON(response))
	return nil
}

func rowsOfSender(a contract.ChannelSenderResponse) [][]string {
	rows := make([][]string, len(a.Steps))
	for i, s := range a.Steps {
		rows[i] = s.Rows
	}
	return rows
}
