// Package eventlog says what machines and connections do, event by event: the events, how a
// file of them is written and how it is read. A file is JSON text sequences (RFC 7464) in the
// shape of qlog's main schema; docs/EVENTS.md lists the events, and schema.json is the same as
// data.
//
// Machines call a Log, which is nil when nobody wants to know: then an event costs one
// comparison. An Event is one flat value, so that a machine allocates nothing for it.
package eventlog
