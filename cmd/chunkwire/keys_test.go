package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// keyFile makes a key file of these lines.
func keyFile(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// What keygen prints is a key file, and each time another one.
func TestKeygen(t *testing.T) {
	t.Parallel()
	a, b := runCommand(t, nil, "keygen"), runCommand(t, nil, "keygen", "--out", "-")
	if a.code != exitOK || b.code != exitOK || a.stdout == b.stdout || strings.Count(a.stdout, "\n") != 1 {
		t.Fatalf("%+v, %+v", a, b)
	}
	one, err := readCredential(keyFile(t, a.stdout))
	if err != nil || one.line()+"\n" != a.stdout {
		t.Errorf("%q is read as %q, %v", a.stdout, one.line(), err)
	}
	all, err := readCredentials(keyFile(t, "# senders", a.stdout, "", "  "+strings.ToUpper(b.stdout)))
	if err != nil || len(all) != 2 || all[0] != one || all[1].line()+"\n" != b.stdout {
		t.Errorf("%v, %v", all, err)
	}
}

// A key file is made so that nobody else can read it, and none is overwritten.
func TestKeygenToAFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "alice.key")
	if r := runCommand(t, nil, "keygen", "--out", name); r.code != exitOK || r.stdout != "" {
		t.Fatalf("%+v", r)
	}
	if _, err := readCredential(name); err != nil {
		t.Error(err)
	}
	var said strings.Builder
	warnOfOpenFile(note{&said}, name)
	if said.String() != "" {
		t.Errorf("of a new file it says %q", &said)
	}
	if runtime.GOOS != "windows" {
		for _, mode := range []os.FileMode{0o640, 0o604, 0o666} {
			said.Reset()
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			if warnOfOpenFile(note{&said}, name); !strings.Contains(said.String(), "chmod 600 "+name) {
				t.Errorf("of mode %#o it says %q", mode, &said)
			}
		}
	}
	if r := runCommand(t, nil, "keygen", "--out", name); r.code != exitFailed || !strings.Contains(r.stderr, "exists") {
		t.Errorf("a second one: %+v", r)
	}
}

// What a wrong key file has wrong is said with its line, and without the key.
func TestWrongKeyFiles(t *testing.T) {
	t.Parallel()
	good := newCredential()
	name, key, _ := strings.Cut(good.line(), " ")
	zeros := strings.Repeat("0", 64)
	for _, c := range []struct {
		says  string
		lines []string
	}{
		{"has no identity", nil},
		{"has no identity", []string{"# nothing", ""}},
		{"line 2: want an identity and a key, and there are 1 word", []string{"#", key}},
		{"line 1: want an identity and a key, and there are 3 words", []string{good.line() + " alice"}},
		{"line 1: the identity is not 16 hexadecimal digits", []string{name + "0 " + key}},
		{"line 1: the identity is not 16 hexadecimal digits", []string{"alice " + key}},
		{"line 1: the key is not 64 hexadecimal digits", []string{name + " " + key[1:]}},
		{"line 1: the key is not 64 hexadecimal digits", []string{name + " g" + key[1:]}},
		{"line 1: the identity 0 is reserved for anonymous peers", []string{zeros[:16] + " " + key}},
		{"line 1: a key of zeros protects nothing", []string{name + " " + zeros}},
		{"line 3: the identity " + name + " is in line 1, too", []string{good.line(), "", good.line()}},
		{"is no key file", []string{strings.Repeat("a", 1<<17)}},
		{"is too large", []string{strings.Repeat("#\n", largestKeyFile)}},
	} {
		_, err := readCredentials(keyFile(t, c.lines...))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), key[1:]) {
			t.Errorf("got  %v\nwant %s", err, c.says)
		}
	}
	if _, err := readCredential(keyFile(t, good.line(), newCredential().line())); err == nil || !strings.Contains(err.Error(), "has 2 identities, and a sender has one") {
		t.Error(err)
	}
	if _, err := readCredentials(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// Each key is also added to the file of a receiver, which only its owner can read.
func TestKeygenAppends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := filepath.Join(dir, "senders.key")
	want := ""
	for _, name := range []string{"a.key", "b.key"} {
		one := filepath.Join(dir, name)
		if r := runCommand(t, nil, "keygen", "--out", one, "--append", all); r.code != exitOK {
			t.Fatal(r.stderr)
		}
		line, err := os.ReadFile(one)
		if err != nil {
			t.Fatal(err)
		}
		want += string(line)
	}
	got, err := os.ReadFile(all)
	info, err2 := os.Stat(all)
	if err != nil || err2 != nil || string(got) != want || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: %s, want %s", err, info.Mode(), got, want)
	}
}
