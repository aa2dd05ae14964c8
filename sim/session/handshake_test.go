package session

import (
	"flag"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/sim/explore"
)

var (
	hsNightly = flag.Bool("explore.nightly", false, "let TestHandshakeNightly visit far more")
	hsCI      = flag.Bool("explore.ci", false, "let TestHandshakeLarge visit millions of states")
)

// In every run.
var hsSmall = []hsWorld{
	{name: "keyed", keyed: true, clients: 1, addresses: 2, offers: 2, challenges: 3, moves: 1, ends: 1, restarts: 1, ages: true},
	{name: "keyed, begins again", keyed: true, clients: 1, addresses: 1, offers: 3, challenges: 3, crashes: 1, ends: 1, ages: true},
	{name: "keyed, moves", keyed: true, clients: 1, addresses: 2, offers: 3, challenges: 3, moves: 2},
	{name: "two clients with one identity", keyed: true, clients: 2, addresses: 2, homes: [2]uint8{0, 1}, offers: 3, challenges: 3, ends: 1},
	{name: "anonymous", clients: 2, addresses: 3, homes: [2]uint8{0, 1}, offers: 3, challenges: 3, moves: 1, attempts: 1},
	{name: "foreign", keyed: true, clients: 1, addresses: 2, offers: 2, challenges: 3, foreign: 1, moves: 1, ends: 1, restarts: 1},
}

var hsLarge = []hsWorld{
	{name: "keyed", keyed: true, clients: 1, addresses: 2, offers: 3, challenges: 3, crashes: 1, moves: 1, ends: 1, restarts: 1, ages: true},
	{name: "anonymous", clients: 2, addresses: 3, homes: [2]uint8{0, 1}, offers: 3, challenges: 3, moves: 1, ends: 1, attempts: 1},
}

var hsLargest = []hsWorld{
	{name: "anonymous, two moves", clients: 2, addresses: 3, homes: [2]uint8{0, 1}, offers: 3, challenges: 3, moves: 2, attempts: 1},
	{name: "two clients with one identity", keyed: true, clients: 2, addresses: 2, homes: [2]uint8{0, 1}, offers: 3, challenges: 3, crashes: 1, ends: 1, restarts: 1, ages: true},
	{name: "keyed, four challenges", keyed: true, clients: 1, addresses: 2, offers: 3, challenges: 4, moves: 2, ends: 1},
	{name: "anonymous", clients: 2, addresses: 3, homes: [2]uint8{0, 1}, offers: 3, challenges: 3, moves: 1, ends: 1, restarts: 1, attempts: 1, ages: true},
}

func hsExplored(t *testing.T, w hsWorld) *explore.Result {
	t.Helper()
	r := explore.Run[hsState, hsMoveMade](&w, explore.Limits{States: 25_000_000})
	t.Logf("%s: %v", w.name, r)
	return r
}

func hsAllExplored(t *testing.T, worlds []hsWorld) {
	t.Helper()
	for _, w := range worlds {
		if r := hsExplored(t, w); r.Err != nil {
			t.Errorf("%s: %v\n%s", w.name, r.Err, r.Trace)
		}
	}
}

// Whatever is lost, doubled, late, replayed or forged: nothing of what hsWorld forbids
// happens, and from every state a good network leads to an end without a time-out.
func TestHandshake(t *testing.T) { hsAllExplored(t, hsSmall) }

func TestHandshakeLarge(t *testing.T) {
	if !*hsCI {
		t.Skip("needs -explore.ci")
	}
	hsAllExplored(t, hsLarge)
}

func TestHandshakeNightly(t *testing.T) {
	if !*hsNightly {
		t.Skip("needs -explore.nightly")
	}
	hsAllExplored(t, hsLargest)
}

// What is not excluded: an observer who links with a client's own offer from his address,
// and sends the CHALLENGE on to the client, has its PROOF, which is right for his address.
func TestARelayIsNotExcluded(t *testing.T) {
	w := hsSmall[2]
	w.relays = true
	if r := hsExplored(t, w); r.Err == nil || !strings.HasPrefix(r.Err.Error(), "hijack") {
		t.Errorf("%v", r.Err)
	}
}

// Each rule is needed: without it the model finds what it is there for.
func TestHandshakeNeedsItsRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		world int
		rules hsRules
		want  string
	}{
		{"F1", 4, hsRules{oneAnonymous: true}, "replaced"},
		{"by address", 4, hsRules{byAddress: true}, "revival"},
		{"F2", 4, hsRules{resumeByKey: true}, "hijack"},
		{"F3, stamps", 2, hsRules{anyStamp: true}, "moved back"},
		{"F3, memory", 0, hsRules{noMemory: true}, "revival"},
		{"F4", 2, hsRules{firstOnly: true}, "stuck"},
		{"larger stamps only", 0, hsRules{largerOnly: true}, "stuck"},
		{"F5, proof", 0, hsRules{unproven: true}, "refused"},
		{"F5, reasons", 0, hsRules{linksAnew: true}, "anew"},
		{"F6", 2, hsRules{sameNonce: true}, "stale LINKED"},
		{"REFUSED without the offer", 5, hsRules{withoutOffer: true}, "refused"},
		{"half-open", 0, hsRules{halfOpenEnds: true}, "revival"},
		{"remember", 0, hsRules{forgetsAtOnce: true}, "revival"},
		{"refuses once", 0, hsRules{refusesOnce: true}, "refused"},
		{"keeps late", 0, hsRules{keepsLate: true}, "dead keys"},
	} {
		w := hsSmall[c.world]
		w.hsRules = c.rules
		w.name = c.name
		r := hsExplored(t, w)
		if r.Err == nil || !strings.HasPrefix(r.Err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, r.Err, c.want)
		} else {
			t.Logf("%v\n%s", r.Err, r.Trace)
		}
	}
}
