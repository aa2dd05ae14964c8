package script

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
)

func TestChannelConversationScript(t *testing.T) {
	lines := []string{
		"with kind=unordered window=64 first=5", "send 0/10ms/3 1,9", "send 1ms/2ms/2 7 life=30ms", "read 5ms/10ms/2", "tick 4ms", "space 99", "path 6ms 80ms 9ms", "delay 40ms", "lose sender 8% seed 22", "duplicate receiver 3-4", "end 2s",
		": sender released 2-3", ": receiver V5 1", ": sender D8 1", ": receiver delivered 1", ": receiver skipped 1", ": receiver reports 1", ": sender records 2", ": sender refused 1",
	}
	c, err := ParseChannelConversation(lines)
	if err != nil {
		t.Fatal(err)
	}
	want := &ChannelConversation{
		Sender:   channels.SenderConfig{Format: channels.Format{Window: 64, Data: 8, Group: 4}, SendQueue: 4096, First: 5, GiveUp: 10_000_000},
		Receiver: channels.ReceiverConfig{Kind: "unordered", Format: channels.Format{Window: 64, Data: 8, Group: 4}, First: 5, GiveUp: 10_000_000},
		Sends:    []ChannelSending{{Sending{0, 10_000, 3, []int{1, 9}}, conform.Opt[int64]{}}, {Sending{1000, 2000, 2, []int{7}}, conform.Some[int64](30_000)}},
		Paths:    []ChannelPath{{6000, conform.Some[int64](80_000), 9000}},
		Reads:    []int64{5000, 15_000}, TickUS: 4000, Space: 99,
		Carriage: Carriage{
			DelayUS: 40_000, Seed: 1, EndUS: 2_000_000, Lose: [2]Loss{{Percent: 8, Seed: 22}}, Duplicate: [2]Loss{{}, {From: 3, To: 4}},
			names: [2]string{"sender", "receiver"}, wanted: c.wanted,
		},
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Carriage{}, wanted{})); diff != "" {
		t.Error(diff)
	}
	sent := []conform.Step{channels.SenderStep{Rows: []string{"D8"}, Records: []conform.Bytes{"", ""}, Base: 7, Refused: conform.Some("queue_full")}}
	came := []conform.Step{
		channels.ReceiverStep{Row: conform.Some("V5"), Read: conform.Some(channels.Got{}), Report: conform.Some(conform.Bytes("x"))},
		channels.ReceiverStep{Read: conform.Some(channels.Got{Skipped: true})},
	}
	if err := errors.Join(c.CheckSender(sent), c.CheckReceiver(came)); err != nil {
		t.Error(err)
	}
	sent[0], came[0] = channels.SenderStep{Base: 9}, channels.ReceiverStep{}
	if c.CheckSender(sent) == nil || c.CheckReceiver(came) == nil {
		t.Error("four released, or none delivered, passes")
	}
	for i, line := range map[int]string{0: "with color=1", 1: "send 0 3", 2: "send 0/1/2 3 life=x", 3: "read", 4: "tick soon", 5: "space x", 6: "path 6ms", 7: "delay", 8: "lose a 1", 11: ": a released 1", 12: "wait 5"} {
		changed := append([]string(nil), lines...)
		changed[i] = line
		if _, err := ParseChannelConversation(changed); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}
