// Package fuzz holds the fuzz targets of this repository: functions that take any
// bytes, do with them what a hostile peer, a bad network or a careless caller could
// do, and compare what comes of it with an oracle that is slower and simpler than
// the code.
//
// A target is in a file of its own, such as bits.go; its fuzz function stands alone in
// bits_test.go, for engines that compile one file. [Targets] lists them; README.md
// explains them. No state is shared between two executions.
package fuzz
