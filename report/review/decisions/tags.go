package decisions

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tags belong to an image, whoever gave them: every reviewer sees them and can remove them. They are words of people
// for people, such as "blurred" or "ask Ann", and decide nothing. A tag on a batch is undone with it.

// Limits of tags: the characters of one, and how many an image has.
const (
	mostTag  = 40
	MostTags = 20
)

// TagMark separates the tags of an image where they stand in one text. No tag holds it.
const TagMark = ";"

// CheckTag returns an error if a tag is empty, too long, or not a word that stands in a list.
func CheckTag(tag string) error {
	switch n := utf8.RuneCountInString(tag); {
	case n > mostTag:
		return fmt.Errorf("the tag has %d characters, expected at most %d", n, mostTag)
	case n == 0:
		return errors.New("the tag is empty")
	case strings.TrimSpace(tag) != tag:
		return fmt.Errorf("the tag %q begins or ends with a space", tag)
	case strings.Contains(tag, TagMark):
		return fmt.Errorf("the tag %q holds %q, which separates tags", tag, TagMark)
	}
	return checkReadable("the tag", tag, "")
}

// tagList scans tags that are joined by TagMark.
type tagList struct{ to *[]string }

// Scan implements [sql.Scanner].
func (l tagList) Scan(v any) error {
	text, _ := v.(string)
	if text != "" {
		*l.to = strings.Split(text, TagMark)
	}
	return nil
}

// tagsOf returns the tags of an image in the order of their bytes.
func tagsOf(tx *sql.Tx, path string) (list []string, err error) {
	rows, err := tx.Query("SELECT tag FROM tags WHERE path = ? ORDER BY tag", path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var tag string
		if err := rows.Scan(checked{&tag, CheckTag}); err != nil {
			return nil, err
		}
		list = append(list, tag)
	}
	return list, rows.Err()
}

// allTags returns the tags of all images that have some.
func allTags(db *sql.DB) (map[string][]string, error) {
	rows, err := db.Query("SELECT path, tag FROM tags ORDER BY path, tag")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	by := map[string][]string{}
	for rows.Next() {
		var path, tag string
		if err := rows.Scan(&path, checked{&tag, CheckTag}); err != nil {
			return nil, err
		}
		by[path] = append(by[path], tag)
	}
	return by, rows.Err()
}

// ErrTags is the error when an image would get more than MostTags tags.
var ErrTags = fmt.Errorf("an image has at most %d tags: remove some", MostTags)

// retagImage gives an image tags and takes others from it, as a part of a batch. What is so already is not recorded.
func retagImage(tx *sql.Tx, batch int64, path string, give, take []string) error {
	has, err := tagsOf(tx, path)
	if err != nil {
		return err
	}
	for _, tag := range take {
		if !slices.Contains(has, tag) {
			continue
		}
		was, err := removeTag(tx, path, tag)
		if err == nil {
			err = recordTag(tx, batch, path, tag, false, was)
		}
		if err != nil {
			return err
		}
		has = slices.DeleteFunc(has, func(t string) bool { return t == tag })
	}
	for _, tag := range give {
		if slices.Contains(has, tag) {
			continue
		}
		if has = append(has, tag); len(has) > MostTags {
			return fmt.Errorf("image %.80q: %w", path, ErrTags)
		}
		if err := errors.Join(putTag(tx, path, tag, batch), recordTag(tx, batch, path, tag, true, 0)); err != nil {
			return err
		}
	}
	return nil
}

func putTag(tx *sql.Tx, path, tag string, batch int64) error {
	_, err := tx.Exec("INSERT OR IGNORE INTO tags (path, tag, batch, sum) VALUES (?, ?, ?, ?)", path, tag, batch,
		sumOf(path, tag, batch))
	return err
}

// removeTag removes a tag and returns the batch that gave it, or 0 if the image does not have it.
func removeTag(tx *sql.Tx, path, tag string) (batch int64, err error) {
	err = tx.QueryRow("DELETE FROM tags WHERE path = ? AND tag = ? RETURNING batch", path, tag).Scan(&batch)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return batch, err
}

// recordTag writes a change to the history of tags; was is the batch that had given a tag that is taken.
func recordTag(tx *sql.Tx, batch int64, path, tag string, given bool, was int64) error {
	values := []any{batch, path, tag, convertFlag(given), was}
	_, err := tx.Exec("INSERT INTO taggings (batch, path, tag, given, before_batch, sum) VALUES (?, ?, ?, ?, ?, ?)",
		append(values, sumOf(values...))...)
	return err
}

func convertFlag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// turnTags takes back the changes of tags of a batch (back), or makes them again. What another batch has done to the
// same tag since stays done: giving a tag twice is giving it once.
func turnTags(tx *sql.Tx, batch int64, back bool) error {
	type change struct {
		path, tag string
		given     int64
		was       int64
	}
	rows, err := tx.Query("SELECT path, tag, given, before_batch FROM taggings WHERE batch = ? ORDER BY n", batch)
	if err != nil {
		return err
	}
	defer rows.Close()
	var list []change
	for rows.Next() {
		var c change
		if err := rows.Scan(&c.path, checked{&c.tag, CheckTag}, &c.given, &c.was); err != nil {
			return err
		}
		list = append(list, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, c := range list {
		switch give := (c.given == 1) != back; {
		case give && back:
			err = putTag(tx, c.path, c.tag, c.was)
		case give:
			err = putTag(tx, c.path, c.tag, batch)
		default:
			_, err = removeTag(tx, c.path, c.tag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
