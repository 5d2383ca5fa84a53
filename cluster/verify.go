package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"winnow/internal/hint"
	"winnow/internal/interrupt"
)

// Verify reads all parts, marks those with wrong sums as torn, and returns an error unless all are complete.
func (w *Whole) Verify(ctx context.Context) error { return w.verifyParts(ctx, "") }

// verifyParts is Verify, but skips the file except in parts that are folders.
func (w *Whole) verifyParts(ctx context.Context, except string) error {
	for i := range w.Parts {
		p := &w.Parts[i]
		if p.State != Present {
			continue
		}
		if err := p.verifyPart(ctx, except); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			p.State, p.Why = Torn, err.Error()
		}
	}
	again := w.listAgain()
	if len(again) == 0 {
		return nil
	}
	var told []string
	for _, s := range []State{Missing, Begun, Torn} {
		if in := w.In(s); len(in) > 0 {
			told = append(told, fmt.Sprintf("%s: %s", s, formatRanges(in)))
		}
	}
	for _, p := range w.Parts {
		if p.State == Torn {
			told = append(told, fmt.Sprintf("%s %s", p.Path, p.Why))
			break
		}
	}
	return hint.With(fmt.Errorf("parts: %s: %d of %d parts cannot be joined: %s", Dir(w.Out), len(again), w.Of,
		strings.Join(told, "; ")),
		"run the same command again with --shard %d/%d and so on, or as tasks %s of the array with --shard "+
			"auto/%d", again[0], w.Of, formatRanges(again), w.Of)
}

// verifyPart reads the part and compares its sums, except that of one file.
func (p *Part) verifyPart(ctx context.Context, except string) error {
	if info, err := p.Path.Stat(ctx); err != nil {
		return err
	} else if info.IsDir() {
		s, err := p.sealedFolder()
		if err != nil {
			return err
		}
		for _, f := range s.Files {
			if f.Name == except {
				continue
			}
			if n, sum, err := digestFile(ctx, p.Path.Join(filepath.Base(f.Name))); err != nil {
				return err
			} else if n != f.Bytes || sum != f.SHA256 {
				return fmt.Errorf("has a %s that changed since it was written", f.Name)
			}
		}
		return nil
	}
	f, err := p.Path.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	want, err := readSeal(f)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, interrupt.NewReader(ctx, io.NewSectionReader(f, 0,
		info.Size()-int64(sealBytes)))); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return errors.New("changed since it was written")
	}
	return nil
}
