package main

import (
	"fmt"
	"io"
	"regexp"
)

// printList prints the vectors that match, one a line.
func printList(w io.Writer, list []file, match *regexp.Regexp) error {
	for _, f := range list {
		for _, v := range f.vectors() {
			if !match.MatchString(v.Name) {
				continue
			}
			if _, err := fmt.Fprintf(w, "%s\t%s\n", v.Name, v.Comment); err != nil {
				return err
			}
		}
	}
	return nil
}
