// Package sim runs machines against each other in virtual time. It knows no
// protocol: a [World] has ends, each a machine or several behind one interface, and
// a [Carrier] that decides when what one of them sends arrives at another, and
// whether. Package conform/sim/chunk has what the chunk protocol adds.
//
// A World does what a driver does over sockets: it goes on to the next event, hands
// over the packets that are due, and then asks every end what it has to send.
package sim
