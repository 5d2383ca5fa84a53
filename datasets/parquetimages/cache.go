package parquetimages

import (
	"math/bits"
	"sync"

	"github.com/parquet-go/parquet-go/encoding/rle"
)

// defaultCache is the size in bytes of the zero Cache.
const defaultCache = 256 << 20

// Cache keeps the pages that were used last, at least one, because neighbouring images are mostly in one page. The
// zero value is ready to use; methods are safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	bytes int64
	clock int64
	pages map[key]*kept
}

type key struct {
	file              *File
	group, leaf, page int
}

// kept is a page, which its first user reads.
type kept struct {
	once   sync.Once
	values [][]byte
	err    error
	bytes  int64
	used   int64
}

// getPage returns the values of a page; read loads them unless they are cached.
func (c *Cache) getPage(k key, read func() ([][]byte, error)) ([][]byte, error) {
	c.mu.Lock()
	if c.pages == nil {
		c.pages = map[key]*kept{}
	}
	p := c.pages[k]
	if p == nil {
		p = &kept{}
		c.pages[k] = p
	}
	c.clock++
	p.used = c.clock
	c.mu.Unlock()
	p.once.Do(func() {
		p.values, p.err = read()
		size := int64(0)
		for _, v := range p.values {
			size += int64(len(v)) + 24
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
func (c *Cache) dropLeastUsed(but key) {
	for c.bytes > defaultCache && len(c.pages) > 1 {
		var oldest key
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

// levelEncoding returns the encoding of levels up to the highest.
func levelEncoding(highest byte) *rle.Encoding {
	return &rle.Encoding{BitWidth: bits.Len8(highest)}
}
