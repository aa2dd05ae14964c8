package main

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/testvectors"
)

// channelVectors are the vectors of channels.
func channelVectors(t *testing.T) []testvectors.Vector { return vectorsOf(t, "channel-") }

// notTakenByChannels are checks and codes that no vector can take, and why.
var notTakenByChannels = map[string]string{
	"CHR-24":       "each record fits each channel (CHO-3)",
	"channel_kind": "each record fits each channel (CHO-3)",
}

// Every row of both tables, and every check of the decoder, is taken by a vector: as the
// oracle runs them, not as they say.
func TestEveryChannelRowIsTaken(t *testing.T) {
	rows, _ := taken(t, channelVectors(t))
	ids := idsIn(document(t, "CHANNELS.md"), `^\| (?:([DV]\d+) \||\*\*(CHR-\d+)\*\* \|)`)
	if len(ids) != 13+21+16 {
		t.Errorf("%d rows and checks in the document", len(ids))
	}
	eachIsTaken(t, rows, ids, notTakenByChannels)
}

// Every code of the registry comes from a vector.
func TestEveryChannelCodeIsGiven(t *testing.T) {
	_, codes := taken(t, channelVectors(t))
	eachIsTaken(t, codes, codesOf(t, "channels.json"), notTakenByChannels)
}

// withoutChannelVector are the sentences on records and both machines that no vector can
// test, and why.
var withoutChannelVector = map[string]string{
	"CHN-6":  "how the packet layer below is configured",
	"CHP-4":  "how a connection begins; a trace has new machines",
	"CHP-5":  "the values; what uses them has vectors",
	"CHR-4":  "what the packet layer is told; the contract does not show it",
	"CHR-12": "memory and reads beyond the end; what comes of them has vectors",
	"CHR-24": "each record fits each channel (CHO-3)",
}

// Every sentence on what vectors can show has one.
func TestChannelSentencesHaveVectors(t *testing.T) {
	ids := idsIn(document(t, "CHANNELS.md"), `^(?:- |\| )\*\*(CH[NPRSXVGO]-\d+)\*\*`)
	if len(ids) < 80 {
		t.Errorf("%d sentences in the document", len(ids))
	}
	eachIsTaken(t, sentencesOf(channelVectors(t)), ids, withoutChannelVector)
}

// A vector of channels has one of their levels, by its operation.
func TestLevelsOfChannelVectors(t *testing.T) {
	vectors := channelVectors(t)
	levelsAreOf(t, vectors, testvectors.Channels, map[string]testvectors.Level{
		channels.Receiver.Name: testvectors.ChannelsReceiver, channels.Sender.Name: testvectors.ChannelsSender,
	})
	if len(vectors) < 500 {
		t.Errorf("%d vectors", len(vectors))
	}
}
