package channels_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

var operations = []*conform.Op{channels.Receiver, channels.Sender}

func TestVectors(t *testing.T) { conformtest.Vectors(t, operations...) }

func TestInput(t *testing.T) { conformtest.Input(t, operations...) }

func TestScripts(t *testing.T) {
	conformtest.Scripts(t, channels.Receiver, "channel-receiver")
	conformtest.Scripts(t, channels.Sender, "channel-sender")
}
