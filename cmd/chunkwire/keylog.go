package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/chunkwire/chunkwire/connection/session"
)

// keyLog writes the keys of connections to a file: a line has a link, and the keys of what the client and
// the server send, in hexadecimal.
type keyLog struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// openKeyLog opens a new file that nobody else can read.
func openKeyLog(name string) (*keyLog, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &keyLog{file: f}, err
}

// write is a session.KeyLog.
func (l *keyLog) write(link uint32, c2s, s2c session.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.file, "%08x %x %x\n", link, c2s, s2c)
	}
}

func readKeyLog(name string) (map[uint32][2]session.Key, error) {
	text, err := os.ReadFile(name)
	keys := map[uint32][2]session.Key{}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var link uint32
		var hexes [2]string
		if _, wrong := fmt.Sscanf(line, "%x %s %s", &link, &hexes[0], &hexes[1]); err == nil && wrong != nil {
			return nil, fmt.Errorf("%s, line %d: want a link and two keys", name, n+1)
		}
		var pair [2]session.Key
		for i, text := range hexes {
			if key, wrong := hex.DecodeString(text); wrong == nil && len(key) == len(pair[i]) {
				pair[i] = session.Key(key)
			} else if err == nil {
				return nil, fmt.Errorf("%s, line %d: a key has 64 hexadecimal digits", name, n+1)
			}
		}
		keys[link] = pair
	}
	return keys, err
}
