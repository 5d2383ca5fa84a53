package progress

import (
	"bytes"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := New(&out, "images", func() time.Time { return now })
	p.At(32, 1000, 0, "")
	now = now.Add(2 * time.Second)
	p.At(120, 1000, 100, "")
	now = now.Add(8 * time.Second)
	p.At(200, 1000, 100, "  3 unreadable")
	now = now.Add(4 * time.Second)
	p.At(240, 1000, 100, "")
	now = now.Add(6 * time.Second)
	p.At(101, 1000, 100, "")
	p.End()
	want := "200/1000 images  10.0 images/s  1m20s left  3 unreadable\n101/1000 images  0.1 images/s\n"
	if out.String() != want {
		t.Errorf("%q, expected %q", out.String(), want)
	}
}
