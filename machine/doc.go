// Package machine holds what all state machines of the family share: time in
// microseconds, tables of transitions, and the error for a bad configuration.
// It knows no protocol.
//
// A machine keeps its states, its table, its guards and its actions on one page.
// The table is a list of [Transition]; each row has its id in the specification,
// its guard and its actions, in the words of the document. [Table.Lines] gives
// the rows as strings, so that a test can compare the table with the document.
package machine
