package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

const (
	blockSize  = 1 << 17
	mostBlocks = 512 // blocks cached per bucket: 64 MiB
	mostAhead  = 64  // blocks fetched in one request: 8 MiB
)

// blockID identifies a block of one version of an object.
type blockID struct {
	key, version string
	n            int64
}

// block is a block of an object, fetched once for all its readers.
type block struct {
	ready chan struct{} // closed when data or err is set
	data  []byte
	err   error
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, from int64) (n int, err error) {
	if f.o.folder || from < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.c.root + "/" + f.o.key, Err: fs.ErrInvalid}
	}
	end := min(from+int64(len(p)), f.o.size)
	for at := from; at < end; at = from + int64(n) {
		data, err := f.c.fetchBlock(f.ctx, f.o, at/blockSize, (end-1)/blockSize+1)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at%blockSize:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// fetchBlock returns block n of an object. If it is not cached, the blocks before end are fetched with it. If reads are
// sequential, that is, n follows the last block fetched, twice as many are fetched as last time.
func (c *client) fetchBlock(ctx context.Context, o *object, n, end int64) ([]byte, error) {
	for {
		c.mu.Lock()
		b, ok := c.blocks.getKept(blockID{o.key, o.version, n})
		if !ok {
			list := c.cacheEmptyBlocks(o, n, end)
			c.mu.Unlock()
			c.fillBlocks(ctx, o, n, list)
			b = list[0]
		} else {
			c.mu.Unlock()
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if errors.Is(b.err, context.Canceled) && ctx.Err() == nil {
			continue // another reader's fetch was cancelled
		}
		return b.data, b.err
	}
}

// cacheEmptyBlocks caches empty blocks to be fetched, from n up to the first block that is already cached.
func (c *client) cacheEmptyBlocks(o *object, n, end int64) (list []*block) {
	o.mu.Lock()
	defer o.mu.Unlock()
	run := int64(1)
	if n >= o.next && n <= o.next+o.run && o.run > 0 {
		run = min(2*o.run, mostAhead)
	}
	run = min(max(run, end-n), mostAhead)
	last := (o.size - 1) / blockSize
	for at := n; at < n+run && at <= last; at++ {
		id := blockID{o.key, o.version, at}
		if _, ok := c.blocks.getKept(id); ok {
			break
		}
		b := &block{ready: make(chan struct{})}
		c.blocks.putKept(id, b)
		list = append(list, b)
	}
	o.next, o.run = n+int64(len(list)), int64(len(list))
	return list
}

// fillBlocks fills consecutive blocks, starting with block n.
func (c *client) fillBlocks(ctx context.Context, o *object, n int64, list []*block) {
	done := 0
	at := func() int64 { return (n + int64(done)) * blockSize }
	end := min((n+int64(len(list)))*blockSize, o.size)
	var err error
	for attempt := 1; done < len(list); attempt++ {
		var body io.ReadCloser
		if body, _, err = c.getObject(ctx, o.key, o.version, at(), end); err != nil {
			break
		}
		for done < len(list) && err == nil {
			data := make([]byte, min(blockSize, o.size-at()))
			if _, err = io.ReadFull(body, data); err == nil {
				list[done].data = data
				close(list[done].ready)
				done++
				attempt = 1
			}
		}
		_ = body.Close() // the data has been read
		if err == nil {
			break
		}
		if attempt == c.attempts {
			err = c.explainBrokenAnswer(err, at(), o.size)
			break
		}
		if err = c.waitAfter(ctx, attempt); err != nil {
			break
		}
	}
	if done == len(list) {
		return
	}
	err = c.explainKeyError(ctx, "read", o.key, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range list[done:] {
		c.blocks.dropKept(blockID{o.key, o.version, n + int64(done+i)})
		b.err = err
		close(b.ready)
	}
}
