package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The goals.
const (
	leastCos     = .9999
	mostRelative = 1e-3
	leastRate    = 3000 // images/s of ResNet-50 from ready tensors
	leastOfTorch = .7
	leastSame    = .999 // share of neighbours that equal the CPU's
	mostOfCPUs   = 3.   // largest multiple of the CPU's difference from float64
)

// judgeGoals compares the results with the goals. On the CPU it skips goals about a GPU.
func (r *Results) judgeGoals() {
	r.Goals = []Goal{
		r.agree("features"), r.agree("gradients"),
		r.trains("float32", 64, .9, "ResNet-50", "ViT-S/16"), r.trains("TF32", 64, .8, "ResNet-50", "ViT-S/16"),
		r.trains("float32", 64, .8, "mobilenetv2"), r.trains("float32", 8, .6, "ResNet-50", "mobilenetv2", "ViT-S/16"),
		r.fast(),
		r.beside("images_per_second", "extraction as fast as .7 of PyTorch eager, float32"),
		r.searchGoal(), r.messageGoal(), r.memoryGoal(),
	}
}

func (r *Results) cpu() bool { return r.Device == "cpu" }

// part returns a part's records.
func (r *Results) part(name string) *Part {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i]
		}
	}
	return &Part{}
}

// state returns the state of a goal.
func state(met bool) string {
	if met {
		return "pass"
	}
	return "fail"
}

// agree compares the float32 features, or the gradients of every way to train, with the CPU's. If a value is near the
// bend of a Relu, or two values in a pooling window are nearly equal, rounding decides which gradient is used, even on
// the CPU. Gradients may therefore differ by a multiple of the CPU's own difference from float64.
func (r *Results) agree(what string) Goal {
	g := Goal{Name: fmt.Sprintf("%s agree with the CPU's: cosine ≥ %v, relative ≤ %v", what, leastCos,
		mostRelative), State: "not run"}
	records := r.part("parity").Records
	allowed := map[string]float64{} // by network
	for _, rec := range records {
		if rec.Of[len(rec.Of)-1] == besideFloat64 {
			allowed[rec.Of[0]] = mostOfCPUs * rec.Values["cpu_relative"]
		}
	}
	if what == "gradients" {
		g.Name += fmt.Sprintf(" or %v times the CPU's own from float64's", mostOfCPUs)
	}
	least, most, n, met, failed := 1.0, 0.0, 0, true, ""
	for _, rec := range records {
		if len(rec.Of) != 3 || rec.Of[1] != what || what == "features" && rec.Of[2] != "float32" {
			continue
		}
		n++
		if rec.Error != "" {
			failed = rec.Of[0] + ", " + rec.Of[2] + ": " + rec.Error
		}
		if rec.Values != nil {
			relative := rec.Values["relative"]
			least, most = lesser(least, rec.Values["cosine"]), greater(most, relative)
			met = met && (relative <= mostRelative || what == "gradients" && relative <= allowed[rec.Of[0]])
		}
	}
	if n == 0 {
		return g
	}
	g.State = state(failed == "" && least >= leastCos && met)
	g.Found = fmt.Sprintf("%d comparisons: cosine %.7f, relative %.1e at worst", n, least, most)
	if failed != "" {
		g.Found += "; " + failed
	}
	return g
}

// best returns the fastest record of extraction with the given precision and way ("": any).
func (r *Results) best(network, precision, way string) *Record {
	var found *Record
	p := r.part("extraction")
	for i, rec := range p.Records {
		if len(rec.Of) == 4 && strings.HasPrefix(rec.Of[0], network) && (precision == "" || rec.Of[1] == precision) &&
			(way == "" || rec.Of[2] == way) && rec.Values["images_per_second"] > 0 &&
			(found == nil || rec.Values["images_per_second"] > found.Values["images_per_second"]) {
			found = &p.Records[i]
		}
	}
	return found
}

func (r *Results) fast() Goal {
	g := Goal{Name: fmt.Sprintf("ResNet-50, ready tensors: ≥ %d images/s", leastRate), State: "not run"}
	exact, best := r.best("ResNet-50", "float32", ""), r.best("ResNet-50", "", "")
	if best == nil || exact == nil {
		return g
	}
	g.Found = fmt.Sprintf("float32 %.0f (%s); best %.0f (%s)", exact.Values["images_per_second"],
		strings.Join(exact.Of[2:], ", "), best.Values["images_per_second"], strings.Join(best.Of[1:], ", "))
	if !r.cpu() {
		g.State = state(exact.Values["images_per_second"] >= leastRate)
	}
	return g
}

// beside compares winnow with PyTorch, each at its fastest batch size.
func (r *Results) beside(value, name string) Goal {
	g := Goal{Name: name, State: "not run", Found: "no PyTorch that has the device"}
	theirs := 0.0
	for _, rec := range r.part("torch").Records {
		if len(rec.Of) == 3 && rec.Of[1] == "float32" {
			theirs = max(theirs, rec.Values[value])
		}
	}
	ours := r.best("ResNet-50", "float32", "")
	if theirs == 0 || ours == nil {
		return g
	}
	share := ours.Values["images_per_second"] / theirs
	g.Found = fmt.Sprintf("%.2f: %.0f images/s (%s) and %.0f", share, ours.Values["images_per_second"],
		strings.Join(ours.Of[2:], ", "), theirs)
	if !r.cpu() {
		g.State = state(share >= leastOfTorch)
	}
	return g
}

// trains compares the fastest way to train networks with PyTorch.
func (r *Results) trains(precision string, batch int, least float64, networks ...string) Goal {
	g := Goal{Name: fmt.Sprintf("training, %s, batch %d, %s: ≥ %v of PyTorch eager", precision, batch,
		strings.Join(networks, ", "), least), State: "not run"}
	worst, list := math.Inf(1), []string{}
	var seen []string
	for _, rec := range r.part("training").Records {
		of := rec.Of[:3]
		known := slices.ContainsFunc(networks, func(n string) bool { return strings.HasPrefix(of[0], n) })
		if !known || slices.Contains(seen, of[0]) || of[1] != fmt.Sprint("batch ", batch) || of[2] != precision {
			continue
		}
		seen = append(seen, of[0])
		if share, ours, theirs := r.besideTorch(of); theirs > 0 { // ours is 0 if no way of winnow's worked
			worst = min(worst, share)
			list = append(list, fmt.Sprintf("%s %.2f (%.0f and %.0f images/s)", of[0], share, ours, theirs))
		}
	}
	g.Found = strings.Join(list, ", ")
	if len(list) > 0 && !r.cpu() {
		g.State = state(worst >= least && len(list) == len(networks))
	}
	return g
}

func (r *Results) searchGoal() Goal {
	g := Goal{Name: fmt.Sprintf("exact search: ≥ %v of the CPU's neighbours, the same P@1 and MAP@R", leastSame),
		State: "not run"}
	p := r.part("search")
	ours, cpu := p.find("nearest and evaluation", "float32", "device"),
		p.find("nearest and evaluation", "float32", "CPU, as winnow eval")
	if ours == nil || cpu == nil {
		return g
	}
	if ours.Error != "" || cpu.Error != "" {
		g.State, g.Found = "fail", ours.Error+cpu.Error
		return g
	}
	v, w := ours.Values, cpu.Values
	g.Found = fmt.Sprintf("%.5f the same; P@1 %.4f and %.4f, MAP@R %.4f and %.4f; %.2f s and %.2f s", v["same"],
		v["p1"], w["p1"], v["mapr"], w["mapr"], v["seconds"], w["seconds"])
	g.State = state(v["same"] >= leastSame && math.Abs(v["p1"]-w["p1"]) < 1e-3 && math.Abs(v["mapr"]-w["mapr"]) < 1e-3)
	return g
}

// messageGoal counts the probes with the expected answer.
func (r *Results) messageGoal() Goal {
	g := Goal{Name: "if a GPU cannot be used, a message explains what to do, and auto computes on the CPU",
		State: "not run"}
	ok, n, wrong := 0, 0, []string{}
	for _, rec := range r.part("messages").Records {
		if len(rec.Of) == 2 && rec.Of[0] == "as it is here" && r.cpu() || strings.HasPrefix(rec.Text, "not run") {
			continue
		}
		if n++; rec.Error == "" && rec.Values["ok"] == 1 {
			ok++
		} else {
			wrong = append(wrong, strings.Join(rec.Of, ", "))
		}
	}
	if n == 0 {
		return g
	}
	g.State, g.Found = state(ok == n), fmt.Sprintf("%d of %d", ok, n)
	if len(wrong) > 0 {
		g.Found += "; not: " + strings.Join(wrong, "; ")
	}
	return g
}

// memoryGoal checks that the process reported every lack of memory and continued after it.
func (r *Results) memoryGoal() Goal {
	g := Goal{Name: "full GPU memory is reported, and a smaller batch still runs", State: "not run"}
	told, n := 0, 0
	for _, rec := range r.part("memory").Records {
		if _, full := rec.Values["told"]; full || rec.Error != "" {
			n++
			if rec.Values["told"] == 1 && rec.Values["on"] == 1 {
				told++
			}
		}
	}
	if n == 0 {
		g.Found = "the memory was never full"
		return g
	}
	g.State, g.Found = state(told == n), fmt.Sprintf("%d of %d", told, n)
	return g
}
