package pictures

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"sync"
)

// key identifies a small picture. If the file at a path changes, so does the key.
type key [sha256.Size]byte

// making is the version of the code that makes small pictures: raise it when any pixel changes.
const making = 1

func keyOf(path string, side int, info fs.FileInfo) key {
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d %s", making, side, info.Size(), info.ModTime().UnixNano(), path))
}

// memory keeps the most recently used pictures, up to a number of bytes.
type memory struct {
	mutex sync.Mutex
	most  int64
	bytes int64
	order *list.List // kept values, the most recently used first
	at    map[key]*list.Element
}

type kept struct {
	key  key
	data []byte
}

// overhead is roughly the memory of an entry in addition to its bytes.
const overhead = 256

func newMemory(most int64) *memory {
	return &memory{most: most, order: list.New(), at: map[key]*list.Element{}}
}

func (m *memory) getCached(k key) ([]byte, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	e, ok := m.at[k]
	if !ok {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(kept).data, true
}

func (m *memory) putCached(k key, data []byte) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if _, there := m.at[k]; there {
		return
	}
	m.at[k] = m.order.PushFront(kept{k, data})
	m.bytes += int64(len(data)) + overhead
	for m.bytes > m.most {
		last := m.order.Back()
		m.order.Remove(last)
		old := last.Value.(kept)
		delete(m.at, old.key)
		m.bytes -= int64(len(old.data)) + overhead
	}
}
