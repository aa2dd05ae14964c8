package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

// errRefused is the end of an inspect that refused a datagram.
var errRefused = errors.New("refused")

// largestInspected bounds what is read: a capture of half an hour at 5 Mbit/s.
const largestInspected = 1 << 30

type inspectFlags struct {
	file        string
	as          string
	protocolIDs []string
	lanes       int
	keyLog      string
	decrypt     string
	bits        bool
	json        bool
	explain     bool
	fields      []string
	each        bool
}

func newInspect() *cobra.Command {
	var flags inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect [HEX...]",
		Short: "Show what datagrams and captures hold",
		Long: `inspect takes datagrams apart: each field with its bits, its value and the sentence of
the specification that it comes from, or why the datagram is refused, where, and by which
sentence. It knows chunks, repair slices, packets, channels and connections, and finds out
which of them a datagram is; if none accepts it, --as PROTOCOL shows why that one does not.

HEX is one datagram; spaces, colons and 0x do not matter. Without HEX and --file, standard
input is read: a datagram a line in hexadecimal, or a capture. --file is a capture (pcap or
pcapng, found by its first bytes), or one datagram as it is.

For a capture it reports each conversation between two addresses: handshake, chunks, the
slices that were resent and why, the loss on each side of the point of capture, round trip,
silence, refusals, and the end at fault. Datagrams that segmentation offload has merged are
split. Acks of plain chunks have no numbers, so lost acks show only with packets and
connections. The reasons of a resend are
  lost                  acks had later slices and not this one
  after a time-out      no ack had later slices, for longer than a round trip
  in advance            sooner than an ack could arrive
  though an ack had it  that ack was lost or late

The protocol id of chunks is not sent, but the crc covers it: if no candidate fits, inspect
prints the id that would. For a capture it takes the id that several datagrams have; it takes
the highest lane in use for the last one, so only with --lanes the protocol id is exact.
Encrypted datagrams are opened with --key-log, if the handshake is in the capture. --decrypt
FILE writes a capture with them in clear, in the form of mode mac, which Wireshark can show.

With --json a datagram is an object with its fields, bits counted from its first one, the lowest
of a byte first; here a part of it:
  {"protocol":"chunks","size":12,"summary":"ack: chunk 49374, 0 of 1 slice",
   "lane":{"base":287454020,"lanes":1,"lane":0,"repair":false},
   "fields":[{"name":"crc","bit":0,"bits":32,"value":3412427872,"sentence":"FRM-2"}]}
and "refused" has code, place, unit, layer, bit, sentence and text. A capture is one object:
  {"datagrams":7,"joined":1,"ip_fragments":0,"other_packets":0,"cut_short":0,"stories":[
   {"ends":[{"address":"192.0.2.1:1000","datagrams":5,"bytes":5186,"duplicates":0,
     "loss":{"before":{"what":"slices","lost":0,"of":4},"after":{"what":"slices","lost":1,"of":5}},
     "round_trip":{"samples":3,"least_ms":40,"median_ms":41,"most_ms":41}}],
    "chunks":[{"end":0,"lane":0,"chunk":0,"slices":4,"sent":5,"resent":{"lost":1,"timeout":0,
     "copies":0,"had_already":0},"lost":1,"acks":2,"acks_that_repeat":0,"complete":true,
     "again":[{"seconds":0.041,"slice":1,"after_ms":41,"why":"lost"}]}],
    "silences":[],"refused":[],"ended":"...","verdict":"..."}]}
and with --each "each" has every datagram with seconds, from and to. "before" is between the
sender and the capture, "after" between the capture and the receiver. The number of an end is
its place in "ends".

Exit codes: 0 done, 1 failed, 2 bad usage, 4 a datagram is refused (not since it came twice),
130 interrupted.`,
		Example: `  chunkwire inspect 608465cbbd810100e2ac0899
  chunkwire inspect --as records --explain 06010200ff
  chunkwire inspect --file world.pcap
  tcpdump -i lo -w - udp port 9000 | chunkwire inspect
  chunkwire inspect --file world.pcap --key-log world.keys --json
  chunkwire inspect --file world.pcap --key-log world.keys --decrypt clear.pcap
  chunkwire inspect --file world.pcap --protocol-id 7 --each`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.file, "file", "", "the `FILE` to read: a capture, or one datagram as it is")
	f.StringVar(&flags.as, "as", "", "take datagrams as this `PROTOCOL`: "+protocolNames())
	f.StringSliceVar(&flags.protocolIDs, "protocol-id", nil, "candidates for the protocol id of chunks, besides the default one")
	f.IntVar(&flags.lanes, "lanes", 0, "how many lanes plain chunks have; 0 is any number")
	f.StringVar(&flags.keyLog, "key-log", "", "`FILE` that send or recv --key-log has written, to open what is sealed")
	f.StringVar(&flags.decrypt, "decrypt", "", "write the datagrams of a capture to this `FILE`, those that --key-log opens in clear, for Wireshark")
	f.BoolVar(&flags.bits, "bits", false, "draw the bits of each byte, the lowest first")
	f.BoolVar(&flags.json, "json", false, "print JSON: an object a datagram, or one for a capture")
	f.BoolVar(&flags.explain, "explain", false, "print the text of the sentence of each refusal")
	f.StringSliceVar(&flags.fields, "field", nil, "print the text of the sentences of these fields, too; all: of every field")
	f.BoolVar(&flags.each, "each", false, "list each datagram of a capture, too")
	return cmd
}

func protocolNames() string {
	var names []string
	for _, p := range inspect.Protocols() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// options returns what the flags say of the datagrams.
func (flags *inspectFlags) options() (o inspect.Options, err error) {
	o = inspect.Options{As: inspect.Protocol(flags.as), Lanes: flags.lanes, Keys: map[uint32][2]session.Key{}}
	if o.As != inspect.Auto && !slices.Contains(inspect.Protocols(), o.As) {
		return o, fmt.Errorf("--as is one of %s, not %q", protocolNames(), flags.as)
	}
	if flags.lanes < 0 || flags.lanes > session.MostLanes {
		return o, errors.New("--lanes is 0 to 16")
	}
	for _, text := range flags.protocolIDs {
		var id uint32
		if err := (protocolID{&id}).Set(text); err != nil {
			return o, fmt.Errorf("--protocol-id %s: %w", text, err)
		}
		o.ProtocolIDs = append(o.ProtocolIDs, id)
	}
	o.ProtocolIDs = append(o.ProtocolIDs, defaultProtocolID)
	return o, nil
}

func (flags *inspectFlags) run(cmd *cobra.Command, args []string) error {
	opts, err := flags.options()
	if err == nil && flags.file != "" && len(args) > 0 {
		err = errors.New("HEX and --file cannot be used together")
	}
	if err == nil && flags.decrypt != "" && flags.keyLog == "" {
		err = errors.New("--decrypt needs --key-log")
	}
	if err != nil {
		return usageError(cmd, err)
	}
	if flags.keyLog != "" {
		if opts.Keys, err = readKeyLog(flags.keyLog); err != nil {
			return err
		}
	}
	show := &inspectShow{inspectFlags: flags, w: bufio.NewWriter(cmd.OutOrStdout())}
	err = show.input(cmd.InOrStdin(), args, opts)
	if usage := (*hexError)(nil); errors.As(err, &usage) {
		err = usageError(cmd, err)
	}
	return errors.Join(err, show.w.Flush())
}

// input shows what the arguments, a file or standard input have.
func (s *inspectShow) input(stdin io.Reader, args []string, opts inspect.Options) error {
	if len(args) > 0 {
		err := s.lines([]byte(strings.Join(args, " ")), opts)
		if wrong := (*hexError)(nil); errors.As(err, &wrong) && len(args) == 1 {
			if info, missing := os.Stat(args[0]); missing == nil && info.Mode().IsRegular() {
				wrong.file = args[0]
			}
		}
		return err
	}
	from := stdin
	if s.file != "" {
		f, err := os.Open(s.file)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	b, err := io.ReadAll(io.LimitReader(from, largestInspected+1))
	switch {
	case err != nil:
		return err
	case len(b) > largestInspected:
		return fmt.Errorf("there is more than %d bytes", largestInspected)
	case isCapture(b):
		c, err := readCapture(b)
		if err != nil {
			return err
		}
		opts.Brief, opts.Clear = !s.json || !s.each, s.decrypt != ""
		c.inspect(opts)
		if s.decrypt != "" {
			err = c.writeClear(s.decrypt)
		}
		return errors.Join(err, s.capture(c))
	case s.decrypt != "":
		return errors.New("--decrypt needs a capture; the input is not one")
	case s.file != "":
		return s.datagrams([][]byte{b}, opts)
	case len(bytes.TrimSpace(b)) == 0:
		return &hexError{}
	}
	return s.lines(b, opts)
}

// hexError is a line that is no datagram; line 0: there is no line. The file has the name that was taken for a line.
type hexError struct {
	line int
	file string
}

func (e *hexError) Error() string {
	switch {
	case e.file != "":
		return fmt.Sprintf("%q is not hexadecimal digits; there is a file of that name: --file %s", e.file, e.file)
	case e.line == 0:
		return "there is nothing on standard input; give a datagram as HEX, or --file FILE"
	}
	return fmt.Sprintf("line %d is not hexadecimal digits, two for each byte", e.line)
}

// lines shows a datagram a line.
func (s *inspectShow) lines(text []byte, opts inspect.Options) error {
	var list [][]byte
	for i, line := range bytes.Split(text, []byte("\n")) {
		digits := strings.NewReplacer("0x", "", "0X", "", " ", "", "\t", "", "\r", "", ":", "", ",", "").Replace(string(line))
		b, err := hex.DecodeString(digits)
		if err != nil {
			return &hexError{line: i + 1}
		}
		if len(b) > 0 {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return s.datagrams([][]byte{nil}, opts)
	}
	return s.datagrams(list, opts)
}

// datagrams shows datagrams one after the other.
func (s *inspectShow) datagrams(list [][]byte, opts inspect.Options) error {
	in := inspect.New(opts)
	refused := 0
	for _, joined := range list {
		for _, b := range inspect.Cut(joined) {
			var at inspect.Captured
			at.Result = in.Datagram(at.From, at.To, b)
			if at.Result.Refused != nil || at.Result.Protocol == inspect.Unknown {
				refused++
			}
			if err := s.datagram(&at.Result, b); err != nil {
				return err
			}
		}
	}
	return refusedError(refused)
}

func refusedError(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s %w", countOf(int64(n), "datagram"), errRefused)
}

func (s *inspectShow) encode(v any) error {
	e := json.NewEncoder(s.w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
