package main

// fuzzFaults are caught by the fuzz targets.
var fuzzFaults = []fault{
	{
		Name:     "a slice may have the id num_slices (note 25)",
		Breaks:   "a decoder accepts what can be encoded, and nothing else (LAW-2, DEC-7)",
		File:     "codec/slice.go",
		Old:      "if sliceID > lastID {",
		New:      "if sliceID > lastID+1 {",
		CaughtBy: seeds("FuzzBody", "FuzzDatagram"),
	},
	{
		Name:     "the lengths 1,021 to 1,024 of a last slice are read as 1,020",
		Breaks:   "a decoder accepts what can be encoded, and nothing else (LAW-2, SLC-1)",
		File:     "codec/slice.go",
		Old:      "n = int(lessOne) + 1",
		New:      "n = min(int(lessOne)+1, 1020)",
		CaughtBy: campaign("FuzzRoundTrip", "20000x"),
	},
}

// seeds are fuzz targets, run with their seeds and committed corpora only.
func seeds(targets ...string) []catch {
	var list []catch
	for _, t := range targets {
		list = append(list, catch{Package: "./fuzz", Test: t})
	}
	return list
}

// campaign is a fuzz target that finds the fault by itself within a number of
// executions, such as "20000x"; those of its seeds count.
func campaign(target, executions string) []catch {
	return []catch{{"./fuzz", target, []string{"-test.fuzz=^" + target + "$", "-test.fuzztime=" + executions}}}
}
