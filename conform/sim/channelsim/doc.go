// Package channelsim judges senders and receivers of reliable channels. [CheckedSender] and
// [CheckedReceiver] are machines beside their oracles (package conform/channels), with the
// calls of the machines. A [Judge] watches both ends from outside and knows what was sent and
// what was read, and no rule. A [World] has all of these, and a network that loses, doubles,
// delays and reorders packets as a test says.
//
// Properties, gopter commands and fuzzing use these. A [Workload] is messages over a path that are measured.
package channelsim
