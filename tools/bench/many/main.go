//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == roleFlag {
		err = playRole(os.Args[2])
	} else {
		err = measure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "many:", err)
		os.Exit(1)
	}
}

// measure runs every experiment and writes the page.
func measure() error {
	out := flag.String("out", "MANY.md", "the page to write")
	repeats := flag.Int("repeats", 5, "how often each row is measured")
	most := flag.Int("most", 10_000, "the most connections")
	only := flag.String("only", "", "print one table instead: limits, connections, loss, profiles or memory")
	profile := flag.String("profile", "", "write a processor profile of the server with --most connections here instead, for go tool pprof; of clients beside it")
	flag.Parse()
	plan := plan{repeats: *repeats, most: *most}
	if *profile != "" {
		return plan.profile(*profile)
	}
	if *only != "" {
		return plan.print(*only)
	}
	return plan.write(*out)
}
