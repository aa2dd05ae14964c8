// Package fuzz holds the fuzz targets of this repository: functions that take any
// bytes, do with them what a hostile peer, a bad network or a careless caller
// could do, and compare what comes of it with an oracle that is slower and
// simpler than the code.
//
// The logic of each target is a function such as [CheckDatagram], in a plain
// file, so that any engine can call it, and [Draw] can show people what an input
// does. The FuzzXxx functions around them stand in files of their own. No state
// is shared between two executions. [Targets] lists them; README.md explains them.
package fuzz
