package gradient_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/internal/testing/reference"
)

// stages returns the stages as shown to users: name, number of weights, output shape.
func stages(m *graph.Model, output string) []string {
	var list []string
	for _, s := range gradient.Stages(m, output) {
		list = append(list, fmt.Sprintf("%s %d %v", s.Name, len(s.Weights), s.Shape))
	}
	return list
}

// TestStagesByName tests torch's modules in folded, unfolded and token networks.
func TestStagesByName(t *testing.T) {
	for name, want := range map[string][]string{
		"resnet18": {"conv1 2 [N,64,32,32]", "layer1 8 [N,64,16,16]", "layer2 10 [N,128,8,8]", "layer3 10 [N,256,4,4]",
			"layer4 10 [N,512,2,2]", "fc 2 [N,10]"},
		"resnet18-bn": {"conv1 1 [N,64,32,32]", "bn1 2 [N,64,32,32]", "layer1 12 [N,64,16,16]", "layer2 15 [N,128,8,8]",
			"layer3 15 [N,256,4,4]", "layer4 15 [N,512,2,2]", "fc 2 [N,10]"},
		"vit": {"conv_proj 2 [N,32,14,14]", "class_token 1 [N,197,32]", "encoder.pos_embedding 1 [N,197,32]",
			"encoder.layers 24 [N,197,32]", "encoder.ln 2 [N,197,32]", "heads 2 [N,10]"},
	} {
		r := readRun(t, name)
		if diff := cmp.Diff(want, stages(r.model(t), r.Output)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	r := readRun(t, "mobilenetv2")
	list := gradient.Stages(r.model(t), r.Output)
	if len(list) != 20 || list[1].Name != "features.1" || list[18].Name != "features.18" ||
		list[19].Name != "classifier" {
		t.Errorf("found %v", stages(r.model(t), r.Output))
	}
	sum := int64(0)
	for _, s := range list {
		sum += s.Parameters
	}
	if want := total(t, r); sum != want {
		t.Errorf("the stages have %d parameters, expected %d", sum, want)
	}
}

// total returns the number of elements of all weights for which torch has gradients.
func total(t *testing.T, r *torchRun) (n int64) {
	m := r.model(t)
	for _, w := range r.Weights {
		size, err := m.Graph.Initializer(w.name).Size()
		if err != nil {
			t.Fatal(err)
		}
		n += size
	}
	return n
}

// TestStagesByResolution tests the same network without names, as older exporters write it.
func TestStagesByResolution(t *testing.T) {
	r := readRun(t, "resnet18")
	m := r.model(t)
	number := map[string]string{}
	for i, w := range m.Graph.Initializers {
		number[w.Name] = fmt.Sprint(100 + i)
		w.Name = number[w.Name]
	}
	for i, n := range m.Graph.Nodes {
		n.Name = fmt.Sprint(n.Op, "_", i)
		for j, in := range n.Inputs {
			if number[in] != "" {
				n.Inputs[j] = number[in]
			}
		}
	}
	want := []string{"stage1 2 [N,64,32,32]", "stage2 8 [N,64,16,16]", "stage3 10 [N,128,8,8]", "stage4 10 [N,256,4,4]",
		"stage5 12 [N,10]"}
	if diff := cmp.Diff(want, stages(m, r.Output)); diff != "" {
		t.Error(diff)
	}
}

// TestStagesOfRealFiles tests networks of other exporters.
func TestStagesOfRealFiles(t *testing.T) {
	for name, want := range map[string]string{
		"googlenet-bvlc": "conv1 conv2 inception_3a inception_3b inception_4a inception_4b inception_4c inception_4d " +
			"inception_4e inception_5a inception_5b",
		"mobilenetv2-features":       "stage1 stage2 stage3 stage4 stage5", // conv_0, conv_2, … are not stages
		"resnet50v2-stage3-features": "batchnorm0 conv0 batchnorm1 stage1 stage2 stage3 stage4",
		"squeezenet1.1":              "stage1 stage2 stage3 stage4",
	} {
		b, err := os.ReadFile(reference.Asset(t, "models/"+name+".onnx"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := graph.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, s := range gradient.Stages(m, "features") {
			found = append(found, s.Name)
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
	}
}
