package shards

import (
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// mostCached is the size in bytes of a [PageCache], which holds at least one page.
const mostCached = 256 << 20

// PageCache keeps the pages that were used last, because neighbouring images are mostly in one page. The zero value is
// ready to use; methods are safe for concurrent use.
type PageCache struct {
	mu    sync.Mutex
	pages []*keptPage // the one used last at the end
}

type pageKey struct {
	file              *ParquetFile
	group, leaf, page int
}

// keptPage is a page, which its first user reads while others wait.
type keptPage struct {
	key    pageKey
	once   sync.Once
	values []parquet.Value
	err    error
	bytes  int64 // guarded by the cache; 0: it is being read
}

// getPage returns the values of a page; read loads them unless they are cached.
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

// dropOldest drops the least recently used pages, but not those that are being read.
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
