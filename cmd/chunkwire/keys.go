package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// credential is an identity and the key that proves it: a line of a key file.
type credential struct {
	identity uint64
	key      [32]byte
}

// newCredential draws one.
func newCredential() (c credential) {
	var identity [8]byte
	for c.identity == 0 { // that is the anonymous one
		_, _ = rand.Read(identity[:]) // it never fails
		c.identity = binary.BigEndian.Uint64(identity[:])
	}
	_, _ = rand.Read(c.key[:])
	return c
}

// name is how an identity is written, in key files and to people.
func (c credential) name() string { return identityName(c.identity) }

func identityName(identity uint64) string { return fmt.Sprintf("%016x", identity) }

func (c credential) line() string { return c.name() + " " + hex.EncodeToString(c.key[:]) }

// parseCredential takes a line of a key file. What it says of a wrong one does not
// show the key.
func parseCredential(line string) (c credential, err error) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return c, fmt.Errorf("want an identity and a key, and there are %s", countOf(int64(len(fields)), "word"))
	}
	identity, err := hex.DecodeString(fields[0])
	if err != nil || len(identity) != 8 {
		return c, errors.New("the identity is not 16 hexadecimal digits")
	}
	key, err := hex.DecodeString(fields[1])
	if err != nil || len(key) != len(c.key) {
		return c, errors.New("the key is not 64 hexadecimal digits")
	}
	c = credential{binary.BigEndian.Uint64(identity), [32]byte(key)}
	switch {
	case c.identity == 0:
		return c, errors.New("the identity 0 is reserved for anonymous peers")
	case c.key == [32]byte{}:
		return c, errors.New("a key of zeros protects nothing")
	}
	return c, nil
}

// largestKeyFile bounds what is read of a file that is no key file: 100,000 lines.
const largestKeyFile = 100_000 * 82

// readCredentials reads a key file: an identity a line. Blank lines, and those that
// begin with #, say nothing.
func readCredentials(name string) (all []credential, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestKeyFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > largestKeyFile:
		return nil, fmt.Errorf("%s is too large for a key file", name)
	}
	return credentialsIn(text, name)
}

// credentialsIn returns the credentials of a key file's text.
func credentialsIn(text []byte, name string) (all []credential, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	before := map[uint64]int{} // the line of each identity
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := parseCredential(line)
		if err == nil && before[c.identity] != 0 {
			err = fmt.Errorf("the identity %s is in line %d, too", c.name(), before[c.identity])
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w; 'chunkwire keygen' makes such lines", name, n, err)
		}
		before[c.identity] = n
		all = append(all, c)
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("%s is no key file: %w", name, lines.Err())
	case len(all) == 0:
		return nil, fmt.Errorf("%s has no identity; 'chunkwire keygen' makes one", name)
	}
	return all, nil
}

// readCredential reads the key file of a client, which has one line.
func readCredential(name string) (credential, error) {
	all, err := readCredentials(name)
	if err != nil {
		return credential{}, err
	}
	if len(all) > 1 {
		return credential{}, fmt.Errorf("%s has %d identities, and a sender has one; put its line into a file of its own", name, len(all))
	}
	return all[0], nil
}

// warnOfOpenFile says that others can read a key file.
func warnOfOpenFile(n note, name string) {
	const others = 0o077
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS == "windows" || !info.Mode().IsRegular() || info.Mode().Perm()&others == 0 {
		return
	}
	n.printf("others on this system can read %s (its mode is %#o); chmod 600 %s, or make new keys if that can have happened", name, info.Mode().Perm(), name)
}

func newKeygen() *cobra.Command {
	var out, all string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Make a new identity and its key",
		Long: `keygen draws an identity and a key, and prints them as the line of a key file. The
sender has that line in a file of its own, and the receiver has the lines of all its
senders in one file, to which --append adds it. Both name their file with --key.

Anyone who has the line can send as that identity, and can read and forge its traffic:
keep it where only you can read it, and copy it to the other end over a safe connection,
such as ssh.
` + exitHelp,
		Example: `  chunkwire keygen --out alice.key
  chunkwire keygen --out bob.key --append senders.key
  chunkwire recv --key senders.key --listen :9000 --out world.bin
  chunkwire send --key alice.key --to 192.0.2.7:9000 world.bin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := newCredential()
			if err := writeCredential(c, out, cmd.OutOrStdout()); err != nil || all == "" {
				return err
			}
			return appendCredential(c, all)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "put it into a new `FILE` that nobody else can read, instead of printing it")
	cmd.Flags().StringVar(&all, "append", "", "also add it to this `FILE` of a receiver, which is made if it does not exist")
	return cmd
}

// writeCredential writes a line to a new file, or without a name to w.
func writeCredential(c credential, name string, w io.Writer) error {
	if name == "" || name == "-" {
		_, err := fmt.Fprintln(w, c.line())
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists, and a key is never overwritten; choose another name", name)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, c.line())
	return errors.Join(err, f.Close())
}

// appendCredential adds a line to the file of a receiver.
func appendCredential(c credential, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, c.line())
	return errors.Join(err, f.Close())
}
