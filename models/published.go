package models

import (
	"slices"
	"strings"
)

// fetched are the entries of hubFiles and zooFiles.
var fetched = fetchedEntries()

func fetchedEntries() []Entry {
	var list []Entry
	for _, h := range hubFiles {
		list = append(list, h.entry())
	}
	for _, z := range zooFiles {
		list = append(list, Entry{
			Name: z.name, File: z.name + ".onnx", SHA256: z.sum, Preprocessing: presets[z.preset],
			Source: z.title + " of the ONNX Model Zoo", Licence: z.licence, Recipe: "winnow models get " + z.name,
		})
	}
	return list
}

// Published says where a known file can be fetched and how large it is.
type Published struct {
	Size   int64    `json:"size"`            // bytes
	SHA256 string   `json:"sha256"`          // of the file alone, without its parts
	Places []string `json:"places"`          // URLs, tried in order; none if only a mirror or a copy can be given
	Parts  []Part   `json:"parts,omitempty"` // further files of the model, stored beside the first
	Terms  string   `json:"terms,omitempty"` // address of a licence that must be accepted first
}

// Part is a further file of a model, such as its external data.
type Part struct {
	Name   string   `json:"name"`
	Size   int64    `json:"size"` // bytes
	SHA256 string   `json:"sha256"`
	Places []string `json:"places"`
}

// Total returns the bytes of all files.
func (p Published) Total() int64 {
	n := p.Size
	for _, part := range p.Parts {
		n += part.Size
	}
	return n
}

// Published returns where an entry's file can be fetched. It reports false if no file with a known sha256 is
// published.
func (e Entry) Published() (Published, bool) {
	sum := e.SHA256
	if size, ok := seenSizes[sum]; ok {
		return Published{Size: size, SHA256: sum, Places: []string{}}, true
	}
	if at := slices.IndexFunc(hubFiles, func(h hubFile) bool { return h.whole() == sum }); at >= 0 {
		return hubFiles[at].published(), true
	}
	at := slices.IndexFunc(zooFiles, func(z zooFile) bool { return z.sum == sum })
	if at < 0 {
		return Published{}, false
	}
	return Published{Size: zooFiles[at].size, SHA256: sum, Places: zooFiles[at].places()}, true
}

// places returns where the file is served: by the zoo's successor, which has the latest versions, and by the
// storage behind the zoo's own repository, which has those of every commit. Both addresses follow their
// documentation; neither could be tried here.
func (z zooFile) places() []string {
	own := "https://media.githubusercontent.com/media/onnx/models/" + z.commit + "/" + z.path
	if z.replaced {
		return []string{own}
	}
	return []string{"https://huggingface.co/onnxmodelzoo/legacy_models/resolve/main/validated/" +
		strings.TrimPrefix(z.path, "validated/"), own}
}

// seenSizes are the sizes of the files of seen, by sha256.
var seenSizes = map[string]int64{
	"1f13ebfe2eda102b81da03a2281f23837755f2b4b54432ce29e589d052d551ae": 28_017_658,
	"a1364549f2d8135a26a4076bc8efd723586c05df51a5a8915e2c420ec5e83d48": 8_840_877,
	"66fe4ad96b36a696c80013f74d83645126fd4eb48252d56e017e3071725fd6a4": 4_952_525,
	"a9dfb5f587c9b0bc7185419ce823bef490ed16ab063996aa4562f2782b01cfc0": 34_295_669,
}

// instead names, for backbones that users export, one of the same architecture that can be fetched. Its weights are
// from another publisher.
var instead = map[string]string{
	"resnet18": "resnet18-v1-7", "resnet34": "resnet34-v1-7", "resnet50": "resnet50-v1-12", "googlenet": "googlenet-7",
	"mobilenetv2": "mobilenetv2-7", "squeezenet": "squeezenet1.1-7", "bn-inception": "inception-v2-9",
}

// Instead returns a fetchable backbone of the same architecture as name, or "".
func Instead(name string) string { return instead[name] }

// checked says how an entry's preprocessing was checked, with a summary before the colon.
func (r *Registry) checked(e Entry) string {
	at := slices.IndexFunc(known, func(k Entry) bool {
		return k.Name == e.Name || k.SHA256 != "" && k.SHA256 == e.SHA256
	})
	if at < 0 || known[at].Preprocessing != e.Preprocessing {
		return "yours: as it was added"
	}
	name := known[at].Name
	if how := seenChecked[name]; how != "" {
		return how
	}
	if slices.ContainsFunc(zooFiles, func(z zooFile) bool { return z.name == name && z.assumed }) {
		return "assumed: its publisher does not say"
	}
	return "publisher's word: these weights were not run here"
}

// seenChecked is what checked returns for the files of seen.
var seenChecked = map[string]string{
	"glyphnet":                   "trained with it",
	"googlenet-bvlc":             "on photographs: 131 of 200 ImageNet images right, the same as another program",
	"squeezenet1.1":              "on photographs: 108 of 200 ImageNet images right, the same as another program",
	"mobilenetv2-features":       "on photographs: recall@1 .528 among the birds of CUB-200",
	"resnet50v2-stage3-features": "on photographs: recall@1 .292 among the birds of CUB-200",
}
