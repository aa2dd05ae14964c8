package handshake

import (
	"flag"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
)

var (
	nightly = flag.Bool("explore.nightly", false, "let TestHandshakeNightly visit far more")
	ci      = flag.Bool("explore.ci", false, "let TestHandshakeLarge visit millions of states")
)

func explored(t *testing.T, w World) *explore.Result {
	t.Helper()
	r := explore.Run[State, Move](&w, explore.Limits{States: 25_000_000})
	t.Logf("%s: %v", w.Name, r)
	return r
}

func allExplored(t *testing.T, worlds []World) {
	t.Helper()
	for _, w := range worlds {
		if r := explored(t, w); r.Err != nil {
			t.Errorf("%s: %v\n%s", w.Name, r.Err, r.Trace)
		}
	}
}

// Whatever is lost, doubled, late, replayed or forged: nothing of what World forbids happens, and
// from every state a good network leads to an end without a time-out (CXA-36, CXT-SAFE-1 to
// CXT-SAFE-4, CXT-LIVE-1, CXT-LIVE-2, CXT-LIVE-4).
func TestHandshake(t *testing.T) { allExplored(t, Small) }

func TestHandshakeLarge(t *testing.T) {
	if !*ci {
		t.Skip("needs -explore.ci")
	}
	allExplored(t, Middle)
	allExplored(t, Large)
}

func TestHandshakeNightly(t *testing.T) {
	if !*nightly {
		t.Skip("needs -explore.nightly")
	}
	allExplored(t, Largest)
}

// What is not excluded: an observer who links with a client's own offer from his address,
// and sends the CHALLENGE on to the client, has its PROOF, which is right for his address.
func TestARelayIsNotExcluded(t *testing.T) {
	w := Small[1]
	w.Relays = true
	if r := explored(t, w); r.Err == nil || !strings.HasPrefix(r.Err.Error(), "hijack") {
		t.Errorf("%v", r.Err)
	}
}

// What a relay does is over when he stops: all else holds, and a good network leads to an end.
func TestWhatARelayDoesIsOver(t *testing.T) {
	for _, w := range Small[:3] {
		w.Relays, w.Anywhere = true, true
		w.Addresses = max(w.Addresses, 2)
		w.Offers, w.Challenges = min(w.Offers, 2), min(w.Challenges, 3)
		if r := explored(t, w); r.Err != nil {
			t.Errorf("%s: %v\n%s", w.Name, r.Err, r.Trace)
		}
	}
}

// Each rule is needed: without it the model finds what it is there for.
func TestHandshakeNeedsItsRules(t *testing.T) {
	keyed, anonymous, moves := Middle[0], Middle[1], Small[1]
	for _, c := range []struct {
		name  string
		world World
		rules Rules
		want  string
	}{
		{"F1", anonymous, Rules{OneAnonymous: true}, "replaced"},
		{"by address", anonymous, Rules{ByAddress: true}, "revival"},
		{"by hello alone", Small[4], Rules{ByHello: true}, "hijack"},
		{"F2", anonymous, Rules{ResumeByKey: true}, "hijack"},
		{"F3, stamps", moves, Rules{AnyStamp: true}, "moved back"},
		{"F3, memory", keyed, Rules{NoMemory: true}, "revival"},
		{"F4", moves, Rules{FirstOnly: true}, "stuck"},
		{"larger stamps only", keyed, Rules{LargerOnly: true}, "stuck"},
		{"F5, proof", keyed, Rules{Unproven: true}, "refused"},
		{"F5, reasons", keyed, Rules{LinksAnew: true}, "anew"},
		{"F6", moves, Rules{SameNonce: true}, "stale LINKED"},
		{"half-open", keyed, Rules{HalfOpenEnds: true}, "revival"},
		{"remember", keyed, Rules{ForgetsAtOnce: true}, "revival"},
		{"refuses once", keyed, Rules{RefusesOnce: true}, "refused"},
		{"keeps late", keyed, Rules{KeepsLate: true}, "dead keys"},
	} {
		w := c.world
		w.Rules = c.rules
		w.Name = c.name
		r := explored(t, w)
		if r.Err == nil || !strings.HasPrefix(r.Err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, r.Err, c.want)
		} else {
			t.Logf("%v\n%s", r.Err, r.Trace)
		}
	}
}
