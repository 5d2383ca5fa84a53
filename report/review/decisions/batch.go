package decisions

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// States of a batch of decisions.
const (
	done = iota
	undone
	settled     // done, cannot be undone
	settledBack // undone, cannot be redone
)

// Author identifies a reviewer and a browser tab.
type Author struct{ Tab, Reviewer string }

// Change is a decision to record. Version is the version of the image's decision that the reviewer saw.
type Change struct {
	Path, Given string
	Action      Action
	Label       string
	Note        string
	Version     int64
	Picture     Picture // content of the image file at the time
}

// Conflict is the error of a batch that was refused because another tab has decided about these images since.
type Conflict struct{ Images []Image }

func (c *Conflict) Error() string {
	return fmt.Sprintf("review: %d images were decided in another tab in the meantime", len(c.Images))
}

// ErrNothing is the error if there is nothing to undo or redo.
var ErrNothing = errors.New("review: nothing to undo or redo")

// stored is a row of the table images.
type stored struct {
	Image
	batch int64
}

// readCurrentRow returns a reviewer's row of an image. If there is no row, the action is Undecided.
func readCurrentRow(tx *sql.Tx, path, reviewer string) (stored, error) {
	i := stored{Image: Image{Path: path, Reviewer: reviewer, Action: Undecided}}
	var at int64
	row := tx.QueryRow(`SELECT given, action, label, note, at, version, change, batch
		FROM images WHERE path = ? AND reviewer = ?`, path, reviewer)
	err := row.Scan(&i.Given, &i.Action, &i.Label, checked{&i.Note, CheckNote}, &at, &i.Version, &i.Change, &i.batch)
	if errors.Is(err, sql.ErrNoRows) {
		return i, nil
	}
	i.At = time.UnixMilli(at)
	return i, err
}

// putRow writes an image's row.
func putRow(tx *sql.Tx, i stored) error {
	return insertRow(tx, "OR REPLACE INTO images", imageColumns, i.Path, i.Reviewer, i.Given, i.Action, i.Label, i.Note,
		i.At.UnixMilli(), i.Version, i.Change, i.batch)
}

// insertRow inserts a row with its checksum.
func insertRow(tx *sql.Tx, into string, columns []string, values ...any) error {
	_, err := tx.Exec(fmt.Sprintf("INSERT %s (%s, sum) VALUES (%s?)", into, strings.Join(columns, ", "),
		strings.Repeat("?, ", len(columns))), append(values, sumOf(values...))...)
	return err
}

// runTransaction runs do in a transaction. If it returns no error, the transaction is on disk.
func (s *Store) runTransaction(do func(tx *sql.Tx, change int64) ([]Image, error)) ([]Image, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	tx, err := s.db.Begin()
	if err != nil {
		return nil, inWords(s.Path, err)
	}
	list, err := do(tx, s.change+1)
	if gone := s.checkStillHere(); gone != nil { // checked as late as possible
		err = gone
	}
	if err != nil {
		tx.Rollback()
		if errors.As(err, new(*Conflict)) || errors.As(err, new(*Gone)) || errors.Is(err, ErrNothing) {
			return nil, err
		}
		return nil, inWords(s.Path, err)
	}
	if err := tx.Commit(); err != nil {
		return nil, inWords(s.Path, err)
	}
	s.recordSize()
	s.change++
	return list, nil
}

// Decide records a batch of decisions, all or none. If the version of an image differs from the version in its Change,
// the error is a [*Conflict] with these images. After Decide, the author cannot redo batches undone before. The paths
// must be distinct, and names and notes must pass [CheckReviewer] and [CheckNote].
func (s *Store) Decide(by Author, changes []Change) ([]Image, error) {
	return s.runTransaction(func(tx *sql.Tx, change int64) ([]Image, error) {
		before := make([]stored, len(changes))
		var conflict Conflict
		for i, c := range changes {
			var err error
			if before[i], err = readCurrentRow(tx, c.Path, by.Reviewer); err != nil {
				return nil, err
			}
			if before[i].Version != c.Version {
				conflict.Images = append(conflict.Images, before[i].Image)
			}
		}
		if len(conflict.Images) > 0 {
			return nil, &conflict
		}
		now := time.UnixMilli(s.now().UnixMilli()) // rounded as stored
		_, err := tx.Exec("UPDATE batches SET state = ? WHERE tab = ? AND reviewer = ? AND state = ?",
			settledBack, by.Tab, by.Reviewer, undone)
		if err != nil {
			return nil, err
		}
		made, err := tx.Exec("INSERT INTO batches (tab, reviewer, at, state) VALUES (?, ?, ?, ?)",
			by.Tab, by.Reviewer, now.UnixMilli(), done)
		if err != nil {
			return nil, err
		}
		batch, err := made.LastInsertId()
		if err != nil {
			return nil, err
		}
		_, err = tx.Exec("UPDATE batches SET sum = ? WHERE batch = ?", sumOf(batch, by.Tab, by.Reviewer,
			now.UnixMilli()), batch)
		if err != nil {
			return nil, err
		}
		list := make([]Image, len(changes))
		for i, c := range changes {
			after := stored{Image{Path: c.Path, Reviewer: by.Reviewer, Given: c.Given, Action: c.Action, Label: c.Label,
				Note: c.Note, At: now, Version: before[i].Version + 1, Change: change}, batch}
			if err := recordDecision(tx, before[i], after); err != nil {
				return nil, err
			}
			if err := keepPicture(tx, c.Path, now.UnixMilli(), c.Picture); err != nil {
				return nil, err
			}
			list[i] = after.Image
		}
		return list, nil
	})
}

// movedBatch stands for the batch in rows of images that winnow moved, which no tab can undo.
const movedBatch = -1

// FollowMoves copies the decisions about images that are moved to their new paths. The decisions at the old paths stay,
// so that they are valid again once the images are moved back.
func (s *Store) FollowMoves(to map[string]string) error {
	pictures, err := s.Pictures(nil)
	if err != nil {
		return err
	}
	var list []Image
	if err := s.Images(func(i Image) error { list = append(list, i); return nil }); err != nil {
		return err
	}
	_, err = s.runTransaction(func(tx *sql.Tx, _ int64) ([]Image, error) {
		for _, i := range list {
			old, ok := i.Path, false
			if i.Path, ok = to[old]; !ok {
				continue
			}
			err := putRow(tx, stored{i, movedBatch})
			if i.Path = old; err == nil {
				err = putRow(tx, stored{i, movedBatch})
			}
			for _, p := range pictures.by[old] {
				if err == nil {
					err = keepPicture(tx, to[old], p.at, p.Picture)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// recordDecision stores a decision, and adds the states before and after it to the history.
func recordDecision(tx *sql.Tx, before, after stored) error {
	err := insertRow(tx, "INTO history", historyColumns, after.batch, after.Path, after.Given, after.Action,
		after.Label, after.Note, after.At.UnixMilli(), before.Given, before.Action, before.Label, before.Note,
		before.At.UnixMilli(), before.batch)
	if err != nil {
		return err
	}
	return putRow(tx, after)
}

// Undo undoes the author's latest batch that is not undone. If another tab of the reviewer has decided about one of its
// images since, the error is a [*Conflict], no image changes, and the next Undo skips this batch.
func (s *Store) Undo(by Author) ([]Image, error) { return s.stepBatch(by, done) }

// Redo repeats the batch that the author undid last. After a new decision there is nothing to redo. If another tab has
// decided about one of the images since, the error is a [*Conflict], as in Undo.
func (s *Store) Redo(by Author) ([]Image, error) { return s.stepBatch(by, undone) }

// stepBatch undoes a batch if from is done, or redoes a batch if from is undone.
func (s *Store) stepBatch(by Author, from int) ([]Image, error) {
	order, to, passed := "DESC", undone, settled
	if from == undone {
		order, to, passed = "ASC", done, settledBack // the batch undone last is the one made first
	}
	var batch int64
	list, err := s.runTransaction(func(tx *sql.Tx, change int64) ([]Image, error) {
		err := tx.QueryRow("SELECT batch FROM batches WHERE tab = ? AND reviewer = ? AND state = ? ORDER BY batch "+
			order+" LIMIT 1", by.Tab, by.Reviewer, from).Scan(&batch)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, ErrNothing
		}
		if err != nil {
			return nil, err
		}
		list, err := turnBatch(tx, batch, by.Reviewer, from == done, change)
		if err != nil {
			return nil, err
		}
		_, err = tx.Exec("UPDATE batches SET state = ? WHERE batch = ?", to, batch)
		return list, err
	})
	if _, ok := errors.AsType[*Conflict](err); ok {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		defer s.recordSize()
		_, err := s.db.Exec("UPDATE batches SET state = ? WHERE batch = ? AND state = ?", passed, batch, from)
		if err != nil {
			return nil, inWords(s.Path, err)
		}
	}
	return list, err
}

// turnBatch restores the images of a batch to their states before the batch (back) or after it. Each image must be in
// the other state; otherwise the error is a [*Conflict].
func turnBatch(tx *sql.Tx, batch int64, reviewer string, back bool, change int64) ([]Image, error) {
	now, then, err := readBatchSides(tx, batch)
	if err != nil {
		return nil, err
	}
	if !back {
		now, then = then, now
	}
	var list []Image
	var conflict Conflict
	for i := range now {
		is, err := readCurrentRow(tx, now[i].Path, reviewer)
		if err != nil {
			return nil, err
		}
		if is.batch != now[i].batch {
			conflict.Images = append(conflict.Images, is.Image)
			continue
		}
		next := then[i]
		next.Reviewer, next.Version, next.Change = reviewer, is.Version+1, change
		if err := putRow(tx, next); err != nil {
			return nil, err
		}
		list = append(list, next.Image)
	}
	if len(conflict.Images) > 0 {
		return nil, &conflict
	}
	return list, nil
}

// readBatchSides returns the decisions on a batch's images, once as they are after the batch and once as before it.
func readBatchSides(tx *sql.Tx, batch int64) (after, before []stored, err error) {
	rows, err := tx.Query(`SELECT path, given, action, label, note, at,
		before_given, before_action, before_label, before_note, before_at, before_batch
		FROM history WHERE batch = ? ORDER BY n`, batch)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		a, b := stored{batch: batch}, stored{}
		var at, was int64
		err := rows.Scan(&a.Path, &a.Given, &a.Action, &a.Label, checked{&a.Note, CheckNote}, &at,
			&b.Given, &b.Action, &b.Label, checked{&b.Note, CheckNote}, &was, &b.batch)
		if err != nil {
			return nil, nil, err
		}
		b.Path, a.At, b.At = a.Path, time.UnixMilli(at), time.UnixMilli(was)
		after, before = append(after, a), append(before, b)
	}
	return after, before, rows.Err()
}
