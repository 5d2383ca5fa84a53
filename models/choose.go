package models

import (
	"fmt"
	"os"
	"slices"

	"winnow/graph"
	"winnow/models/architecture"
)

// byQuality are the known backbones of photographs, the one first whose features tell the classes of photographs apart
// best: those trained without labels, then by what their publishers say of ImageNet; between MobileNetV2, GoogLeNet,
// SqueezeNet and the cut ResNet-50 recall@1 on CUB-200 decides (.528, .481, .437, .292).
var byQuality = []string{
	"dinov2-base-registers", "dinov2-base", "dinov2-small", "vit-b-16", "efficientnet-lite4-11",
	"resnet152-v2-7", "resnet101-v2-7", "resnet152-v1-7", "resnet101-v1-7",
	"resnet50", "resnet50-v2-7", "resnet50-v1-12", "resnet34", "resnet34-v1-7", "resnet34-v2-7", "bn-inception", "inception-v2-9",
	"mobilenetv2-features", "mobilenetv2-7", "mobilenetv2", "resnet18", "resnet18-v1-7", "resnet18-v2-7",
	"googlenet-bvlc", "googlenet-7", "googlenet", "squeezenet1.1", "squeezenet1.1-7", "squeezenet", "resnet50v2-stage3-features",
}

// Choose returns the backbone that photographs are looked at with where none is named, and why: of those whose files are
// there the one that the user added last under a name of its own, else the best of the known ones. ok is false where none
// is there; what is compiled in is for drawn characters, and networks whose weights are drawn have learned nothing.
func (r *Registry) Choose() (name, why string, ok bool) {
	var there, own []string
	list := r.List()
	for at, newest := len(list)-1, true; at >= 0; at-- { // a file is only read where it may be the one
		m := list[at]
		ours := !slices.Contains(byQuality, m.Name)
		if !m.Found || m.Path == "" || ours && newest && drawn(m.Path) {
			continue
		}
		there, newest = append(there, m.Name), newest && !ours
		if ours {
			own = append(own, m.Name)
		}
	}
	switch {
	case len(there) == 0:
		return "", "", false
	case len(there) == 1:
		return there[0], "the only backbone installed", true
	case len(own) > 0:
		return own[0], fmt.Sprintf("of %d backbones installed the one added last", len(there)), true
	}
	best := slices.IndexFunc(byQuality, func(n string) bool { return slices.Contains(there, n) })
	return byQuality[best], fmt.Sprintf("the best known of %d backbones installed", len(there)), true
}

// drawn reports whether a file is a network that says that its weights are drawn. What cannot be read is for others to refuse.
func drawn(file string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	m, err := graph.Read(data)
	return err == nil && architecture.Drawn(m)
}
