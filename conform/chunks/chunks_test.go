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

func TestDrawn(t *testing.T) { conformtest.Drawn(t, 60, operations...) }
