package fuzz

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/testvectors"
)

// seedsOf are the traces of a machine that vectors have.
func seedsOf(op *conform.Op) func([]testvectors.File) [][]byte {
	return func(files []testvectors.File) [][]byte { return op.Seeds(testvectors.Requests(files)) }
}

// judge sets the judges of a run, and one that logs each event of a run that is watched.
func judge(p *conform.Pair, list ...conform.Judge) {
	if p.Judges = list; verbose() {
		p.Judges = append(p.Judges, logged{p})
	}
}

// logged logs what happens.
type logged struct{ *conform.Pair }

func (l logged) Saw(at int64, e conform.Event, s conform.Step) error {
	text := ""
	var rows []string
	if r, is := l.Oracle.(conform.Rower); is {
		rows = r.Took()
	} else if s != nil {
		rows = l.Op.Words.Step(l.Config, s).Rows
	}
	for _, row := range rows {
		text += " Row:" + row
	}
	l.T.Logf("at %d,%s : %T%+v: %+v", at, text, e, e, s)
	return nil
}
