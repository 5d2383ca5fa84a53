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

// Looks returns what is measured of the pictures of a finished store that e made or kept, in the order of e.Paths. The
// store's folder keeps it beside the record of its files. Pictures that no extraction has measured, of a store that was
// continued or is older, are read again, unless that takes requests to a server; done follows this and may be nil.
func (e *Extraction) Looks(ctx context.Context, store *features.Store, done func()) ([]backbone.Look, error) {
	s, err := readSeen(store.Dir, SeenFile)
	known := err == nil && s.Features == store.Sum
	looks := make([]backbone.Look, store.Rows)
	if known {
		looks = looksOf(s.Looks, store.Rows)
	}
	rows, _ := store.Lookup(e.Paths) // those that are missing have the unknown look
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
				// a store that cannot be written to is judged all the same
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

// looksOf parses the looks of n rows; those that are not known are the zero value.
func looksOf(list []string, n int) []backbone.Look {
	looks := make([]backbone.Look, n)
	if len(list) == n {
		for i, text := range list {
			looks[i] = backbone.ParseLook(text)
		}
	}
	return looks
}

// textOf writes looks for the record; nil if none are known.
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

// looksIn returns the looks recorded in a store's folder.
func looksIn(dir, sum string, n int) []backbone.Look {
	s, err := readSeen(dir, SeenFile)
	if err != nil || s.Features != sum {
		return make([]backbone.Look, n)
	}
	return looksOf(s.Looks, n)
}

// joinedLooks returns the looks of rows of the old store; for a row of -1, of the next row of added.
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
