package shards

import (
	"sync"

	"github.com/parquet-go/parquet-go"
)

// mostCached is the size in bytes of the zero PageCache.
const mostCached = 256 << 20

// PageCache keeps the pages that were used last, at least one, because neighbouring images are mostly in one page. The
// zero value is ready to use; methods are safe for concurrent use.
type PageCache struct {
	mu    sync.Mutex
	bytes int64
	clock int64
	pages map[pageKey]*keptPage
}

type pageKey struct {
	file              *ParquetFile
	group, leaf, page int
}

// keptPage is a page, which its first user reads.
type keptPage struct {
	once   sync.Once
	values []parquet.Value
	err    error
	bytes  int64
	used   int64
}

// getPage returns the values of a page; read loads them unless they are cached.
func (c *PageCache) getPage(k pageKey, read func() ([]parquet.Value, error)) ([]parquet.Value, error) {
	c.mu.Lock()
	if c.pages == nil {
		c.pages = map[pageKey]*keptPage{}
	}
	p := c.pages[k]
	if p == nil {
		p = &keptPage{}
		c.pages[k] = p
	}
	c.clock++
	p.used = c.clock
	c.mu.Unlock()
	p.once.Do(func() {
		p.values, p.err = read()
		size := int64(0)
		for _, v := range p.values {
			size += int64(len(v.Bytes())) + 24
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		p.bytes = size
		if c.bytes += size; p.err != nil {
			delete(c.pages, k)
			return
		}
		c.dropLeastUsed(k)
	})
	return p.values, p.err
}

// dropLeastUsed drops the least recently used pages, but keeps at least one.
func (c *PageCache) dropLeastUsed(but pageKey) {
	for c.bytes > mostCached && len(c.pages) > 1 {
		var oldest pageKey
		least := c.clock + 1
		for k, p := range c.pages {
			if k != but && p.used < least && p.bytes > 0 {
				oldest, least = k, p.used
			}
		}
		if least > c.clock {
			return // the others are being read
		}
		c.bytes -= c.pages[oldest].bytes
		delete(c.pages, oldest)
	}
}
