package main

import "github.com/chunkwire/chunkwire/testvectors"

// groups makes the files of vectors, one function a file, but for the examples,
// which stand in the specification. A new group is a line here.
var groups = []func() testvectors.File{
	bitPacking,
	sliceBody,
	ackBody,
	frameSlice,
	frameAck,
	refuseBody,
	refuseFrame,
	refuseEncode,
	contract,
	senderTraces, senderPaceTraces, senderLossTraces, receiverTraces, receiverTimingTraces, conversations,
}
