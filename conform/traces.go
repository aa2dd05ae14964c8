package conform

import "encoding/json"

// Traces returns the traces of an operation that are among requests. What cannot be read, or
// run, is not.
func (op *Op) Traces(requests []json.RawMessage) (list []Trace) {
	for _, request := range requests {
		q, err := object(request)
		if err != nil || string(q["op"]) != string(marshal(op.Name)) {
			continue
		}
		t, err := op.Read(q)
		if err != nil {
			continue
		}
		m, err := op.Oracle(t.Config)
		if err != nil {
			continue
		}
		if _, err := Run(m, t.Events); err == nil {
			list = append(list, t)
		}
	}
	return list
}

// Seeds are those traces as Input has them.
func (op *Op) Seeds(requests []json.RawMessage) (seeds [][]byte) {
	for _, t := range op.Traces(requests) {
		if m, err := op.Oracle(t.Config); err == nil {
			seeds = append(seeds, op.Encode(t.Config, t.Events, m.(Oracle)))
		}
	}
	return seeds
}
