package core

// Row is the id of a row of a transition table as the specification prints it,
// such as "S9". It is empty before a machine's first event.
type Row string

// Line is a row of a table in the words of the specification.
type Line struct {
	Row     Row
	State   string
	Event   string
	Guard   string
	Next    string
	Actions []string
}
