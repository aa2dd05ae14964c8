package handshake

import (
	"slices"
	"testing"
)

func violated(w Shares) (names []string) {
	for name, is := range w.Violated() {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// What an attacker can do in each suite (CXT-SAFE-9, CXT-SAFE-10, CXT-SAFE-2, CXA-38): nothing with a key of
// the client or of the server, also when it leaks later; and without one, or with those that have leaked
// before, what who stands between the ends can. The key of a client gives its place, and not the server's.
func TestShares(t *testing.T) {
	between := []string{"a key", "agreement"}
	for _, c := range []struct {
		world Shares
		want  []string
	}{
		{Shares{Name: "key", Keyed: true}, nil},
		{Shares{Name: "open"}, between},
		{Shares{Name: "key, leaked before", Keyed: true, Leaks: true}, append(slices.Clone(between), "somebody else's session")},
		{Shares{Name: "server", Static: true}, nil},
		{Shares{Name: "server, leaked before", Static: true, StaticLeaks: true}, between},
		{Shares{Name: "server and key", Static: true, Keyed: true}, nil},
		{Shares{Name: "server and key, of which the client's leaked", Static: true, Keyed: true, Leaks: true}, []string{"somebody else's session"}},
		{Shares{Name: "server and key, of which the server's leaked", Static: true, Keyed: true, StaticLeaks: true}, nil},
		{Shares{Name: "one key at two servers", Keyed: true, Twice: true}, []string{"relay"}},
		{Shares{Name: "one key at two servers with keys", Static: true, Keyed: true, Twice: true}, nil},
	} {
		if got := violated(c.world); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.world.Name, got, c.want)
		}
	}
}

// Each rule is needed: without it the attacker gets what it is there for.
func TestSharesNeedTheirRules(t *testing.T) {
	for _, c := range []struct {
		world Shares
		want  string
	}{
		{Shares{Name: "without shares", Keyed: true, NoShares: true}, "a key, by listening, later"},
		{Shares{Name: "without shares, open", NoShares: true}, "a key, by listening"},
		{Shares{Name: "without the key", Keyed: true, NoKey: true}, "somebody else's session"},
		{Shares{Name: "without the hello", Keyed: true, NoHello: true}, "somebody else's session"},
		{Shares{Name: "without the identity and the key", Keyed: true, NoIdentity: true, NoKey: true}, "unknown key share"},
		{Shares{Name: "without what was agreed", Keyed: true, NoAgreed: true}, "agreement"},
		{Shares{Name: "without digest and choice", Keyed: true, NoDigest: true, NoChoice: true}, "downgrade"},
		{Shares{Name: "without digest and CHALLENGE", Keyed: true, NoDigest: true, NoChallenge: true}, "downgrade"},
		{Shares{Name: "without CHALLENGE and choice", Keyed: true, NoChallenge: true, NoChoice: true}, "downgrade"},
		{Shares{Name: "without the key of the server", Static: true, NoStatic: true}, "a key"},
		{Shares{Name: "without it, and the client's leaked", Static: true, NoStatic: true, Keyed: true, Leaks: true}, "agreement"},
		{Shares{Name: "a hello for any server", Static: true, NoServer: true, Keyed: true, Twice: true}, "relay"},
		{Shares{Name: "without digest and choice, open", NoDigest: true, NoChoice: true}, "downgrade"},
	} {
		got := violated(c.world)
		t.Logf("%s: %q", c.world.Name, got)
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.world.Name, got, c.want)
		}
	}
}
