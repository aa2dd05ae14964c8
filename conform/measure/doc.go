// Package measure measures what takes time over links, in virtual time: transfers of chunks with any scheduler
// of either kind of slices, as the tests of schedulers compare them (Scenario) and as `chunkwire simulate` and the
// page's playground do (Settings). Runs with many seeds, and quantiles of what came of them, are for all that
// is measured so.
package measure
