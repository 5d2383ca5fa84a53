package main

import (
	"fmt"
	"slices"
	"strings"
)

// digest returns a part's most telling numbers, for a terminal.
func (r *Results) digest(name string) []string {
	switch name {
	case "parity":
		return r.parityDigest()
	case "training":
		return r.trainingDigest()
	case "study":
		return r.studyDigest()
	}
	return nil
}

func (r *Results) parityDigest() (lines []string) {
	for _, rec := range r.part("parity").Records {
		switch {
		case rec.Error != "":
			lines = append(lines, fmt.Sprintf("%s: %s", strings.Join(rec.Of, ", "), brief(rec.Error)))
		case rec.Of[2] == besideFloat64:
			lines = append(lines, fmt.Sprintf("%s: relative %.1e, the CPU's %.1e; %s", strings.Join(rec.Of, ", "),
				rec.Values["relative"], rec.Values["cpu_relative"], rec.Text))
		case rec.Of[1] == "gradients":
			beside := ""
			if v, ok := rec.Values["beside_operators"]; ok {
				beside = fmt.Sprintf(", %.1e beside operators", v)
			}
			lines = append(lines, fmt.Sprintf("%s: relative %.1e%s, steps %.1e; %s", strings.Join(rec.Of, ", "),
				rec.Values["relative"], beside, rec.Values["moved"], rec.Text))
		case rec.Of[2] == "float32":
			lines = append(lines, fmt.Sprintf("%s: relative %.1e", strings.Join(rec.Of, ", "), rec.Values["relative"]))
		}
	}
	return lines
}

// brief shortens a message for a line of a terminal.
func brief(text string) string {
	if r := []rune(text); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return text
}

// trainingDigest returns a line for each cell, images/s of each way and PyTorch, and one for each step's time.
func (r *Results) trainingDigest() (lines []string) {
	p := r.part("training")
	head := "images/s:"
	for _, w := range ways() {
		head += " " + w.name + " |"
	}
	lines = append(lines, head+" PyTorch, copied, benchmark | best of ours over PyTorch")
	var times, failed []string
	var seen [][]string
	for _, rec := range p.Records {
		if rec.Error != "" {
			failed = append(failed, fmt.Sprintf("%s: %s", strings.Join(rec.Of, ", "), brief(rec.Error)))
		}
		usual := slices.Equal(rec.Of[1:3], p.Records[0].Of[1:3]) // batch and precision
		if rec.Values["step_ms"] > 0 && usual {
			times = append(times, strings.Join(rec.Of, ", ")+fmt.Sprintf(
				": step %.1f ms: forward %.1f, backward %.1f, solver %.1f; processor %.1f", rec.Values["step_ms"],
				rec.Values["forward_ms"], rec.Values["backward_ms"], rec.Values["solver_ms"],
				rec.Values["processor_ms"]))
		}
		if rec.Values["alone_ms"] > 0 {
			times = append(times, strings.Join(rec.Of, ", ")+fmt.Sprintf(
				": forward %.1f ms; pictures up %.2f, weights up %.2f, gradients down %.2f", rec.Values["alone_ms"],
				rec.Values["pictures_ms"], rec.Values["weights_ms"],
				rec.Values["gradients_ms"]))
		}
		if of := rec.Of[:3]; !slices.ContainsFunc(seen, func(s []string) bool { return slices.Equal(s, of) }) {
			seen = append(seen, of)
		}
	}
	for _, of := range seen {
		line := strings.Join(of, ", ") + ":"
		for _, w := range ways() {
			line += fmt.Sprintf(" %s |", r.rateOf(of, w.name, "images_per_second"))
		}
		for _, value := range []string{"images_per_second", "copied_images_per_second", "benchmark_images_per_second"} {
			line += " " + r.rateOf(of, besideTorch, value)
		}
		if share, _, _ := r.besideTorch(of); share > 0 {
			line += fmt.Sprintf(" | %.2f", share)
		}
		lines = append(lines, line)
	}
	return slices.Concat(lines, failed, times)
}

// rateOf returns a value of a cell as text.
func (r *Results) rateOf(of []string, what, value string) string {
	rec := r.part("training").find(append(slices.Clone(of), what)...)
	switch {
	case rec == nil || rec.Error == "" && rec.Values[value] == 0:
		return "–"
	case rec.Error != "":
		return "failed"
	}
	return fmt.Sprintf("%.0f", rec.Values[value])
}

// besideTorch returns the images/s of the fastest way in a cell over PyTorch's, and both; 0 where one was not measured.
func (r *Results) besideTorch(of []string) (share, ours, theirs float64) {
	p := r.part("training")
	for _, w := range ways() {
		if rec := p.find(append(slices.Clone(of), w.name)...); rec != nil {
			ours = max(ours, rec.Values["images_per_second"])
		}
	}
	if rec := p.find(append(slices.Clone(of), besideTorch)...); rec != nil {
		theirs = rec.Values["images_per_second"]
	}
	if ours == 0 || theirs == 0 {
		return 0, ours, theirs
	}
	return ours / theirs, ours, theirs
}

func (r *Results) studyDigest() (lines []string) {
	for _, rec := range r.part("study").Records {
		line := strings.Join(rec.Of, ", ") + ": "
		if rec.Error != "" {
			line += brief(rec.Error)
		} else if v := rec.Values["images_per_second"]; v > 0 {
			line += fmt.Sprintf("%.0f images/s, median %.0f, %.0f steps, %.0f s", v,
				rec.Values["median_images_per_second"], rec.Values["steps"], rec.Values["seconds"])
		}
		if text := []rune(rec.Text); len(text) > 0 {
			line += ": " + string(text[max(0, len(text)-400):])
		}
		lines = append(lines, line)
	}
	return lines
}
