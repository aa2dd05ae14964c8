//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

func writeHead(w io.Writer, p plan) {
	fmt.Fprintf(w, `# One server, one socket, many connections

Made by `+"`go run ./many`"+` in `+"`tools/bench/`"+` from commit %s with %s on %s, %d processors, load %s when it began.
Loopback UDP, worlds of 256 KiB.

This is real time.
The processors are shared by the server, %d processes of clients and whatever else the machine did, so datagrams a second and times to completion say as much about the clients as about the server.
What belongs to an end alone is its processor time (user and system, from getrusage), and that is what rows are compared by.
Rows of a table take turns, %d times; every figure is a median, and the spread is the smallest and the largest.

- The clients are ends of package transport, each dialed, with a socket and a key of its own.
  Each compares what it got.
- The profile is the default, except where the table is about profiles.
  It learns the path's rate, which here is the rate at which the clients get their turn on the processors.
- On loopback the kernel does the receiver's share of its work inside the sender's call (up to the receiver's socket buffer, waking it), so a datagram costs the sender more than on a network card.
  That holds for all rows.
- Sizes are UDP payload: 1,062 bytes a slice.

`, commit(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), load(), processes, p.repeats)
}

const limitsText = `## Next to the bare limit

%d receivers, one world each.
"Bare" sends as many datagrams of 1,062 bytes, in the same order, to receivers that read and discard: no protocol, no acks, no encryption, and it ends when the kernel has taken the last one, not when it has arrived.
So compare processor time.

`

const connectionsText = `
## By connections

No loss.
Few connections fetch the world more often, one after the other.

`

const lossText = `
## By loss

%d connections, one world each.
Clients drop so much of what they read, and of what they send, and read and write one datagram a call.

`

const profilesText = `
## By profile

%d connections, one world each, no loss.

`

const memoryText = `
## Memory

Bytes of objects in memory, a connection, at the server and at the dialed end, which has a socket and two goroutines.
*Fresh*: connected.
*At rest*: it has moved a world each way, and nothing for twelve seconds.
*Stacks*: of its goroutines, at rest.
*Sending*: what a world in flight adds while the other end is stopped, beside the world, which is in memory once for all.

`

func writeTail(w io.Writer) {
	fmt.Fprintf(w, "\nLoad when it ended: %s.\n", load())
}

// commit returns the commit of the tree, and says so if it was changed since.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// load returns how many processes wanted a processor in the last minute, on average.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}
