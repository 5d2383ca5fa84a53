package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"

	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/filters"
)

// checkOut refuses a name whose ending tells no form.
func checkOut(c *cli.Context) error {
	if path := c.String("out"); path != "" {
		if _, err := suspects.FormatOf(path); err != nil {
			return misused("--out: %w", err)
		}
	}
	return nil
}

// write writes the images in the form of a file's name; as JSON the whole audit.
func (a audited) write(w io.Writer, path string) error {
	format, err := suspects.FormatOf(path)
	if err != nil {
		return err
	}
	if format == suspects.JSON {
		return a.writeJSON(w)
	}
	return suspects.Write(w, format, a.Images)
}

// writeJSON is printJSON of an audit an image at a time: of a million the text would not fit twice in memory.
func (a audited) writeJSON(w io.Writer) error {
	images := a.Images
	a.Images = []suspects.Entry{}
	var frame bytes.Buffer
	if err := printJSON(&frame, a); err != nil {
		return err
	}
	const none = "\n  \"images\": []"
	before, after, found := bytes.Cut(frame.Bytes(), []byte(none))
	if !found || len(images) == 0 {
		_, err := w.Write(frame.Bytes())
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = out.Write(before) // told by Flush, here and below
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetIndent("    ", "  ")
	to.SetEscapeHTML(false)
	lead := none[:len(none)-1]
	for i := range images {
		text.Reset()
		if err := to.Encode(&images[i]); err != nil {
			return err
		}
		_, _ = out.WriteString(lead + "\n    ")
		_, _ = out.Write(bytes.TrimRight(text.Bytes(), "\n"))
		lead = ","
	}
	_, _ = out.WriteString("\n  ]")
	_, _ = out.Write(after)
	return out.Flush()
}

// suggestsProbably says whether the scores of suggested labels are probabilities.
func (a *audited) suggestsProbably() bool {
	name := a.Scorer
	if a.Suggests != "" {
		name = a.Suggests
	}
	return isProbability(name)
}

// isProbability says whether the scores of a scorer are probabilities that a label is right.
func isProbability(scorer string) bool {
	if scorer == crossfitScorer {
		return true
	}
	if j, err := judges.Find(scorer); err == nil {
		return j.Probability
	}
	e, err := filters.Find(scorer)
	return err == nil && e.Probability
}

// shorten cuts a label that would spoil the table.
func shorten(label string) string {
	const most = 32
	if runes := []rune(label); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return label
}
