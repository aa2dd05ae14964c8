package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors"
)

// quickRun is the number of packets up to which --check runs the oracle.
const quickRun = 10_000

// accumulated is the file of seeded runs, without hashes.
func accumulated() *testvectors.AccumulatedFile {
	run := func(seed uint64, packets int, comment string) testvectors.Accumulated {
		return testvectors.Accumulated{
			Name: fmt.Sprintf("accumulated/%d", packets), Comment: comment,
			Sentences: []string{"ACC-1", "ACC-2", "ACC-3", "LAW-1", "LAW-2"},
			Seed:      seed, Packets: packets,
		}
	}
	return &testvectors.AccumulatedFile{
		Format: testvectors.FormatVersion,
		Description: "Seeded runs of random packets, each summed up by one SHA-256, as appendix B of " +
			"spec/PROTOCOL.md says under \"Random packets\". The conformance runner makes the packets and asks a port for each; a port's own tests can make them, too, and compare the hash.",
		License: testvectors.License,
		Runs: []testvectors.Accumulated{
			run(0x11223344, quickRun, "Encodes random packets, flips a bit of each, makes the crc valid again and decodes it. Catches what no list of cases covers. Takes a second."),
			run(0x2545f491, 1_000_000, "The same, a hundred times as long: catches mistakes that need a rare combination of fields."),
		},
	}
}

func hash(run testvectors.Accumulated) string {
	return fmt.Sprintf("%x", oracle.Accumulate(uint32(run.Seed), run.Packets))
}
