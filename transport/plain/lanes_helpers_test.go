package plain_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/transport/plain"
)

// lanes returns the good config with n lanes, and more changed.
func lanes(n int, changes ...func(*plain.Config)) plain.Config {
	cfg := plain.Config{ProtocolID: protocolID, Lanes: n}
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// enqueue puts chunks in line, which must not have to wait.
func enqueue(t *testing.T, c *plain.Conn, chunks ...[]byte) (all []*plain.Delivery) {
	t.Helper()
	for _, chunk := range chunks {
		d, err := c.Enqueue(background, chunk)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// stream sends chunks of many sizes from one end and wants them at the other.
func stream(t *testing.T, from, to *plain.Conn, chunks int, size func(i int) int) {
	t.Helper()
	sent := during(func() error {
		var all []*plain.Delivery
		for i := range chunks {
			d, err := from.Enqueue(background, content(size(i), uint64(i)))
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		for _, d := range all {
			if err := d.Wait(background); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range chunks {
		mustRecv(t, to, content(size(i), uint64(i)))
	}
	wantErr(t, "sending", <-sent, nil)
}
