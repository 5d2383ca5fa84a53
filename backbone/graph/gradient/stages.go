package gradient

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// Stage is a named part of a network. Training may start at a stage.
type Stage struct {
	Name       string
	First      int         // index of the first node that uses a weight of the stage
	Weights    []string    // in the order of their first use
	Parameters int64       // number of elements of the weights
	Shape      graph.Shape // output shape of the last node that uses one of the weights; nil if unknown
}

// Stages divides the weights of a model (see [Weights]) into stages, in the order of their first nodes.
//
// Exporters keep the names of modules in the names of weights or nodes: "layer1.0.conv1.weight",
// "/layer1/layer1.0/conv1/Conv", "inception_4a/3x3_w", "stage2_conv0_weight". Weights whose names share the first part
// form a stage. A part that covers four fifths of all weights ("features", "encoder.layers") is divided by the next
// part. If most weights have no such name, or every layer has its own, the stages follow the resolution: stage1,
// stage2 and so on, with a new stage at every convolution or pooling that makes maps smaller.
func Stages(m *graph.Model, output string) []Stage {
	weights := Weights(m, output)
	facts := graph.Infer(m)
	names := byName(weights)
	if names == nil {
		names = byResolution(m, weights, facts)
	}
	var list []Stage
	for i, w := range weights {
		at := slices.IndexFunc(list, func(s Stage) bool { return s.Name == names[i] })
		if at < 0 {
			at = len(list)
			list = append(list, Stage{Name: names[i], First: w.Depth})
		}
		s := &list[at]
		s.Weights, s.Parameters = append(s.Weights, w.Name), s.Parameters+w.Size()
		if v := facts[m.Graph.Nodes[w.Depth].Outputs[0]]; v != nil {
			s.Shape = v.Shape
		}
	}
	return list
}

// byName returns the stage of each weight according to its name, or nil if the names do not define stages.
func byName(weights []Weight) []string {
	paths, depth := make([][]string, len(weights)), make([]int, len(weights))
	named, last := 0, []string(nil)
	layers := map[int]bool{}
	for i, w := range weights {
		layers[w.Depth] = true
		paths[i], depth[i] = modulePath(w), 1
		if paths[i] != nil {
			named++
			last = paths[i]
		} else {
			paths[i] = last // a weight without module names joins the previous stage
		}
	}
	if named*2 <= len(weights) {
		return nil
	}
	names := make([]string, len(weights))
	for again := true; again; {
		again = false
		count := map[string]int{}
		for i, p := range paths {
			names[i] = strings.Join(p[:min(depth[i], len(p))], ".")
			count[names[i]]++
		}
		for i, p := range paths {
			if count[names[i]]*5 >= len(weights)*4 && depth[i] < len(p) {
				depth[i]++
				again = true
			}
		}
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(distinct) < 2 || 2*len(distinct) > len(layers)+1 {
		return nil // all weights are in one stage, or every layer is a stage
	}
	return names
}

var (
	anonymous = regexp.MustCompile(`^(onnx::.*|[0-9]+)$`)
	roleWord  = regexp.MustCompile(`^(weight|bias|w|b|gamma|beta|kernel|slope|alpha)(_[0-9]+|:[0-9]+)?$`)
	flatRole  = regexp.MustCompile(`_(weight|bias|gamma|beta|kernel|slope|alpha|w|b)$`)
	flat      = regexp.MustCompile(`^((?:stage|layer|block|group|fire|mixed)_?[0-9]+[a-z]?)_`)
)

// modulePath returns the modules that contain a weight, outermost first, from the weight's name or from its node's. It
// returns nil if neither name contains modules.
func modulePath(w Weight) []string {
	name := w.Name
	if anonymous.MatchString(name) {
		name = w.Node
		if name == w.Op || strings.HasPrefix(name, w.Op+"_") || anonymous.MatchString(name) {
			return nil
		}
	}
	if !strings.ContainsAny(name, "/.") {
		name = flatRole.ReplaceAllString(name, "")
		if m := flat.FindStringSubmatch(name); m != nil {
			return []string{m[1], name}
		}
		return []string{name}
	}
	var parts []string
	before := ""
	for _, part := range strings.Split(strings.Trim(name, "/"), "/") {
		short := strings.TrimPrefix(part, before+".") // torch repeats module names: /layer1/layer1.0/conv1
		before = part
		parts = append(parts, strings.Split(short, ".")...)
	}
	if n := len(parts); n > 1 && (roleWord.MatchString(parts[n-1]) || parts[n-1] == w.Op) {
		parts = parts[:n-1]
	}
	return parts
}

// byResolution returns each weight's stage: how often maps have become smaller up to and including the weight's node.
func byResolution(m *graph.Model, weights []Weight, facts map[string]*graph.ValueInfo) []string {
	shrunk := map[string]int{} // tensor → number of reductions on the path with most of them
	times := make([]int, len(m.Graph.Nodes))
	for i, n := range m.Graph.Nodes {
		for at, in := range n.Inputs {
			times[i] = max(times[i], shrunk[in])
			if at == 0 && windows[n.Op] && len(n.Outputs) > 0 && mapArea(facts[n.Outputs[0]]) < mapArea(facts[in]) {
				times[i] = max(times[i], shrunk[in]+1)
			}
		}
		for _, out := range n.Outputs {
			shrunk[out] = times[i]
		}
	}
	var seen []int
	for _, w := range weights {
		seen = append(seen, times[w.Depth])
	}
	order := slices.Compact(slices.Sorted(slices.Values(seen)))
	names := make([]string, len(weights))
	for i, n := range seen {
		at, _ := slices.BinarySearch(order, n)
		names[i] = fmt.Sprint("stage", at+1)
	}
	return names
}

// windows lists the operators that lower the resolution. Global averages are not among them.
var windows = map[string]bool{"Conv": true, "MaxPool": true, "AveragePool": true, "LpPool": true}

// mapArea returns height times width of a map, or 0 if the size is unknown.
func mapArea(v *graph.ValueInfo) int64 {
	if v == nil || len(v.Shape) != 4 || !v.Shape[2].Known() || !v.Shape[3].Known() {
		return 0
	}
	return v.Shape[2].Size * v.Shape[3].Size
}
