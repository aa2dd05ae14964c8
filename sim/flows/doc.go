// Package flows lets several flows share a path, in virtual time, and measures what each of
// them gets and what all of them do to the path.
package flows
