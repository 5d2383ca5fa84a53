package shards

import (
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// mostCached is the largest total size of a [PageCache] in bytes; the cache always keeps the last page.
const mostCached = 256 << 20

// PageCache keeps the most recently used pages, because neighbouring images are usually in the same page. The zero
// value is ready to use; the methods are safe for concurrent use.
type PageCache struct {
	mu    sync.Mutex
	pages []*keptPage // the most recently used page is last
}

type pageKey struct {
	file              *ParquetFile
	group, leaf, page int
}

// keptPage is a cached page. Its first user reads the page while others wait.
type keptPage struct {
	key    pageKey
	once   sync.Once
	values []parquet.Value
	err    error
	bytes  int64 // guarded by the cache's mu; 0 while the page is being read
}

// getPage returns the values of a page, calling read if the page is not cached.
func (c *PageCache) getPage(k pageKey, read func() ([]parquet.Value, error)) ([]parquet.Value, error) {
	c.mu.Lock()
	p := &keptPage{key: k}
	if i := slices.IndexFunc(c.pages, func(p *keptPage) bool { return p.key == k }); i >= 0 {
		p = c.pages[i]
		c.pages = slices.Delete(c.pages, i, i+1)
	}
	c.pages = append(c.pages, p)
	c.mu.Unlock()
	p.once.Do(func() {
		p.values, p.err = read()
		size := int64(1)
		for _, v := range p.values {
			size += int64(len(v.Bytes())) + 24
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		p.bytes = size
		c.dropOldest()
	})
	return p.values, p.err
}

// dropOldest drops the least recently used pages, except pages that are being read.
func (c *PageCache) dropOldest() {
	total := int64(0)
	kept := c.pages[:0:0]
	for i, p := range slices.Backward(c.pages) {
		if total += p.bytes; p.err == nil && (total <= mostCached || p.bytes == 0 || i == len(c.pages)-1) {
			kept = append(kept, p)
		}
	}
	slices.Reverse(kept)
	c.pages = kept
}
