package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// The same as the target Conversation, with repair slices. An input has another scheduler, as
// readRepairScheduler reads it.
var targetRepairConversation = newTarget("RepairConversation", "with repair slices both ends stay safe on any network, and deliver when it loses nothing more", runRepairConversation, seedRepairConversations)

func runRepairConversation(t T, data []byte) { runConversationOf(t, codec.Repair, data) }

// seedRepairConversations turns the traces of senders into conversations: the same chunks
// and rule, and what an ack did not have is lost. Then come hard fates.
func seedRepairConversations(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.RepairSenderRequest](files, contract.OpRepairSender) {
		var sizes []int
		var fates []byte
		for _, e := range q.Events {
			switch {
			case e.Event == "submit" && e.Size != nil && *e.Size >= 1 && *e.Size <= codec.MaxChunkSize && len(sizes) < 5:
				sizes = append(sizes, *e.Size)
			case e.Event == "ack" && e.Have != nil && e.Top != nil && len(fates) < 2000:
				for n := range min(*e.Top, 300) {
					fates = append(fates, map[bool]byte{true: fateArrives, false: fateLost}[n < *e.Have])
				}
			}
		}
		if len(sizes) > 0 {
			seeds = append(seeds, append(conversationHead(q.Config.FirstChunkID, 0, 0, repairProfileSeed(q.Config.Profile), sizes...), fates...))
		}
	}
	for i, fates := range hardFates {
		for k, scheduler := range repairSchedulerSeeds() {
			seeds = append(seeds,
				append(conversationHead(65534, byte(i%6), byte(i+k), scheduler, 3000, 1, 1024, 1025), fates...),
				append(conversationHead(0, 0, byte(k), scheduler, 20000, 5000), fates...))
		}
	}
	return seeds
}
