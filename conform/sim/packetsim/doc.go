// Package packetsim judges endpoints of the packet layer. A [Model] is an endpoint, and a
// [CongestionModel] a congestion machine, written once more from spec/PACKETS.md: literally,
// slowly, with sets and lists of all that ever happened. [Checked] gives each event to an
// endpoint and to its model, and compares everything that can be seen. A [Judge] watches
// two ends from outside and knows what was sent: it needs no model.
//
// Properties, gopter commands, fuzzing and the explorer all use these.
package packetsim
