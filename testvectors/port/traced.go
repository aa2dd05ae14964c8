package port

import "github.com/chunkwire/chunkwire/conform"

// machine answers traces of a machine that is declared for package conform: the events before one that
// cannot be read are run (TRC-6, CHO-12).
func machine(op *conform.Op) operation {
	return func(q *object) (any, error) {
		steps, err := op.Answer(q.fields, op.Product)
		if err != nil {
			return nil, err
		}
		return conform.Steps{OK: true, Steps: steps}, nil
	}
}
