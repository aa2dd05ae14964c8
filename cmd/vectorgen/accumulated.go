package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/oracle"
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
			"spec/PROTOCOL.md says under \"Random packets\". A port makes the packets itself and compares the hash.",
		License: testvectors.License,
		Runs: []testvectors.Accumulated{
			run(0x11223344, quickRun, "Kills what no list of cases thought of: encodes random packets, flips a bit of each, makes its crc right and decodes it. Takes a second."),
			run(0x2545f491, 1_000_000, "The same, a hundred times as long: a mistake that needs three fields to meet shows here, if anywhere."),
		},
	}
}

func hash(run testvectors.Accumulated) string {
	return fmt.Sprintf("%x", oracle.Accumulate(uint32(run.Seed), run.Packets))
}
