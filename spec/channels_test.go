package spec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// The examples of CHANNELS.md are requests to a port, each with its response behind it
// (CHO-1 to CHO-12).
func TestChannelExamplesAreWhatAPortAnswers(t *testing.T) {
	checkExamples(t, "CHANNELS.md", map[string]int{"channel_report": 1, "records_encode": 1, "records_decode": 10})
}

// The records of section 3.4 are decoded and encoded so (CHR-6, CHR-8).
func TestRecordsOfTheDocument(t *testing.T) {
	table := rows(t, "CHANNELS.md", "| Record | Bytes | What it shows |")
	if len(table) < 7 {
		t.Errorf("%d records", len(table))
	}
	for _, row := range table {
		hex := strings.ReplaceAll(row[1], " ", "")
		var decoded struct {
			Ok      bool
			Records []struct{ Type string }
		}
		answer := port.Answer(fmt.Appendf(nil, `{"id":1,"op":"records_decode","hex":"%s"}`, hex))
		if err := json.Unmarshal(answer, &decoded); err != nil || len(decoded.Records) != 1 {
			t.Fatalf("%v: %s", row, answer)
		}
		if name, _, _ := strings.Cut(row[0], " "); decoded.Records[0].Type != strings.ToLower(name) {
			t.Errorf("%v: %s", row, answer)
		}
		again := strings.Replace(strings.Replace(string(answer), `"ok":true`, `"op":"records_encode"`, 1), `"id":1`, `"id":2`, 1)
		if got, want := string(port.Answer([]byte(again))), fmt.Sprintf(`{"id":2,"ok":true,"hex":"%s"}`, hex); got != want {
			t.Errorf("%s: %s, want %s", again, got, want)
		}
	}
}

// The forms of records in JSON are those of CHO-4.
func TestRecordsInJSONOfTheDocument(t *testing.T) {
	table := rows(t, "CHANNELS.md", "| Record | JSON |")
	if len(table) != 7 {
		t.Errorf("%d records", len(table))
	}
	for _, row := range table {
		answer := string(port.Answer(fmt.Appendf(nil, `{"id":1,"op":"records_encode","records":[%s]}`, row[1])))
		hex, ok := strings.CutPrefix(answer, `{"id":1,"ok":true,"hex":"`)
		if !ok {
			t.Errorf("%s: %s", row[1], answer)
			continue
		}
		answer = string(port.Answer(fmt.Appendf(nil, `{"id":1,"op":"records_decode","hex":"%s`, hex)))
		if want := fmt.Sprintf(`{"id":1,"ok":true,"records":[%s]}`, row[1]); answer != want {
			t.Errorf("%s, want %s", answer, want)
		}
	}
}

// What a sequence of the wire means (CHN-4), by the table of section 2.2.
func TestNearestSequencesOfTheDocument(t *testing.T) {
	table := rows(t, "CHANNELS.md", "| `base` | s | means |")
	if len(table) < 8 {
		t.Errorf("%d sequences", len(table))
	}
	for _, row := range table {
		base := core.Number(integer(t, row[0]))
		means, is, _ := strings.Cut(row[2], ":")
		n := core.Wire16.UpTo(base+core.Wire16.Size()/2, uint16(integer(t, row[1])))
		if n != core.Number(integer(t, means)) || (n < base) != strings.Contains(is, "below") {
			t.Errorf("%v: %d", row, n)
		}
	}
}

// Each of the 21 faults of section 4.4 of the rationale shows in a vector or a test.
func TestFaultsOfChannelsShow(t *testing.T) {
	checkFaults(t, "RATIONALE.md", "T-%d", 21)
}

// The registry of CHANNELS.md has the codes of package channel.
func TestCodesOfChannelsAreTheCodes(t *testing.T) {
	checkCodes(t, "channels.json", "../channel/errors.go")
}

// Constants that follow from others (CHN-6, CHP-5).
func TestConstantsOfChannelsFitTogether(t *testing.T) {
	c, packets := constantsOf(t, "channels.json"), constantsOf(t, "packets.json")
	const mostWindow, fragment, report, group = 1 << 14, 8, 7, 6
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"no old sequence is taken for a new one", 2*mostWindow+(packets["RECEIVED"]-1)*c["FRESH"] <= 65536},
		{"twice as many new sequences would be too many", 2*mostWindow+(packets["RECEIVED"]-1)*2*c["FRESH"] > 65536},
		{"a payload is one regular packet", c["PAYLOAD"] == packets["FRAGMENT_ABOVE"]},
		{"the largest record fits a payload", fragment+c["DATA"] <= c["PAYLOAD"]},
		{"so does the largest report", report+group*c["MOST_GROUPS"] == 199 && 199 <= c["PAYLOAD"]},
		{"a message fits the window and the queue", c["GROUP"] <= c["WINDOW"] && c["WINDOW"] <= c["SEND_QUEUE"]},
		{"a report has groups for the window", c["WINDOW"] <= 33*c["MOST_GROUPS"]},
		{"a probe waits 250 ms while nothing is measured", c["HOLD_UNMEASURED"]+c["PROBE_MARGIN"] >= c["LEAST_CAP"]},
		{"many probes go before a channel is given up", 20*c["LEAST_CAP"] <= c["GIVE_UP"]},
		{"reports are spaced before they are delayed or repeated", c["REPORT_SPACING"] < c["REPORT_DELAY"] && c["REPORT_SPACING"] < c["REPEAT_LEAST"]},
		{"waits do not overflow", int64(1)<<41<<c["BACKOFF_MOST"] < 1<<62},
	} {
		if !check.ok {
			t.Errorf("%s: %v", check.what, c)
		}
	}
}
