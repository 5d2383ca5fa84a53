package decisions

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"winnow/datasets"
)

// Imported is the tab of decisions that Label Studio made. Nothing is known of how it chose the images.
const Imported = "Label Studio"

// ReadOutcomes returns what the decisions in a file come to: for each image what more than half of the reviewers want
// who were sure. Decisions about another picture than a file of fsys holds now do not count; fsys may be nil. It reads
// a copy, so that the file may be read-only, or open in a server, and never changes.
func ReadOutcomes(path string, fsys fs.FS) (c *datasets.Checks, err error) {
	s, err := OpenCopy(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("review: decisions: %s does not exist, expected the file that a review keeps next to "+
			"the manifest, NAME.decisions.db", path)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	pictures := &Pictures{}
	if fsys != nil {
		if pictures, err = s.Pictures(fsys); err != nil {
			return nil, err
		}
	}
	rows, err := s.db.Query(`SELECT path, given, action, label, at, coalesce(
		(SELECT tab FROM batches WHERE batches.batch = images.batch), '') = ? FROM images ORDER BY path, reviewer`,
		Imported)
	if err != nil {
		return nil, inWords(path, err)
	}
	defer rows.Close()
	c = &datasets.Checks{File: path, By: map[string]datasets.Checked{}}
	if err := collectDecisions(rows, c, pictures); err != nil {
		return nil, inWords(path, err)
	}
	if err := rows.Close(); err != nil {
		return nil, inWords(path, err)
	}
	c.Log, err = s.listAnswers(pictures)
	return c, err
}

// listAnswers returns all answers, each with the last question about its image before it. Answers about pictures that
// have changed since say nothing.
func (s *Store) listAnswers(pictures *Pictures) (list []datasets.Answer, err error) {
	var questions []Question
	if err := s.Questions(func(q Question) error { questions = append(questions, q); return nil }); err != nil {
		return nil, err
	}
	asked := map[string]string{}
	err = s.Answers(func(a Answer) error {
		for ; len(questions) > 0 && questions[0].Change < a.Change; questions = questions[1:] {
			asked[questions[0].Path] = questions[0].Text
		}
		sure := a.Action != Undecided && a.Action != Unsure && !pictures.Changed(a.Path, a.At)
		made := datasets.Answer{Path: a.Path, Reviewer: a.Reviewer, Sure: sure, Change: a.Change,
			Checked: datasets.Checked{Given: a.Given, Right: a.Action == Keep, Label: a.Label}}
		if text, ok := asked[a.Path]; ok {
			made.Question = []byte(text)
		}
		list = append(list, made)
		return nil
	})
	return list, err
}

// opinion is one reviewer's decision.
type opinion struct {
	given     string
	action    Action
	label     string
	elsewhere bool
}

// collectDecisions reads the decisions, those about one image together.
func collectDecisions(rows *sql.Rows, c *datasets.Checks, pictures *Pictures) error {
	var at string
	var list []opinion
	changed := false
	end := func() {
		if k, ok := decideByMajority(list); ok {
			c.By[at] = k
		} else if len(list) > 0 {
			c.Open++
		} else if changed {
			c.Changed++
		}
		list, changed = list[:0], false
	}
	for rows.Next() {
		var path string
		var o opinion
		var when int64
		if err := rows.Scan(&path, &o.given, &o.action, &o.label, &when, &o.elsewhere); err != nil {
			return err
		}
		if path != at {
			end()
			at = path
		}
		switch {
		case o.action == Undecided:
		case pictures.Changed(path, time.UnixMilli(when)):
			changed = true
		default:
			list = append(list, o)
		}
	}
	end()
	return rows.Err()
}

// decideByMajority returns what more than half of the sure reviewers want.
func decideByMajority(list []opinion) (k datasets.Checked, ok bool) {
	at, _ := Majority(len(list), func(i int) bool { return list[i].action != Unsure },
		func(i, j int) bool { return list[i].action == list[j].action && list[i].label == list[j].label })
	if at < 0 {
		return k, false
	}
	o := list[at]
	return datasets.Checked{Given: o.given, Right: o.action == Keep, Label: o.label, Elsewhere: o.elsewhere}, true
}

// Majority returns the first of n votes that more than half of the sure ones agree with, or -1, and how many are sure.
func Majority(n int, isSure func(i int) bool, same func(i, j int) bool) (at, sure int) {
	most := 0
	for i := range n {
		if !isSure(i) {
			continue
		}
		sure++
		alike := 0
		for j := range n {
			if isSure(j) && same(i, j) {
				alike++
			}
		}
		if alike > most {
			most, at = alike, i
		}
	}
	if 2*most <= sure {
		at = -1
	}
	return at, sure
}
