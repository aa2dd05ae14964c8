package statemachine

// Row identifies a row of a transition table in the specification. An id is
// never given to another row.
type Row uint8

// String returns the row's id in the specification, such as "S9" or "R5".
func (r Row) String() string { return rowIDs[r] }

// Event is something that happens to a machine.
type Event uint8

// The events.
const (
	EventSubmit Event = iota // a chunk is given to a sender
	EventAck                 // an ack packet reaches a sender
	EventSlice               // a slice packet reaches a receiver
	EventRead                // a receiver is asked for a complete chunk
	EventPoll                // a machine is asked, at a time, what is due
)

func (e Event) String() string {
	return [...]string{"submit", "ack", "slice", "read", "poll"}[e]
}

// Guard is a condition that tells apart what one event can mean. Of the guards
// of an event exactly one holds, in any state.
type Guard uint8

// The guards, in the words of the specification's tables.
const (
	Always Guard = iota // in a table only: whichever guard holds

	SizeValid
	SizeInvalid

	AckForeign
	AckNothingNew
	AckHold
	AckNews
	AckAll

	SliceForeign
	SlicePrevious
	SliceDuplicate
	SliceConflicts
	SliceRepins
	SliceRepinsAndCompletes
	SliceAdds
	SliceCompletes
	SliceEarly

	ReadAsked

	PollNothing
	PollSlice
	PollAck
	PollGiveUp

	numGuards
)

func (g Guard) String() string { return guards[g].text }

// Event returns the event that the guard belongs to.
func (g Guard) Event() Event { return guards[g].event }

var guards = [numGuards]struct {
	event Event
	text  string
}{
	Always: {text: "always"},

	SizeValid:   {EventSubmit, "size valid"},
	SizeInvalid: {EventSubmit, "size invalid"},

	AckForeign:    {EventAck, "foreign"},
	AckNothingNew: {EventAck, "nothing new"},
	AckHold:       {EventAck, "hold"},
	AckNews:       {EventAck, "news"},
	AckAll:        {EventAck, "all acked"},

	SliceForeign:            {EventSlice, "foreign"},
	SlicePrevious:           {EventSlice, "previous"},
	SliceDuplicate:          {EventSlice, "duplicate"},
	SliceConflicts:          {EventSlice, "conflicts"},
	SliceRepins:             {EventSlice, "repins"},
	SliceRepinsAndCompletes: {EventSlice, "repins and completes"},
	SliceAdds:               {EventSlice, "adds"},
	SliceCompletes:          {EventSlice, "completes"},
	SliceEarly:              {EventSlice, "early"},

	ReadAsked: {EventRead, "asked"},

	PollNothing: {EventPoll, "nothing due"},
	PollSlice:   {EventPoll, "slice due"},
	PollAck:     {EventPoll, "ack due"},
	PollGiveUp:  {EventPoll, "give up"},
}

// Transition is one row of a table: in state From, when Event happens and
// Guard holds, the machine takes the row's actions and is then in state To.
type Transition[State ~uint8] struct {
	Row   Row
	From  State
	Event Event
	Guard Guard
	To    State
}

// maxStates is more than any machine has.
const maxStates = 4

// index finds a table's row by state and guard. Where the table has none, since
// the guard cannot hold in that state, it leaves the state as it is.
type index[State ~uint8] [maxStates][numGuards]Transition[State]

func indexOf[State ~uint8](table []Transition[State]) (ix index[State]) {
	for state := range ix {
		for g := range ix[state] {
			ix[state][g].To = State(state)
		}
	}
	for _, t := range table {
		for g := Always + 1; g < numGuards; g++ {
			if g.Event() == t.Event && (t.Guard == Always || t.Guard == g) {
				ix[t.From][g] = t
			}
		}
	}
	return ix
}
