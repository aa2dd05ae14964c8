package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

const goCorpus = "go test fuzz v1"

// ParseInput reads a file of a corpus: one that "go test" wrote, with one []byte
// in it, or else the input itself.
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
