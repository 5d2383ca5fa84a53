package decisions

import (
	"fmt"
	"time"
)

// Answer is one change of a reviewer's decision about an image: made, undone, or made again. Answers stay in the file,
// so that what was known at any time can be told.
type Answer struct {
	Path, Reviewer string
	Given          string
	Action         Action // Undecided: taken back
	Label          string
	At             time.Time // of the decision
	Change         int64     // the store's Version at this change
}

// Question says why an image is shown. It is stored before that.
type Question struct {
	Path     string
	Reviewer string // to whom the image is shown first
	Change   int64  // the store's Version when it was chosen: answers to it have a larger one
	Text     string // how it was chosen, as JSON
}

// Answers calls yield for all answers, in order.
func (s *Store) Answers(yield func(Answer) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows, err := s.db.Query("SELECT path, reviewer, given, action, label, at, change FROM answers ORDER BY n")
	if err != nil {
		return inWords(s.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a Answer
		var at int64
		err := rows.Scan(&a.Path, checked{&a.Reviewer, checkStored}, &a.Given, &a.Action, &a.Label, &at, &a.Change)
		if err != nil {
			return inWords(s.Path, fmt.Errorf("an answer about image %q: %w", a.Path, err))
		}
		a.At = time.UnixMilli(at)
		if err := yield(a); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Questions calls yield for all questions, in order.
func (s *Store) Questions(yield func(Question) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows, err := s.db.Query("SELECT path, reviewer, change, question FROM questions ORDER BY n")
	if err != nil {
		return inWords(s.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var q Question
		if err := rows.Scan(&q.Path, checked{&q.Reviewer, checkStored}, &q.Change, &q.Text); err != nil {
			return inWords(s.Path, fmt.Errorf("a question about image %q: %w", q.Path, err))
		}
		if err := yield(q); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Ask stores questions, all or none. They are on disk when it returns.
func (s *Store) Ask(list []Question) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	tx, err := s.db.Begin()
	if err != nil {
		return inWords(s.Path, err)
	}
	defer tx.Rollback()
	for _, q := range list {
		values := []any{q.Path, q.Reviewer, q.Change, q.Text}
		_, err := tx.Exec("INSERT INTO questions (path, reviewer, change, question, sum) VALUES (?, ?, ?, ?, ?)",
			append(values, sumOf(values...))...)
		if err != nil {
			return inWords(s.Path, err)
		}
	}
	if err := s.checkStillHere(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return inWords(s.Path, err)
	}
	s.recordSize()
	return nil
}
