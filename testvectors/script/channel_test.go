package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// records is a codec without bytes: a record is its JSON. Groups are what is missing.
var records = RecordCodec{
	Encode: func(_ contract.ChannelFormat, r contract.Record) (string, error) {
		if r.Data != nil && *r.Data == "" {
			return "", errors.New("no data")
		}
		b, err := json.Marshal(r)
		return string(b), err
	},
	Decode: func(_ contract.ChannelFormat, text string) (r contract.Record) {
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			panic(err)
		}
		return r
	},
	Report: func(id, base, room int64, missing []int64) contract.Record {
		groups := [][2]int64{}
		for _, n := range missing {
			groups = append(groups, [2]int64{n, 0})
		}
		return contract.Record{Type: contract.RecordReport, Channel: &id, Base: &base, Room: &room, Groups: &groups}
	},
	Named: func(r contract.Record) (list []int64) {
		for _, g := range *r.Groups {
			list = append(list, g[0])
		}
		return list
	},
}

func TestParseChannelReceiver(t *testing.T) {
	s, err := ParseChannelReceiver([]string{
		"with kind=unordered window=64 data=2 group=3 first=9 give_up=1s",
		"1/1/2 message 65535-65536 2 : V5",
		"3/1/2 fragment 4 0-1/2 1 : V5",
		"5 skip 65537 3 : V8",
		"6 status 7 : V9",
		"7 read : -",
		"8 poll : -",
		"9 poll 7 : -",
		"10 path 80ms : -",
		"11 path none : -",
	}, records)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.ChannelReceiverConfig{Kind: contract.KindUnordered, ChannelFormat: contract.ChannelFormat{Window: 64, Data: 2, Group: 3}, First: 9, GiveUp: 1_000_000}
	if s.Config != want {
		t.Errorf("%+v", s.Config)
	}
	var got []string
	for _, e := range s.Events {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.ReplaceAll(string(text), `\"`, "'"))
	}
	record := func(at int, text string) string {
		return fmt.Sprintf(`{"at":%d,"event":"record","hex":"%s"}`, at, text)
	}
	events := []string{
		record(1, fmt.Sprintf("{'type':'message','channel':0,'sequence':65535,'data':'%x'}", Content(65535, 2))),
		record(2, fmt.Sprintf("{'type':'message','channel':0,'sequence':0,'data':'%x'}", Content(65536, 2))),
		record(3, fmt.Sprintf("{'type':'fragment','channel':0,'sequence':4,'index':0,'count':2,'data':'%x'}", Content(4, 2))),
		record(4, fmt.Sprintf("{'type':'fragment','channel':0,'sequence':5,'index':1,'count':2,'data':'%x'}", Content(5, 1))),
		record(5, "{'type':'skip','channel':0,'first':1,'count':3}"), record(6, "{'type':'status','channel':0,'next':7}"),
		`{"at":7,"event":"read"}`, `{"at":8,"event":"poll","space":1160}`, `{"at":9,"event":"poll","space":7}`,
		`{"at":10,"event":"path","srtt":80000}`, `{"at":11,"event":"path","srtt":null}`,
	}
	if diff := cmp.Diff(events, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseChannelSender(t *testing.T) {
	s, err := ParseChannelSender([]string{
		"with window=64 data=2 group=3 send_queue=5 first=9 give_up=2s",
		"1 send 2 : D3",
		"2 send 1 life=10ms : D3",
		"3/1/2 poll 7-8 40 : D8 D10 >9",
		"5 report 2 9/64 : D6",
		"6 report 3 9/60:9,11-12 ack=8 : D6",
		"7 path 80ms 5ms : -",
	}, records)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.ChannelSenderConfig{ChannelFormat: contract.ChannelFormat{Window: 64, Data: 2, Group: 3}, SendQueue: 5, First: 9, GiveUp: 2_000_000}
	if s.Config != want {
		t.Errorf("%+v", s.Config)
	}
	var got []string
	for _, e := range s.Events {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.ReplaceAll(string(text), `\"`, "'"))
	}
	if diff := cmp.Diff([]string{
		fmt.Sprintf(`{"at":1,"event":"send","data":"%x","lifetime":null}`, Content(0, 2)), fmt.Sprintf(`{"at":2,"event":"send","data":"%x","lifetime":10000}`, Content(1, 1)),
		`{"at":3,"event":"poll","number":7,"space":40}`, `{"at":4,"event":"poll","number":8,"space":40}`,
		`{"at":5,"event":"report","hex":"{'type':'report','channel':0,'base':9,'room':64,'groups':[]}","number":2,"ack":-1}`,
		`{"at":6,"event":"report","hex":"{'type':'report','channel':0,'base':9,'room':60,'groups':[[9,0],[11,0],[12,0]]}","number":3,"ack":8}`,
		`{"at":7,"event":"path","srtt":80000,"patience":5000}`,
	}, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever a script says of a line is compared, and what it does not say must not come.
func TestCheckChannels(t *testing.T) {
	encoded := func(r contract.Record) *string {
		text, err := records.Encode(smallFormat, r)
		if err != nil {
			t.Fatal(err)
		}
		return &text
	}
	row, at, data := "V11", int64(7), "0102"
	came := []contract.ChannelReceiverStep{
		{Row: &row, State: "OPEN", Read: &contract.ChannelRead{Sequence: 4, Data: &data}, Deadline: &at},
		{Row: &row, State: "OPEN", Read: &contract.ChannelRead{Sequence: 5, Skipped: true}, Report: encoded(records.Report(0, 9, 8, []int64{9, 11, 12})), Deadline: &at},
	}
	receiver := func(line string) error {
		s, err := ParseChannelReceiver([]string{line}, records)
		if err != nil {
			t.Fatal(err)
		}
		return s.Check(came)
	}
	code, n, first, next, index, count := "failed", int64(6), int64(8), int64(3), int64(1), int64(2)
	sent := []contract.ChannelSenderStep{{
		Rows: []string{"D8", "D9", "D10"}, State: "FAILED", Refused: &code, Base: 5, Limit: 37,
		Records: []string{
			*encoded(contract.Record{Type: contract.RecordMessage, Sequence: &n}), *encoded(contract.Record{Type: contract.RecordFragment, Sequence: &first, Index: &index, Count: &count}),
			*encoded(contract.Record{Type: contract.RecordSkip, First: &n, Count: &count}), *encoded(contract.Record{Type: contract.RecordStatus, Next: &next}),
		},
	}}
	sender := func(line string) error {
		s, err := ParseChannelSender([]string{line}, records)
		if err != nil {
			t.Fatal(err)
		}
		return s.Check(sent)
	}
	for _, c := range []struct {
		check   func(string) error
		line    string
		changes [][2]string
	}{
		{receiver, "0/1/2 read : V11 =4:2 !5 >9/8:9,11-12 @7", [][2]string{
			{"V11", "V12"}, {"V11 ", ""}, {"=4:2", "=4:3"}, {"=4:2", "!4"}, {" !5", ""}, {"!5", "!6"}, {":9,11-12", ":9,11"}, {":9,11-12", ""}, {"/8", "/7"}, {"@7", "@8"}, {"@7", "@never"}, {"@7", "FAILED"}, {"!5 >9/8:9,11-12", ">9/8:9,11-12 !5"},
		}},
		{sender, "0 poll 1 : D8 D9 D10 >6 >7.1 !6/2 ?3 refused=failed FAILED base=5 limit=37 @never", [][2]string{
			{"D9 ", ""}, {">6", ">5"}, {">6 ", ""}, {">7.1", ">7.0"}, {"!6/2", "!6/3"}, {"?3", "?4"}, {"?3", ">3"}, {"refused=failed ", ""}, {"=failed", "=queue_full"}, {"FAILED ", ""}, {"base=5", "base=6"}, {"limit=37", "limit=36"}, {"@never", "@5"},
		}},
	} {
		if err := c.check(c.line); err != nil {
			t.Error(err)
		}
		for _, change := range c.changes {
			if err := c.check(strings.Replace(c.line, change[0], change[1], 1)); err == nil {
				t.Errorf("%q: %q for %q passes", c.line, change[1], change[0])
			}
		}
	}
}

func TestChannelLinesThatNoScriptHas(t *testing.T) {
	for _, line := range []string{
		"0 read", "read : -", "x read : -", "0 message : -", "0 message x : -", "0 message 1 x : -", "0 message 1 0 : -", "0 fragment 1 : -", "0 fragment 1 0/x : -", "0 skip 1 : -",
		"0 status : -", "0 path : -", "0 path soon : -", "0 poll x : -", "0 submit 4 : -", "0 read : x", "0 read : @soon", "0 read : =x", "0 read : base=x", "with color=1", "with window=x",
	} {
		if _, err := ParseChannelReceiver([]string{line}, records); err == nil {
			t.Errorf("receiver: %q is read", line)
		}
	}
	for _, line := range []string{
		"0 send", "0 send : -", "0 send x : -", "0 send 1 life=x : -", "0 report 1 : -", "0 report x 1/2 : -", "0 report 1 x/2 : -", "0 report 1 1/x : -", "0 report 1 1/2:x : -",
		"0 report 1 1/2 ack=x : -", "0 poll : -", "0 poll x : -", "0 poll 1 x : -", "0 read : -", "with kind=ordered", "with first=x",
	} {
		if _, err := ParseChannelSender([]string{line}, records); err == nil {
			t.Errorf("sender: %q is read", line)
		}
	}
}

func TestChannelConversationScript(t *testing.T) {
	lines := []string{
		"with kind=unordered window=64 first=5", "send 0/10ms/3 1,9", "send 1ms/2ms/2 7 life=30ms", "read 5ms/10ms/2", "tick 4ms", "space 99", "path 6ms 80ms 9ms", "delay 40ms", "lose sender 8% seed 22", "duplicate receiver 3-4", "end 2s",
		": sender released 2-3", ": receiver V5 1", ": sender D8 1", ": receiver delivered 1", ": receiver skipped 1", ": receiver reports 1", ": sender records 2", ": sender refused 1",
	}
	c, err := ParseChannelConversation(lines)
	if err != nil {
		t.Fatal(err)
	}
	life, srtt := int64(30_000), int64(80_000)
	want := &ChannelConversation{
		Sender:   contract.ChannelSenderConfig{ChannelFormat: contract.ChannelFormat{Window: 64, Data: 8, Group: 4}, SendQueue: 4096, First: 5, GiveUp: 10_000_000},
		Receiver: contract.ChannelReceiverConfig{Kind: contract.KindUnordered, ChannelFormat: contract.ChannelFormat{Window: 64, Data: 8, Group: 4}, First: 5, GiveUp: 10_000_000},
		Sends:    []ChannelSending{{Sending{0, 10_000, 3, []int{1, 9}}, nil}, {Sending{1000, 2000, 2, []int{7}}, &life}},
		Paths:    []ChannelPath{{6000, contract.Null{Is: true, Value: &srtt}, 9000}},
		Reads:    []int64{5000, 15_000}, TickUS: 4000, Space: 99,
		Carriage: Carriage{
			DelayUS: 40_000, Seed: 1, EndUS: 2_000_000, Lose: [2]Loss{{Percent: 8, Seed: 22}}, Duplicate: [2]Loss{{}, {From: 3, To: 4}},
			names: [2]string{"sender", "receiver"}, wanted: c.wanted,
		},
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Carriage{}, wanted{})); diff != "" {
		t.Error(diff)
	}
	code, row, report, data := "queue_full", "V5", "x", ""
	sent := []contract.ChannelSenderStep{{Rows: []string{"D8"}, Records: []string{"", ""}, Base: 7, Refused: &code}}
	came := []contract.ChannelReceiverStep{{Row: &row, Read: &contract.ChannelRead{Data: &data}, Report: &report}, {Read: &contract.ChannelRead{Skipped: true}}}
	if err := errors.Join(c.CheckSender(sent), c.CheckReceiver(came)); err != nil {
		t.Error(err)
	}
	sent[0].Base, came[0].Read = 9, nil
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
