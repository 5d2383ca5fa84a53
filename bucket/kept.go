package bucket

import "container/list"

// kept holds what was used last, up to so many values. It is not safe for several goroutines.
type kept[K comparable, V any] struct {
	most  int
	order *list.List // of entries, those used last at the front
	at    map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newKept[K comparable, V any](most int) *kept[K, V] {
	return &kept[K, V]{most: most, order: list.New(), at: map[K]*list.Element{}}
}

// get returns a value, if it is held.
func (k *kept[K, V]) get(key K) (value V, ok bool) {
	e := k.at[key]
	if e == nil {
		return value, false
	}
	k.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// put holds a value, in the place of the one that was used longest ago if there are too many.
func (k *kept[K, V]) put(key K, value V) {
	k.drop(key)
	k.at[key] = k.order.PushFront(&entry[K, V]{key, value})
	if k.order.Len() > k.most {
		k.drop(k.order.Back().Value.(*entry[K, V]).key)
	}
}

// drop forgets a value.
func (k *kept[K, V]) drop(key K) {
	if e := k.at[key]; e != nil {
		k.order.Remove(e)
		delete(k.at, key)
	}
}
