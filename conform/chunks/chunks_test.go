package chunks_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

var operations = []*conform.Op{chunks.Sender, chunks.Receiver, chunks.RepairSender, chunks.RepairReceiver}

func TestVectors(t *testing.T) { conformtest.Vectors(t, operations...) }

func TestInput(t *testing.T) { conformtest.Input(t, operations...) }

func TestScripts(t *testing.T) {
	for group, op := range map[string]*conform.Op{
		"sender": chunks.Sender, "sender-pace": chunks.Sender, "sender-loss": chunks.Sender, "recovery": chunks.Sender,
		"receiver": chunks.Receiver, "receiver-timing": chunks.Receiver,
		"repair-sender": chunks.RepairSender, "repair-rule": chunks.RepairSender, "repair-receiver": chunks.RepairReceiver,
	} {
		conformtest.Scripts(t, op, group)
	}
}
