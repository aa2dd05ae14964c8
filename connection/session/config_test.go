package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// A field that is 0 has its default (CXP-1).
func TestDefaults(t *testing.T) {
	terms := func(m Mode) Terms { return Terms{Mode: m, Variants: DefaultVariants, Timeout: 10 * second} }
	client := func(c ClientConfig) Terms {
		return check.Must(with(c, func(c *ClientConfig) { c.Random = source(1) }).complete()).Terms
	}
	server := func(c ServerConfig) ServerConfig {
		c = check.Must(with(c, func(c *ServerConfig) { c.Random = source(1) }).complete())
		c.Random, c.Keys = nil, nil
		return c
	}
	check.Equal(t, "anonymous", client(ClientConfig{}), terms(AEAD))
	check.Equal(t, "with a key", client(ClientConfig{Identity: 1}), terms(AEAD))
	check.Equal(t, "as it says", client(ClientConfig{Terms: Terms{Mode: CRC}}), terms(CRC))
	check.Equal(t, "server", server(open), ServerConfig{Terms: terms(AEAD), Anonymous: true, MaxConnections: 1024, MaxPerAddress: 256, Shards: 1})
	check.Equal(t, "with keys", server(keyed), ServerConfig{Terms: terms(AEAD), MaxConnections: 1024, MaxPerAddress: 256, Shards: 1})
	check.Equal(t, "with both", server(ServerConfig{Keys: keys, Anonymous: true}).Mode, AEAD)
	for most, want := range map[int]int{1: 1, 15: 15, 16: 16, 64: 16, 68: 17, 1 << 24: 1 << 22} {
		check.Equal(t, "at one address", server(with(open, func(c *ServerConfig) { c.MaxConnections = most })).MaxPerAddress, want)
	}
}

// The extension of marks is bit 0 of the set (CXM-12).
func TestTheBitOfMarks(t *testing.T) { check.Equal(t, "bit", ExtensionECN, 1) }

// What is allowed is taken.
func TestConfigurationsThatAreGood(t *testing.T) {
	for _, terms := range []Terms{{Lanes: 16}, {Timeout: second}, {Timeout: 3600 * second}, {Variants: 255, Extensions: 65535, Protocol: 1<<32 - 1}, {Mode: MAC}, {Mode: AEAD}} {
		_, err := NewClient(0, ClientConfig{Terms: terms, Identity: 1<<64 - 1, Key: Key{1}, Random: source(1)})
		check.Same(t, "error", err, nil)
		_, err = NewServer(ServerConfig{Terms: terms, Keys: keys, MaxConnections: 1 << 24, MaxPerAddress: 1 << 24, Shard: 1<<16 - 1, Shards: 1 << 16, Random: source(1)})
		check.Same(t, "error", err, nil)
	}
}

// What is not is refused, and the error names the field (CXP-2).
func TestConfigurationsThatAreBad(t *testing.T) {
	bad := func(field string, err error) {
		t.Helper()
		check.That(t, errors.Is(err, core.ErrConfig) && strings.Contains(err.Error(), "session: "+field+" is "), field+": "+err.Error())
	}
	for _, c := range []struct {
		field string
		Terms
	}{
		{"Mode", Terms{Mode: 0x3f}}, {"Mode", Terms{Mode: 0x43}}, {"Lanes", Terms{Lanes: -1}}, {"Lanes", Terms{Lanes: 17}},
		{"Timeout", Terms{Timeout: second - 100*ms}}, {"Timeout", Terms{Timeout: 3600*second + 100*ms}}, {"Timeout", Terms{Timeout: second + 1}}, {"Timeout", Terms{Timeout: -second}},
	} {
		_, err := NewClient(0, ClientConfig{Terms: c.Terms, Identity: 1, Random: source(1)})
		bad(c.field, err)
		_, err = NewServer(ServerConfig{Terms: c.Terms, Keys: keys, Random: source(1)})
		bad(c.field, err)
	}
	for _, c := range []struct {
		field string
		ClientConfig
	}{
		{"Random", ClientConfig{}},
		{"Key", ClientConfig{Key: Key{1}, Random: source(1)}},
		{"Mode", ClientConfig{Terms: Terms{Mode: CRC}, Identity: 1, Key: Key{1}, Random: source(1)}},
	} {
		client, err := NewClient(0, c.ClientConfig)
		bad(c.field, err)
		check.Equal(t, "client", client, nil)
	}
	for _, c := range []struct {
		field  string
		change func(*ServerConfig)
	}{
		{"Random", func(c *ServerConfig) { c.Random = nil }},
		{"Keys", func(c *ServerConfig) { c.Anonymous = false }},
		{"Mode", func(c *ServerConfig) { c.Mode, c.Keys = CRC, keys }},
		{"MaxConnections", func(c *ServerConfig) { c.MaxConnections = -1 }}, {"MaxConnections", func(c *ServerConfig) { c.MaxConnections = 1<<24 + 1 }},
		{"MaxPerAddress", func(c *ServerConfig) { c.MaxPerAddress = -1 }}, {"MaxPerAddress", func(c *ServerConfig) { c.MaxPerAddress = 1025 }},
		{"Shards", func(c *ServerConfig) { c.Shard = 1 }}, {"Shards", func(c *ServerConfig) { c.Shard, c.Shards = 4, 4 }}, {"Shards", func(c *ServerConfig) { c.Shards = 1<<16 + 1 }},
	} {
		server, err := NewServer(with(with(open, func(c *ServerConfig) { c.Random = source(1) }), c.change))
		bad(c.field, err)
		check.That(t, server == nil, "no server")
	}
}

// Randomness that fails is a mistake of the program: nothing goes on with a nonce that is not drawn.
func TestRandomnessThatFails(t *testing.T) {
	defer func() { check.That(t, recover() != nil, "it panics") }()
	_, _ = NewServer(with(open, func(c *ServerConfig) { c.Random = strings.NewReader("too short") }))
}

// Silence is three tenths of the time-out.
func TestSilenceIsAPartOfTheTimeout(t *testing.T) {
	for timeout, want := range map[core.Micros]core.Micros{10 * second: 3 * second, second: 300 * ms, 1100 * ms: 330 * ms, 3600 * second: 1080 * second} {
		check.Equal(t, "silence", Silence(timeout), want)
	}
}
