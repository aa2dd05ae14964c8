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
	fmt.Fprintf(w, `# One server, one socket, many receivers

Made by `+"`go run ./many`"+` in `+"`bench/`"+` from commit %s with %s on %s, %d processors, load %s when it began.
Loopback UDP, worlds of 256 KiB.

This is real time.
The processors are shared by the server, %d processes of receivers and whatever else the machine did, so datagrams a second and times to completion say as much about the receivers as about the server.
What belongs to the server alone is its processor time (user and system, from getrusage), and that is what rows are compared by.
Rows of a table take turns, %d times; every figure is a median, and the spread is the smallest and the largest.

- The receivers are the protocol's own machines on sockets of their own (1 MiB of buffer each, so that a whole chunk fits), one read and one write a datagram, no offload.
  Each compares what it got.
  They read slower than the server sends, and nothing is lost but what is dropped on purpose: see "resent".
- The pace is "unlimited", all slices at once, except where the table is about profiles: the socket and the machine are measured, not a link.
- On loopback the kernel does the receiver's share of its work inside the sender's call (up to the receiver's socket buffer, waking it), so a datagram costs the sender more than on a network card.
  That holds for all rows.
- Sizes are UDP payload: 1,037 bytes a slice.

`, commit(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), load(), processes, p.repeats)
}

const limitsText = `## Next to the bare limit

%d receivers, one world each.
"Bare" sends as many datagrams of 1,037 bytes, in the same order, to receivers that read and discard: no protocol, no acks, no checksum, and it ends when the kernel has taken the last one, not when it has arrived.
So compare processor time.

`

const connectionsText = `
## By connections

No loss.
Few connections fetch the world more often, one after the other.

`

const lossText = `
## By loss

%d receivers, one world each.
Receivers drop so much of what they read, and of the acks that they send.

`

const profilesText = `
## By profile

%d receivers, one world each, no loss. "burst" spaces a connection's slices by 85 us; the last two learn the path's rate, which here is the rate at which the receivers get their turn.

`

const memoryText = `
## Memory

Bytes of the server's heap (spans in use) and stacks, a connection. *Idle*: it has received a first chunk and answered it. *Sending*: what a chunk of 256 slices in flight adds to that, beside the chunk, which is in memory once for all. *Receiving*: a connection into which 16 slices of 256 have come, beside these slices' 16 KiB.

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
