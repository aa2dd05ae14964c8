package packets_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

var operations = []*conform.Op{packets.Endpoint, packets.Congestion}

func TestVectors(t *testing.T) { conformtest.Vectors(t, operations...) }

func TestInput(t *testing.T) { conformtest.Input(t, operations...) }

func TestSchema(t *testing.T) {
	conformtest.Schema(t, packets.Endpoint, "packetEndpoint")
	conformtest.Schema(t, packets.Congestion, "packetCongestion")
}

func TestScripts(t *testing.T) {
	conformtest.Scripts(t, packets.Endpoint, "packet-endpoint")
	conformtest.Scripts(t, packets.Congestion, "packet-congestion")
}

func TestDrawn(t *testing.T) { conformtest.Drawn(t, 100, operations...) }
