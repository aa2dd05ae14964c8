package connectionsim

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

var seeds = flag.Int("seeds", 1, "runs of each figure")

const chunkSize = 256 << 10

func millis(t core.Micros) string { return fmt.Sprintf("%6.0f", float64(t)/1000) }

// The figures of section 9: go test ./conform/sim/connectionsim -run TestFigures -v -seeds 20
func TestFigures(t *testing.T) {
	t.Logf("mode  path  loss | alone: game 95 chat 95 chunk chunk 95 | together: game 95  lost  chat 95 chunk chunk 95 | bad")
	for _, settle := range []core.Micros{100 * core.Millisecond, 15 * core.Second} {
		for _, p := range Paths {
			for _, loss := range []float64{0, 1, 5} {
				path := p.Path
				path.Loss = loss
				l := Load{Path: path, Settle: settle, MeasureAtLeast: 3 * core.Second}
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

// What yielding is worth (ROOM-3, CXM-5): on 1 Mbit/s game packets are late by less than 100 ms
// while a chunk is sent, and by more without it; the chunk takes at most twice as long as alone.
func TestWhatYieldingIsWorth(t *testing.T) {
	l := Load{Path: Paths[2].Path, Settle: 15 * core.Second, MeasureAtLeast: 3 * core.Second, Game: true}
	measure := func() Figures {
		f, err := l.Measure(*seeds)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	game := measure()
	l.Chunk = chunkSize
	both := measure()
	l.Config.Chunks.NewRepairScheduler = func() (statemachine.Scheduler, error) {
		s, err := lanes.Adaptive.NewScheduler(codec.Repair, 0)
		return unyielding{s}, err
	}
	without := measure()
	l.Game = false
	chunk := measure()
	t.Logf("game packets' 95th: alone %s, with a chunk %s, without yielding %s; chunk: alone %s, with game packets %s, without yielding %s ms",
		millis(game.Game.P95), millis(both.Game.P95), millis(without.Game.P95), millis(chunk.Chunk.Median), millis(both.Chunk.Median), millis(without.Chunk.Median))
	check.That(t, both.Game.P95 < game.Game.P95+100*core.Millisecond, "game packets are in time")
	check.That(t, both.Chunk.Median <= 2*chunk.Chunk.Median, "the chunk is")
	check.That(t, without.Game.P95 > both.Game.P95, "without yielding they are later")
}

// unyielding is a scheduler that does not yield to messages.
type unyielding struct{ statemachine.Scheduler }

func (unyielding) Yield(bool) {}
