package connection

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/machine"
)

var seeds = flag.Int("seeds", 5, "runs of each figure")

const chunkSize = 256 << 10

func millis(t machine.Micros) string { return fmt.Sprintf("%6.0f", float64(t)/1000) }

// The figures of section 9: go test ./sim/connection -run TestFigures -v -seeds 20
func TestFigures(t *testing.T) {
	t.Logf("mode  path  loss | alone: game 95 chat 95 chunk chunk 95 | together: game 95  lost  chat 95 chunk chunk 95 | bad")
	for _, settle := range []machine.Micros{100 * machine.Millisecond, 15 * machine.Second} {
		for _, p := range Paths {
			for _, loss := range []float64{0, 1, 5} {
				path := p.Path
				path.Loss = loss
				l := Load{Path: path, Settle: settle, MeasureAtLeast: 3 * machine.Second}
				run := func(game, chat bool, chunk int) Figures {
					l := l
					l.Game, l.Chat, l.Chunk = game, chat, chunk
					f, err := l.Measure(*seeds)
					if err != nil {
						t.Fatalf("%s at %v %%: %v", p.Name, loss, err)
					}
					return f
				}
				game, chat, chunk, all := run(true, false, 0), run(false, true, 0), run(false, false, chunkSize), run(true, true, chunkSize)
				t.Logf("%5.1f s %s %2.0f %% | %s %s %s %s | %s %4.1f%% %s %s %s | %3.0f%% %3.0f%%", settle.Duration().Seconds(), p.Name, loss,
					millis(game.Game.P95), millis(chat.Chat.P95), millis(chunk.Chunk.Median), millis(chunk.Chunk.P95),
					millis(all.Game.P95), 100*all.GameLost, millis(all.Chat.P95), millis(all.Chunk.Median), millis(all.Chunk.P95), 100*game.Bad, 100*all.Bad)
			}
		}
	}
}
