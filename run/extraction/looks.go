package extraction

import (
	"context"
	"path/filepath"

	"winnow/backbone"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// Looks returns the measurements (hash, brightness and so on) of the images of a finished store, in the order of
// e.Paths. The record in the store's folder keeps them. Looks reads and measures the images without a measurement,
// unless they are on a server, and calls done, which may be nil, for each.
func (e *Extraction) Looks(ctx context.Context, store *features.Store, done func()) ([]backbone.Look, error) {
	s, err := readSeen(store.Dir, SeenFile)
	known := err == nil && s.Features == store.Sum
	looks := make([]backbone.Look, store.Rows)
	if known {
		looks = looksOf(s.Looks, store.Rows)
	}
	rows, _ := store.Lookup(e.Paths) // missing images get the zero Look
	var paths []string
	var at []int
	bad := store.BadRows()
	for i, row := range rows {
		if row < 0 {
			continue
		}
		if _, is := bad[row]; looks[row] == (backbone.Look{}) && !is {
			paths, at = append(paths, e.Paths[i]), append(at, row)
		}
	}
	if len(paths) > 0 && !regular.OnlyFiles(e.Root) {
		more, err := backbone.Looks(ctx, e.Root, paths, done)
		if err != nil {
			return nil, err
		}
		for i, row := range at {
			looks[row] = more[i]
		}
		if known {
			s.Looks = textOf(looks)
			if data, err := seal.Marshal(s); err == nil {
				// ignore the error: a read-only store can be used without the record
				_ = atomicfile.WriteBytes(filepath.Join(store.Dir, SeenFile), data)
			}
		}
	}
	out := make([]backbone.Look, len(e.Paths))
	for i, row := range rows {
		if row >= 0 {
			out[i] = looks[row]
		}
	}
	return out, nil
}

// looksOf parses the measurements of n rows. Unknown measurements are the zero value.
func looksOf(list []string, n int) []backbone.Look {
	looks := make([]backbone.Look, n)
	if len(list) == n {
		for i, text := range list {
			looks[i] = backbone.ParseLook(text)
		}
	}
	return looks
}

// textOf formats the measurements for the record; nil if all are unknown.
func textOf(looks []backbone.Look) []string {
	list, known := make([]string, len(looks)), false
	for i, l := range looks {
		list[i] = l.String()
		known = known || list[i] != ""
	}
	if !known {
		return nil
	}
	return list
}

// looksIn returns the measurements that the folder of a store with n rows and this checksum records.
func looksIn(dir, sum string, n int) []backbone.Look {
	s, err := readSeen(dir, SeenFile)
	if err != nil || s.Features != sum {
		return make([]backbone.Look, n)
	}
	return looksOf(s.Looks, n)
}

// joinedLooks returns the measurements of these rows of the old store. A row of -1 stands for the next row of added.
func joinedLooks(old, added *features.Store, rows []int) []backbone.Look {
	before, next := looksIn(old.Dir, old.Sum, old.Rows), []backbone.Look(nil)
	if added != nil {
		next = looksIn(added.Dir, added.Sum, added.Rows)
	}
	looks := make([]backbone.Look, len(rows))
	for i, row := range rows {
		if row >= 0 {
			looks[i] = before[row]
		} else if len(next) > 0 {
			looks[i], next = next[0], next[1:]
		}
	}
	return looks
}
