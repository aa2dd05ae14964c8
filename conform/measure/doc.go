// Package measure measures what takes time over links, in virtual time: transfers of chunks with any scheduler
// of either kind of slices, as the tests of schedulers compare them. Runs with many seeds, and quantiles of their
// results, are for all that is measured so.
package measure
