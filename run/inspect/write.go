package inspect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
	"winnow/internal/text"
)

// Files are the files that an audit writes, and how.
type Files struct {
	Out, Classes, Clean string // "": none
	Sheet               bool   // files are for spreadsheets
	Cut                 audit.Cut
	Relabel             bool // in Clean, instead of dropping
	Top                 int  // suspects to print
}

// Save writes the files.
func (a *Report) Save(ctx context.Context, f Files, o Options, note func(format string, args ...any)) error {
	if f.Classes != "" {
		err := atomicfile.Write(f.Classes, func(w io.Writer) error { return a.writeClasses(w, f.Sheet) })
		if err != nil {
			return fmt.Errorf("audit: %s: %w", f.Classes, err)
		}
	}
	if f.Clean != "" {
		did, err := a.writeCorrected(ctx, f.Clean, f.Cut, f.Relabel)
		if err != nil {
			return err
		}
		lines := tellFixed(f.Clean, did, len(a.Images), f.Relabel, o.IncludeEval, a.Model != "")
		if n := len(a.groupsByKind().look); n > 0 {
			lines = append(lines, fmt.Sprintf("%s: labels of copies contradict each other in %s, and none is clearly "+
				"likelier: these stay as they were, decide by eye", f.Clean, text.Plural(n, "group")))
		}
		for _, line := range lines {
			note("%s", line)
		}
	}
	if f.Out != "" {
		if err := a.Write(ctx, f.Out, f.Sheet); err != nil {
			return fmt.Errorf("audit: %s: %w", f.Out, err)
		}
		if len(a.Unlabelled) > 0 {
			to := unlabelledFile(f.Out)
			err := atomicfile.Write(to, func(w io.Writer) error { return a.writeUnlabelled(w, f.Sheet) })
			if err != nil {
				return fmt.Errorf("audit: %s: %w", to, err)
			}
			note("%s: the nearest classes of %s without a label", to, text.Plural(len(a.Unlabelled), "image"))
		}
	}
	return nil
}

// Write writes the images to a file in the form that its name ends in ([suspects.FormatOf]), to .json the whole audit.
// With sheet it writes CSV for spreadsheets.
func (a *Report) Write(ctx context.Context, path string, sheet bool) error {
	if sheet {
		return suspects.WriteSpreadsheet(path, a.Images)
	}
	format, err := suspects.FormatOf(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		w = interrupt.NewWriter(ctx, w)
		if format == suspects.JSON {
			return a.WriteJSON(w)
		}
		return suspects.Write(w, format, a.Images)
	})
}

// WriteJSON writes the audit as indented JSON, one image at a time: the text of a million would not fit twice in
// memory.
func (a *Report) WriteJSON(w io.Writer) error {
	images, without := a.Images, *a
	without.Images = []suspects.Suspect{}
	var frame bytes.Buffer
	whole := json.NewEncoder(&frame)
	whole.SetIndent("", "  ")
	whole.SetEscapeHTML(false)
	if err := whole.Encode(&without); err != nil {
		return err
	}
	const none = "\n  \"images\": []"
	before, after, found := bytes.Cut(frame.Bytes(), []byte(none))
	if !found || len(images) == 0 {
		_, err := w.Write(frame.Bytes())
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = out.Write(before) // Flush returns the error, here and below
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetIndent("    ", "  ")
	to.SetEscapeHTML(false)
	lead := none[:len(none)-1]
	for e := range suspects.Summed(images) {
		text.Reset()
		if err := to.Encode(e); err != nil {
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

// writeClasses writes a table of the classes as CSV; sheet makes it safe for spreadsheets.
func (a *Report) writeClasses(w io.Writer, sheet bool) error {
	name := func(s string) string { return s }
	out := csv.NewWriter(w)
	header := []string{"class", "images", "kappa", "purity", "purity_low", "purity_high", "most_like", "likeness",
		"looks_like_the_same", "sides_alike", "looks_like_two"}
	var mark []string
	if sheet {
		name, header, mark = suspects.Cell, append(header, suspects.SheetColumn), []string{suspects.SheetMark}
	}
	if err := out.Write(header); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, k := range a.Classes {
		err := out.Write(append([]string{
			name(k.Class), strconv.Itoa(k.Images), number(k.Kappa), number(k.Purity), number(k.Low), number(k.High),
			name(k.Like), number(k.Alike), strconv.FormatBool(k.Same), number(k.Groups), strconv.FormatBool(k.Two),
		}, mark...))
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
