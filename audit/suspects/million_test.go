package suspects

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// BenchmarkMillion writes and reads a list of a million images, and reports the size of the file and the memory of
// the list while it is read. Long: go test ./audit/suspects -run none -bench Million -benchtime 1x
func BenchmarkMillion(b *testing.B) {
	list := made(1_000_000)
	dir := b.TempDir()
	for _, format := range forms {
		path := filepath.Join(dir, "x."+string(format))
		b.Run(fmt.Sprintf("write/%s", format), func(b *testing.B) {
			for b.Loop() {
				f, err := os.Create(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := Write(f, format, list); err != nil {
					b.Fatal(err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if info, err := os.Stat(path); err == nil {
				b.ReportMetric(float64(info.Size())/1e6, "MB")
			}
		})
	}
	list = nil
	for _, format := range forms {
		b.Run(fmt.Sprintf("read/%s", format), func(b *testing.B) {
			for b.Loop() {
				base := heap()
				most, stop := peak()
				got, err := Read(filepath.Join(dir, "x."+string(format)))
				close(stop)
				if err != nil || len(got) != 1_000_000 {
					b.Fatal(err)
				}
				b.ReportMetric(float64(<-most-base)/1e6, "peakMB")
				b.ReportMetric(float64(heap()-base)/1e6, "listMB")
				runtime.KeepAlive(got)
			}
		})
	}
}

// heap returns the memory in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// peak returns the largest heap until it is stopped.
func peak() (<-chan int64, chan<- struct{}) {
	most, stop := make(chan int64, 1), make(chan struct{})
	go func() {
		var top int64
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			top = max(top, int64(m.HeapAlloc))
			select {
			case <-stop:
				most <- top
				return
			case <-tick.C:
			}
		}
	}()
	return most, stop
}
