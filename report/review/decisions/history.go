package decisions

import "time"

// Entry is one decision of the history. Undone decisions stay in it.
type Entry struct {
	N            int64
	At           time.Time
	Tab, Path    string
	Reviewer     string
	Action       Action
	Label        string
	Note         string
	BeforeAction Action
	BeforeLabel  string
	BeforeNote   string
	Undone       bool
}

// History returns at most limit decisions, newest first, after skipping offset, and the total number of
// decisions.
func (s *Store) History(offset, limit int) (total int64, list []Entry, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.db.QueryRow("SELECT count(*) FROM history").Scan(&total); err != nil {
		return 0, nil, inWords(s.Path, err)
	}
	rows, err := s.db.Query(`SELECT n, h.at, tab, path, reviewer, action, label, note,
		before_action, before_label, before_note, state IN (1, 3)
		FROM history AS h JOIN batches USING (batch) ORDER BY n DESC LIMIT ? OFFSET ?`, limit, offset)
	if err != nil {
		return 0, nil, inWords(s.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		var at int64
		err := rows.Scan(&e.N, &at, &e.Tab, &e.Path, checked{&e.Reviewer, CheckReviewer},
			&e.Action, &e.Label, checked{&e.Note, CheckNote},
			&e.BeforeAction, &e.BeforeLabel, checked{&e.BeforeNote, CheckNote}, &e.Undone)
		if err != nil {
			return 0, nil, inWords(s.Path, err)
		}
		e.At = time.UnixMilli(at)
		list = append(list, e)
	}
	return total, list, rows.Err()
}
