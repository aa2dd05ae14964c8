package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// script reads a fuzzer's bytes as decisions. When they are used up every further
// one is 0.
type script struct{ left []byte }

func (s *script) more() bool { return len(s.left) > 0 }

func (s *script) byte() byte {
	if len(s.left) == 0 {
		return 0
	}
	b := s.left[0]
	s.left = s.left[1:]
	return b
}

// uint16 and uint32 take the least significant byte first.
func (s *script) uint16() uint16 { return uint16(s.byte()) | uint16(s.byte())<<8 }
func (s *script) uint32() uint32 { return uint32(s.uint16()) | uint32(s.uint16())<<16 }

// take returns the next n bytes, or what is left of them.
func (s *script) take(n int) []byte {
	n = min(n, len(s.left))
	b := s.left[:n:n]
	s.left = s.left[n:]
	return b
}

// pick returns one of a list.
func pick[E any](s *script, list []E) E { return list[int(s.byte())%len(list)] }

const goCorpus = "go test fuzz v1"

// ParseInput reads a file of a corpus: one that "go test" wrote, with one []byte in
// it, or else the input itself.
func ParseInput(file []byte) ([]byte, error) {
	head, rest, _ := bytes.Cut(file, []byte("\n"))
	if string(bytes.TrimSpace(head)) != goCorpus {
		return file, nil
	}
	value := bytes.TrimSpace(rest)
	value, isBytes := bytes.CutPrefix(value, []byte("[]byte("))
	value, closed := bytes.CutSuffix(value, []byte(")"))
	if !isBytes || !closed {
		return nil, errors.New("fuzz: a corpus file with something else than one []byte")
	}
	text, err := strconv.Unquote(string(value))
	if err != nil {
		return nil, fmt.Errorf("fuzz: a corpus file whose []byte is no string: %w", err)
	}
	return []byte(text), nil
}

// FormatInput writes an input as "go test" does.
func FormatInput(data []byte) []byte {
	return fmt.Appendf(nil, "%s\n[]byte(%q)\n", goCorpus, data)
}
