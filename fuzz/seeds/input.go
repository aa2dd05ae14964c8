package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// corpus holds files by their names.
type corpus map[string][]byte

// inputs are the files for a target's seeds, named by what is in them.
func inputs(seeds [][]byte) corpus {
	files := corpus{}
	for _, seed := range seeds {
		for _, input := range [][]byte{seed, withLength(seed)} {
			files[hash(input)] = input
		}
	}
	return files
}

// hash names an input as Go does: by the first eight bytes of its SHA-256.
func hash(input []byte) string {
	sum := sha256.Sum256(input)
	return fmt.Sprintf("%x", sum[:8])
}

// withLength puts the length in front, as go-fuzz-headers' GetBytes reads it.
func withLength(seed []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(seed))), seed...)
}

// withoutLength takes a length away that is that of what follows.
func withoutLength(input []byte) []byte {
	if len(input) >= 4 && binary.BigEndian.Uint32(input) == uint32(len(input)-4) {
		return input[4:]
	}
	return input
}

// archive writes inputs to a zip file.
func archive(name string, files corpus) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range files.names() {
		w, err := z.Create(file)
		if err == nil {
			_, err = w.Write(files[file])
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(z.Close(), os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b.Bytes(), 0o644))
}

func (files corpus) names() (list []string) {
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
