package bucket

import "container/list"

// kept is a least-recently-used cache of at most `most` values. It is not safe for concurrent use.
type kept[K comparable, V any] struct {
	most  int
	order *list.List // entries, the most recently used first
	at    map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newKept[K comparable, V any](most int) *kept[K, V] {
	return &kept[K, V]{most: most, order: list.New(), at: map[K]*list.Element{}}
}

// getKept returns a value if it is cached.
func (k *kept[K, V]) getKept(key K) (value V, ok bool) {
	e := k.at[key]
	if e == nil {
		return value, false
	}
	k.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// putKept caches a value and drops the least recently used one if there are too many.
func (k *kept[K, V]) putKept(key K, value V) {
	k.dropKept(key)
	k.at[key] = k.order.PushFront(&entry[K, V]{key, value})
	if k.order.Len() > k.most {
		k.dropKept(k.order.Back().Value.(*entry[K, V]).key)
	}
}

// dropKept removes a value.
func (k *kept[K, V]) dropKept(key K) {
	if e := k.at[key]; e != nil {
		k.order.Remove(e)
		delete(k.at, key)
	}
}
