package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// channelReport is CHV-6: a set of missing sequences, and the one report that names it.
func channelReport(g *group) {
	g.emptyReports()
	g.singleSequences()
	g.runsOfSequences()
	g.gapsBetweenGroups()
	g.reportsOfManyGroups()
	g.reportsAcrossTheWrap()
	g.refusedReports()
	g.randomReports()
}

const usualRoom = 512

// set adds the report of base + each distance.
func (g *group) set(name, comment, flags string, base uint16, room int64, distances ...int) {
	set := make([]uint16, len(distances))
	for i, d := range distances {
		set[i] = base + uint16(d)
	}
	g.missing(name, about{comment, "missing-set " + flags, "CHV-6 CHR-3"}, accepted, int64(len(g.file.Vectors)%64), base, room, set...)
}

// from is count distances from first on, each step above the one before.
func from(first, step, count int) (list []int) {
	for i := range count {
		list = append(list, first+i*step)
	}
	return list
}

// distancesOf joins lists of distances.
func distancesOf(parts ...[]int) (list []int) {
	for _, part := range parts {
		list = append(list, part...)
	}
	return list
}

func (g *group) emptyReports() {
	for _, base := range []uint16{0, 1, 255, 256, 32768, 65535} {
		g.set(fmt.Sprintf("nothing-from-%d", base), "Catches a port that names base though nothing is missing, or writes a group without a bit.", "canonical", base, usualRoom)
	}
	for _, room := range []int64{0, 1, 255, 256, 16384} {
		g.set(fmt.Sprintf("nothing-and-room-%d", room), fmt.Sprintf("Catches a port that writes room %d big-endian, in one byte, or as the limit.", room), "room byte-order", 300, room)
	}
}

func (g *group) singleSequences() {
	for _, base := range []uint16{0, 1, 31, 32, 255, 256, 32767, 32768, 65534, 65535} {
		g.set(fmt.Sprintf("only-%d", base), "Catches a port that names a single sequence by a bit of a start above it, or swaps its bytes.", "canonical byte-order", base, usualRoom, 0)
	}
	g.set("only-base-and-room-1", "Catches a port that has no room for the last sequence of the window.", "room", 9, 1, 0)
}

func (g *group) runsOfSequences() {
	for _, n := range []int{2, 3, 16, 31, 32, 33, 34, 65, 66, 67, 99, 100} {
		g.set(fmt.Sprintf("run-of-%d", n), fmt.Sprintf("Catches a port that cuts %d sequences in a row into groups from the bottom, or of another size than 33.", n), "canonical", 500, usualRoom, from(0, 1, n)...)
	}
	for _, far := range []int{1, 2, 8, 16, 31, 32} {
		g.set(fmt.Sprintf("two-%d-apart", far), fmt.Sprintf("Catches a port that does not name base by bit %d of one group.", far-1), "bit-order", 700, usualRoom, 0, far)
	}
	g.set("every-other", "Catches a port that names all between the first and the last.", "bit-order", 700, usualRoom, from(0, 2, 17)...)
	g.set("every-other-of-two-groups", "Catches a port that lets a bit of the second group fall away.", "bit-order", 700, usualRoom, from(0, 2, 30)...)
	g.set("every-third", "Catches a port that begins the lower group 33 below the upper one, not at the newest missing one.", "canonical", 40, usualRoom, from(0, 3, 40)...)
}

func (g *group) gapsBetweenGroups() {
	for _, gap := range []int{32, 33, 34, 35, 64, 65, 66, 67, 100, 400} {
		g.set(fmt.Sprintf("gap-of-%d", gap), fmt.Sprintf("Catches a port that begins a group wrongly where %d lie between two missing ones.", gap), "canonical", 1000, usualRoom, 0, gap)
		g.set(fmt.Sprintf("three-with-gaps-of-%d", gap), fmt.Sprintf("Catches a port that counts groups from the bottom where three are %d apart.", gap), "canonical", 1000, 16384, 0, gap, 2*gap)
	}
	for _, n := range []int{31, 32, 33, 34} {
		g.set(fmt.Sprintf("run-above-base-%d", n), fmt.Sprintf("Catches a port that puts base into the group of a run of %d above it, or a group below base.", n), "canonical", 2000, usualRoom, distancesOf(from(0, 1, 1), from(5, 1, n))...)
	}
	g.set("lower-group-begins-at-its-newest", "Catches a port that begins the lower group right below the bits of the upper one.", "canonical", 3000, usualRoom, 0, 3, 20, 60, 70)
	g.set("lowest-bit-31", "Catches a port that ends a group a sequence too early.", "canonical bit-order", 3000, usualRoom, 0, 1, 33)
	g.set("lowest-below-bit-31", "Catches a port that ends a group a sequence too late.", "canonical bit-order", 3000, usualRoom, 0, 34)
}

func (g *group) reportsOfManyGroups() {
	for _, n := range []int{31, 32, 33, 34, 64, 100} {
		g.set(fmt.Sprintf("%d-groups-of-one", n), fmt.Sprintf("Catches a port that writes %d groups though 32 fit, or keeps the newest of them.", n), "size-limit", 100, 16384, from(0, 40, n)...)
	}
	g.set("32-full-groups", "Catches a port that names fewer than 32 groups of 33 sequences, all that a report holds.", "size-limit", 60000, 16384, from(0, 1, 32*33)...)
	g.set("33-groups-from-the-top", "Catches a port that cuts groups from the bottom where not all fit: which sequences are left out depends on the newest.", "size-limit canonical", 100, 16384, distancesOf(from(0, 5, 70), from(400, 35, 33))...)
	g.set("32-groups-and-one-more", "Catches a port that keeps all though one sequence makes a group too many.", "size-limit", 100, 16384, distancesOf(from(0, 1, 1), from(33, 33, 32))...)
}

func (g *group) reportsAcrossTheWrap() {
	for _, base := range []uint16{65503, 65504, 65520, 65534, 65535} {
		g.set(fmt.Sprintf("run-from-%d", base), "Catches a port that sorts sequences as integers, or cuts a group at the wrap.", "wrap", base, usualRoom, from(0, 1, 40)...)
		g.set(fmt.Sprintf("far-from-%d", base), "Catches a port that takes what lies beyond the wrap for the lowest.", "wrap", base, usualRoom, 0, 5, 33, 77)
	}
	g.set("start-0", "Catches a port for which a start of 0 means none.", "wrap", 65500, usualRoom, 0, 36)
	g.set("window-of-16384", "Catches a port that takes distances above half of a small window for negative ones.", "wrap size-limit", 60000, 16384, 0, 8191, 8192, 16383)
}

func (g *group) refusedReports() {
	add := func(name, comment, want string, id int64, base uint16, room int64, set ...uint16) {
		g.missing(name, about{comment, "encoder missing-set", "CHV-6 CHR-3 CHR-7"}, want, id, base, room, set...)
	}
	add("channel-64", "Catches a port that writes a report of channel 64.", "unknown_channel@1", 64, 5, 9)
	add("room-16385", "Catches a port that writes room 16,385.", "room@4", 1, 5, 16385)
	add("missing-at-the-limit", "Catches a port that names what lies at the limit.", "group_start@7", 1, 5, 9, 5, 14)
	add("missing-without-room", "Catches a port that names base though the window has no room.", "group_start@7", 1, 5, 0, 5)
	add("base-not-missing", "Catches a port that writes a group which does not name base.", "group_base@7", 1, 5, 9, 6)
}

// randomReports are sets by chance, from dense to sparse.
func (g *group) randomReports() {
	random := stream.Random(20_221_122)
	for i := range 40 {
		base := uint16(random.Next())
		every := uint32(1 + i) // one of so many is missing
		distances := []int{0}
		for d := 1; d < 512 && len(distances) < 24+i; d++ {
			if random.Next()%every == 0 {
				distances = append(distances, d)
			}
		}
		g.set(fmt.Sprintf("random-%d", i+1), fmt.Sprintf("A set by chance, of which one in %d is missing: catches what nobody thought of.", every), "canonical wrap", base, usualRoom, distances...)
	}
}
