// Package channelsim judges senders and receivers of reliable channels. A [SenderModel] and a
// [ReceiverModel] are the two machines written once more from spec/CHANNELS.md: literally,
// slowly, with maps of all that ever happened. [CheckedSender] and [CheckedReceiver] give
// each event to a machine and to its model, and compare everything that can be seen. A
// [Judge] watches both ends from outside and knows what was sent and what was read: it needs
// no model. A [World] has all of these, and a network that loses, doubles, delays and
// reorders packets as a test says.
//
// Properties, gopter commands, fuzzing and the host's worlds all use these.
package channelsim
