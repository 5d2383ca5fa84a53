package models

import (
	"path"

	"winnow/backbone"
)

// hubFile is a backbone that Hugging Face serves as ONNX. Its sha256 and sizes are those that several public projects
// record for it; the files themselves were not available here. The feature tensor is found in the graph.
type hubFile struct {
	name, title   string
	repo, at      string // the repository, and the file's path in it
	sum           string
	size          int64
	preprocessing backbone.Preprocessing
	licence       string
	terms         string // address of a licence that must be accepted before the file is fetched; "": none
	parts         []Part // further files; their places follow from the first file's
}

var hubFiles = []hubFile{
	{name: "dinov3-small", title: "DINOv3 ViT-S/16 with four registers, learned from LVD-1689M without labels",
		repo: "onnx-community/dinov3-vits16-pretrain-lvd1689m-ONNX", at: "onnx/model.onnx",
		sum: "bb75e9e30ff382ecdbd150266445ab41272be4acc85fd3563218dd89781e36da", size: 137_969,
		preprocessing: presets["imagenet"].Fitted("squash"),
		licence:       "DINOv3 License of Meta",
		terms:         "https://ai.meta.com/resources/models-and-libraries/dinov3-license/",
		parts: []Part{{Name: "model.onnx_data", Size: 86_347_776,
			SHA256: "1eff0bb9f4fdef831ca61c8bc2b5c88d8cc21ef4756d3b483d9b9c15d8d5d27f"}}},
	{name: "dinov2-base", title: "DINOv2 ViT-B/14, learned from LVD-142M without labels",
		repo: "onnx-community/dinov2-base", at: "onnx/model.onnx",
		sum: "320d1012a6fc65b101fc85ca30ee7a47b2e4f6a2e8bd78fb9d7036def0e30cb0", size: 346_627_111,
		preprocessing: presets["dinov2"], licence: "Apache-2.0"},
	{name: "dinov2-small", title: "DINOv2 ViT-S/14, learned from LVD-142M without labels",
		repo: "onnx-community/dinov2-small", at: "onnx/model.onnx",
		sum: "f22797eabf810a75e41de68d378541ebea372122b25c4ce3ef25ff618250c20a", size: 88_532_934,
		preprocessing: presets["dinov2"], licence: "Apache-2.0"},
	{name: "siglip2-base", title: "SigLIP 2 ViT-B/16, image encoder learned from captions",
		repo: "onnx-community/siglip2-base-patch16-224-ONNX", at: "onnx/vision_model.onnx",
		sum: "c0573e3f4140c3a7c4e9cc5912bd6b26a033b46a6a8e8af26cbea262b163bcad", size: 371_807_752,
		preprocessing: presets["siglip"], licence: "Apache-2.0"},
	{name: "clip-vit-b-32", title: "CLIP ViT-B/32, image encoder learned from captions",
		repo: "Xenova/clip-vit-base-patch32", at: "onnx/vision_model.onnx",
		sum: "fd6e1402a588279d1723c7534d4bcba5bc0b14b47dfab0e46f8c47b8270d7d40", size: 351_685_709,
		preprocessing: presets["clip"], licence: "MIT"},
}

func (h hubFile) entry() Entry {
	file := h.name + ".onnx"
	if len(h.parts) > 0 { // the first file names the others, so all keep their names
		file = h.name + "/" + path.Base(h.at)
	}
	return Entry{Name: h.name, File: file, SHA256: h.whole(), Preprocessing: h.preprocessing,
		Source: h.title + ", as ONNX from " + h.repo, Licence: h.licence, Recipe: "winnow models get " + h.name}
}

// whole returns the sha256 of the model with its data files (see [Entry.SHA256]).
func (h hubFile) whole() string {
	if len(h.parts) == 0 {
		return h.sum
	}
	list := h.sum + "\n" // the parts are in the order of their names
	for _, part := range h.parts {
		list += part.SHA256 + " " + part.Name + "\n"
	}
	return Sum([]byte(list))
}

func (h hubFile) published() Published {
	address := "https://huggingface.co/" + h.repo + "/resolve/main/"
	p := Published{Size: h.size, SHA256: h.sum, Places: []string{address + h.at}, Terms: h.terms}
	for _, part := range h.parts {
		part.Places = []string{address + path.Join(path.Dir(h.at), part.Name)}
		p.Parts = append(p.Parts, part)
	}
	return p
}
