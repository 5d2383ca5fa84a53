package suspects

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// writeJSON writes an object with the list as its images.
func writeJSON(w io.Writer, entries []Suspect) error {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	lead := "{\"images\": [\n"
	for e := range Summed(entries) {
		_, _ = out.WriteString(lead) // Flush returns the error
		if err := to.Encode(e); err != nil {
			return err
		}
		lead = ","
	}
	if len(entries) == 0 {
		_, _ = out.WriteString(lead)
	}
	_, _ = out.WriteString("]}\n")
	return out.Flush()
}

// readJSON reads a bare list, or the images of an object.
func readJSON(r io.Reader, into *rows) error {
	limit := &bounded{r: r, left: mostOfRow}
	in := json.NewDecoder(skipByteOrderMark(limit))
	if err := readImages(in, limit, into); err != nil {
		return fmt.Errorf("after byte %d: %w", in.InputOffset(), err)
	}
	return nil
}

// readImages reads up to the end of the list of images.
func readImages(in *json.Decoder, limit *bounded, into *rows) error {
	first, err := in.Token()
	if err != nil {
		return err
	}
	for first == json.Delim('{') {
		key, err := in.Token()
		if err != nil {
			return err
		}
		if key == "images" {
			if first, err = in.Token(); err != nil {
				return err
			}
			break
		}
		if key == json.Delim('}') {
			return errors.New("object without \"images\", expected a list of images")
		}
		limit.left = 1 << 30
		if err := in.Decode(new(json.RawMessage)); err != nil {
			return err
		}
	}
	if first != json.Delim('[') {
		return fmt.Errorf("found %.40q, expected a list of images", fmt.Sprint(first))
	}
	for in.More() {
		limit.left = mostOfRow
		var o object
		if err := in.Decode(&o); err != nil {
			return err
		}
		if err := into.passObject(o); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// object is a row as written by winnow or another tool.
type object struct {
	Suspect
	Given     label `json:"given_label"`
	Suggested label `json:"suggested_label"`
	True      label `json:"true_label"`

	Label     label    `json:"label"`
	Predicted label    `json:"predicted_label"`
	Score     *float64 `json:"score"`
	Quality   *float64 `json:"label_quality"`
	Labelled  *float64 `json:"label_score"`
	Flagged   *bool    `json:"dropped"`
	Issue     *bool    `json:"is_label_issue"`
}

// label is a text, or a number as text.
type label string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *label) UnmarshalJSON(text []byte) error {
	if text[0] == '"' || text[0] == 'n' {
		return json.Unmarshal(text, (*string)(l))
	}
	*l = label(text)
	return json.Unmarshal(text, new(float64))
}

// passObject merges the names of other tools into a row and passes the row on.
func (r *rows) passObject(o object) error {
	e, score, flagged := o.Suspect, cmp.Or(o.Score, o.Quality, o.Labelled), cmp.Or(o.Flagged, o.Issue)
	e.Given, e.Suggested = string(cmp.Or(o.Given, o.Label)), string(cmp.Or(o.Suggested, o.Predicted))
	if e.Path == "" || e.Given == "" || e.Suggested == "" || score == nil {
		return errors.New("an image lacks one of path, given_label (or label), suggested_label (or predicted_label) " +
			"and score (or label_quality, label_score)")
	}
	if e.Score = *score; flagged != nil {
		e.Flagged, r.calls = *flagged, true
	}
	for _, s := range []*string{&e.Path, &e.Given, &e.Suggested} {
		*s = r.internText(*s)
	}
	e.True = string(o.True)
	for _, list := range [][]Near{e.SupportGiven, e.SupportSuggested} {
		for i := range list {
			list[i].Path = r.internText(list[i].Path)
		}
	}
	for i := range e.Copies {
		e.Copies[i].Path = r.internText(e.Copies[i].Path)
	}
	return r.passRow(e)
}
