// Package crowd runs random worlds of several flows over one path: ours with lanes of either
// variant, and models of other protocols beside them. The path changes, loses, delays and
// polices for a while; then the others leave and it is good, and judges look at what ours make
// of it: no queue that overflows all the time, fair shares, the speed that is there, and no
// flow that hangs.
package crowd
