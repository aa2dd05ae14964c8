package sessions

import (
	"bytes"

	"github.com/chunkwire/chunkwire/conform"
)

// This file has what scripts begin with: the client has identity 1, and the server knows
// identities 1 to 4 and draws links 1001, 1002 and so on.

func usualClient() ClientConfig {
	c := ClientConfig{Identity: identity(1), Key: conform.Ascending(0x10, 32), Config: usual()}
	for i := range byte(8) {
		c.Random += conform.Ascending(1+16*i, 16) + conform.Ascending(0x81+16*i, 32) // a nonce and a private share
	}
	return c
}

func usualServer() ServerConfig {
	c := ServerConfig{Config: usual(), MaxConnections: 100, MaxPerAddress: 50}
	c.Random = conform.Ascending(0xd0, 32) // the secret
	for i := range byte(8) {
		c.Random += conform.Bytes(bytes.Repeat([]byte{0x80 + i}, 32)) + conform.Bytes([]byte{0xe9 + i, 3, 0, 0}) // a private share and a link
	}
	for n := range byte(4) {
		c.Keys = append(c.Keys, Key{identity(1 + n), conform.Ascending(0x10*(1+n), 32)})
	}
	return c
}

func usual() Config {
	return Config{Protocol: 7, Mode: "aead", Lanes: 2, Variants: 1, Timeout: 100, Format: conform.Ascending(0xf0, 8)}
}

func identity(n byte) conform.Bytes { return conform.Bytes([]byte{n, 0, 0, 0, 0, 0, 0, 0}) }
