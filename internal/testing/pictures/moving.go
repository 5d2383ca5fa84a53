package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/gif"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/testing/reviewing"
)

//go:embed terminal.html.tmpl
var terminalPage string

// The animation: its size in pixels, the largest size of its file in bytes, and the number of colours per frame.
const (
	movingName   = "winnow.gif"
	movingWidth  = 1200
	movingHeight = 660
	movingLimit  = 1_000_000
	movingColors = 64
)

// suspect matches a suspect printed by an audit, with its given and suggested labels.
var suspect = regexp.MustCompile(`^\S+\.jpg {2,}(\S.*?) {2,}(\S.*?) {2,}`)

// line is a line shown in the terminal: typed, strong or plain.
type line struct {
	Text          string
	Typed, Strong bool
}

// reel collects the frames of the animation.
type reel struct {
	*maker
	out gif.GIF
}

// moving shows how a folder with wrong labels is corrected: the audit, the review, the corrected list, and the effect
// on training. All texts and images shown are output of the commands shown.
func (m *maker) moving(ctx context.Context) error {
	r := &reel{maker: m}
	if err := m.run(ctx, "quickstart", "--no-open"); err != nil {
		return err
	}
	if err := m.shell(ctx, "mv quickstart/images raw"); err != nil {
		return err
	}
	if err := m.run(ctx, "data", "import", "raw", "--split", "train=0.6,test=0.4", "--by", "image", "--out",
		"photos.csv"); err != nil {
		return err
	}
	audit := "winnow audit photos.csv --root raw --model glyphnet"
	review := "winnow studio suspects.csv --manifest photos.csv --root raw " +
		"--features suspects.features --out fixed.csv --check=false"
	printed, err := m.output(ctx, audit)
	if err != nil {
		return err
	}
	found := []line{{Text: audit, Typed: true}, {}}
	for _, text := range strings.Split(printed, "\n") {
		strong := strings.Contains(text, "labels look wrong")
		if strong || strings.HasPrefix(text, "Expect") || strings.HasPrefix(text, "Most are") {
			text, _, _ = strings.Cut(text, ": mistakes that everybody")
			found = append(found, line{Text: text, Strong: strong}, line{})
		}
		if labels := suspect.FindStringSubmatch(text); labels != nil {
			found = append(found, line{Text: labels[1] + " → " + labels[2]})
		}
	}
	found = append(found, line{})
	if err := r.terminal(ctx, 3, "", found...); err != nil {
		return err
	}
	if err := r.terminal(ctx, 1.2, "", append(found, line{Text: review, Typed: true})...); err != nil {
		return err
	}
	told, err := m.reviewing(ctx, strings.Fields(review)[1:], func(page reviewing.Page, address string) error {
		return r.decisions(ctx, page, address)
	})
	if err != nil {
		return err
	}
	lines := []line{{Text: review, Typed: true}}
	for text := range strings.Lines(told) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(text), "winnow: fixed.csv: "); ok {
			lines = append(lines, line{Text: "fixed.csv: " + text, Strong: true}, line{})
		}
	}
	if err := r.terminal(ctx, 2, "", lines...); err != nil {
		return err
	}
	for _, list := range []string{"photos.csv", "fixed.csv"} {
		args := []string{"train", "--manifest", list, "--root", "raw", "--features", "suspects.features", "--out",
			list + "-run"}
		if list == "photos.csv" {
			args = append(args, "--filter", "none", "--screen", "none")
		}
		if err := m.run(ctx, args...); err != nil {
			return err
		}
		printed, err := m.output(ctx, "winnow eval "+list+"-run --manifest fixed.csv")
		if err != nil {
			return err
		}
		p := regexp.MustCompile(`(?m)^trained .* ([0-9.]+)$`).FindStringSubmatch(printed)
		if p == nil {
			return fmt.Errorf("winnow eval printed no trained row: %s", printed)
		}
		share, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			return err
		}
		lines = append(lines, line{Text: "winnow train --manifest " + list + " …", Typed: true},
			line{Text: fmt.Sprintf("test images find images of their class with a MAP@R of %.3f", share),
				Strong: list != "photos.csv"})
	}
	if err := r.terminal(ctx, 3, "", lines...); err != nil {
		return err
	}
	return r.write()
}

// decisions shows the review page while its first screen is decided. It then makes the remaining decisions of 200.
func (r *reel) decisions(ctx context.Context, page reviewing.Page, address string) error {
	show := func(seconds float64, view string) error {
		img, err := r.photograph(ctx, "moving.png", address+"#view="+view, movingWidth, movingHeight)
		if err != nil {
			return err
		}
		r.add(img, seconds)
		return nil
	}
	page.Reviewer = reviewerName
	if err := show(1.6, "suspects"); err != nil {
		return err
	}
	const all = "suspects&state=all&kind=suspect&sort=suspect&cards=compact"
	if err := show(1.6, all); err != nil {
		return err
	}
	rows, err := page.Suspects(30)
	if err != nil {
		return err
	}
	for from, to := 0, 1; from < len(rows); from, to = to, min(4*to+1, len(rows)) {
		if err := page.Decide(rows[from:to]); err != nil {
			return err
		}
		if err := show(0.8, all); err != nil {
			return err
		}
	}
	return page.Review(200 - len(rows))
}

// terminal adds a frame of a terminal with lines.
func (r *reel) terminal(ctx context.Context, seconds float64, note string, lines ...line) error {
	var b bytes.Buffer
	if err := template.Must(template.New("terminal").Parse(terminalPage)).Execute(&b,
		map[string]any{"Title": "raw: 24 folders, 720 images", "Lines": lines, "Note": note}); err != nil {
		return err
	}
	file := filepath.Join(r.dir, "terminal.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	img, err := r.photograph(ctx, "moving.png", "file://"+file, movingWidth, movingHeight)
	if err != nil {
		return err
	}
	r.add(img, seconds)
	return nil
}

// add appends a frame that is shown for some seconds.
func (r *reel) add(img image.Image, seconds float64) {
	now := fewer(img, movingColors-1)
	r.out.Delay = append(r.out.Delay, int(100*seconds))
	r.out.Disposal = append(r.out.Disposal, gif.DisposalNone)
	r.out.Image = append(r.out.Image, now)
}

// write writes the animation.
func (r *reel) write() error {
	var before *image.Paletted
	for i, img := range r.out.Image {
		next := *img
		if before != nil {
			r.out.Image[i] = changed(before, img)
		}
		before = &next
	}
	r.out.LoopCount = 0
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &r.out); err != nil {
		return err
	}
	total := 0
	for _, d := range r.out.Delay {
		total += d
	}
	if b.Len() > movingLimit {
		return fmt.Errorf("%s has %d bytes, expected at most %d: show less", movingName, b.Len(), movingLimit)
	}
	fmt.Printf("%s  %d×%d, %d images, %.1f s, %d kB\n", movingName, movingWidth, movingHeight, len(r.out.Image),
		float64(total)/100, b.Len()/1000)
	return atomicfile.WriteBytes(filepath.Join(r.maker.out, movingName), b.Bytes())
}

// changed returns a frame in which pixels equal to the previous frame are transparent.
func changed(before, now *image.Paletted) *image.Paletted {
	clear := uint8(len(now.Palette))
	out := image.NewPaletted(now.Rect, append(append(color.Palette{}, now.Palette...), color.RGBA{}))
	for i, c := range now.Pix {
		if out.Pix[i] = c; now.Palette[c] == before.Palette[before.Pix[i]] {
			out.Pix[i] = clear
		}
	}
	return out
}
